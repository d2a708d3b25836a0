"""Checkpoints of a run: the state in `last/` from which training resumes, and the best weights in `best/`.

`last/` is switched from one state to the next by replacing one file, state.json, which names the others: at any
time, also after kill -9, it describes a complete state. Weights are safetensors, which cannot execute code. `best/` is
ready for prediction: weights, network.onnx and model.json.

Weights of an earlier run as initial weights: all that fit; of the last layer, the classes common to both runs. A
smaller UNet starts from the strongest channels of the earlier one: whole filters are removed, wherever their channels
are written or read. Strength: output magnitude (scale of the batch norm as in Liu et al. 2017, or L1 norm of the filter
as in Li et al. 2017 if no norm follows) times L1 norm of the weights that read the channel. A channel whose output is
zero, or that is not read, is removed first and changes no prediction.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import math
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import paddle
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load as decode, save as encode

from workbench.core.evaluation.intervals import difference_error, sum_by_part
from workbench.core.json_files import load_object
from workbench.core.messages import Message
from workbench.core.problems import BadSettings, CannotWrite, RunBroken
from workbench.core.project.project import Project
from workbench.core.project.storage import write_bytes, write_json
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.events import Checkpoint, Trouble
from workbench.core.runs.network_stats import is_smaller
from workbench.core.runs.run import Run, find_run
from workbench.core.runs.training_settings import TrainingSettings
from workbench.inference.io import file_access
from workbench.inference.io.file_access import patiently, read_regular, remove_file
from workbench.inference.io.json_io import parse_json
from workbench.inference.model_settings import MODEL_FILE, ModelSettings, save_settings
from workbench.training import onnx_graph
from workbench.training.evaluator import score_statistic
from workbench.training.optimizers import Arrays, load_weights, weights
from workbench.training.reporter import Reporter

WEIGHTS = "weights.safetensors"
_FORMAT = 1
_METADATA_KEY = "about"
# Writing a large network takes time; during a run it may take at most this share of it.
_MAX_TIME_SHARE = 0.05
# Settings that are determined together with the weights.
_CHOSEN_SETTINGS = ("thresholds", "min_area", "verdict_border", "anomaly_exponent", "temperature", "mirrored")


def save_last(run: Run, step: int, tensors: dict[str, Arrays], state: dict[str, Any]) -> None:
    """Save a state to `last/`. tensors: file stem ("weights", "optimiser", "average") to arrays by name.

    Raise CannotWrite; the previous state is then intact.
    """
    previous = _read_state(run.last / "state.json") if run.resumable else {}
    # Two alternating sets of file names: files of the previous state are not touched until the switch.
    turn = 0 if previous.get("turn", 1) == 1 else 1
    files = {}
    for stem, arrays in tensors.items():
        files[stem] = f"{stem}.{turn}.safetensors"
        write_bytes(run.last / files[stem], encode(arrays))
    write_json(run.last / "state.json", {"format": _FORMAT, "step": step, "turn": turn, "files": files, **state})
    for name in (Path(name).name for name in previous.get("files", {}).values() if isinstance(name, str)):
        if name.endswith(".safetensors") and name not in files.values():  # only our files in `last/`
            with contextlib.suppress(OSError):  # held open by a reader; the next save but one overwrites it
                remove_file(run.last / name, missing_ok=True)


def load_last(run: Run) -> tuple[dict[str, Arrays], dict[str, Any]]:
    """Return the tensors and the state of `last/`. Raises RunBroken."""
    state = _read_state(run.last / "state.json")
    try:
        names = {str(stem): Path(name).name for stem, name in state["files"].items()}
        return {stem: load_arrays(run.last / name) for stem, name in names.items()}, state
    except (KeyError, TypeError, AttributeError) as error:
        raise RunBroken(
            path=str(run.last / "state.json"), why=Message("checkpoint.file_damaged", name=error)
        ) from error


def save_arrays(path: Path, arrays: Arrays, metadata: dict[str, Any]) -> None:
    """Save arrays and the metadata `metadata` in one file, so that neither exists without the other."""
    write_bytes(path, encode(arrays, metadata={_METADATA_KEY: json.dumps(metadata)}))


def about_arrays(path: Path) -> dict[str, Any]:
    """Return the metadata given to `save_arrays`; empty if there is none or the file cannot be read."""
    try:
        with patiently(safe_open, path, "numpy") as file:
            metadata = parse_json((file.metadata() or {}).get(_METADATA_KEY, "{}"))
    except (OSError, SafetensorError, ValueError):
        return {}
    return metadata if isinstance(metadata, dict) else {}


def load_arrays(path: Path) -> Arrays:
    """Return arrays by name. Raises RunBroken."""
    try:
        return decode(read_regular(path))
    except (OSError, SafetensorError, ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        why = file_access.reason(error)
        raise RunBroken(path=str(path), why=why) from error


def load_best(run: Run, net: paddle.nn.Layer) -> None:
    """Load the best weights of a run into a network. Raises RunBroken."""
    path = run.best / WEIGHTS
    load_weights(net, load_arrays(path), str(path))


def settings_hash(settings: TrainingSettings) -> str:
    """Return a hash of the training settings without their reasons."""
    text = json.dumps(settings.model_dump(mode="json", exclude={"reasons"}), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _read_state(path: Path) -> dict[str, Any]:
    try:
        state = load_object(path, RunBroken, finite=False)
    except FileNotFoundError as error:
        raise RunBroken(path=str(path), why=Message("file.missing")) from error
    stored_format = state.get("format")
    if (
        not isinstance(stored_format, int)
        or isinstance(stored_format, bool)
        or not isinstance(state.get("files"), dict)
    ):
        raise RunBroken(path=str(path), why=Message("checkpoint.no_state"))
    if stored_format > _FORMAT:
        raise RunBroken(path=str(path), why=Message("file.newer"))
    return state


_MOST_PARTS = 500  # whose sums are stored in the state


def _in_few_parts(sums: dict[str, list[float]]) -> dict[str, list[float]]:
    """Return the sums of at most `_MOST_PARTS` groups of parts, which give nearly the same standard error."""
    if len(sums) <= _MOST_PARTS:
        return sums
    groups = [str(zlib.crc32(part.encode("utf-8", "surrogatepass")) % _MOST_PARTS) for part in sums]
    return dict(zip(dict.fromkeys(groups), sum_by_part(list(sums.values()), groups).tolist()))


class BestCheckpoint:
    """Manager of `best/`. score, step, settings: of the best weights; step is -1 before there are any.

    peak: sums by part of the evaluated weights with the highest metric, see `Evaluation.score_sums`.
    writing_seconds: time that the last export of the best weights took.
    """

    def __init__(
        self, run: Run, training_settings: TrainingSettings, settings: ModelSettings, report: Reporter
    ) -> None:
        self.run, self.training_settings, self.report = run, training_settings, report
        self.settings = settings
        self.score: float | None = None
        self.peak: dict[str, list[float]] = {}
        self.step = -1
        self.writing_seconds = 0.0
        self._usable_step = -1
        self._written = -1e9

    def state(self) -> dict[str, Any]:
        chosen = {name: getattr(self.settings, name) for name in _CHOSEN_SETTINGS}
        return {"score": self.score, "peak_sums": self.peak, "step": self.step, "chosen": chosen}

    def load(self, state: dict[str, Any]) -> None:
        """Restore from the state of `last/`. After a kill between two writes, the newer weights in `best/` are kept."""
        stored = about_arrays(self._weights)
        if stored.keys() == state.keys() and stored["step"] != state["step"]:
            state = stored
        self.score, self.step = state["score"], state["step"]
        peak = state.get("peak_sums", {})  # absent in a state of an earlier version
        self.peak = {str(part): [float(value) for value in sums] for part, sums in peak.items()}
        if type(self.step) is not int or type(self.score) not in (int, float, type(None)):
            raise TypeError("the best score or its step is no number")
        self.settings = dataclasses.replace(self.settings, **state["chosen"])
        self._usable_step = -1  # the files in best/ may belong to another step

    def is_best(self, score: float | None, sums: dict[str, list[float]], *, fitted: bool = False) -> bool:
        """Return True if the newest weights become the best ones. sums: by part, see `Evaluation.score_sums`.

        The newest weights were trained longest, so they are the best unless their metric is clearly below the highest:
        by more than one standard error of the difference on the same parts (one-standard-error rule, Breiman et al.
        1984). Among metrics that differ by chance, the maximum is decided by chance. Without parts that both were
        evaluated on, nothing is known of an earlier metric; with a single one, every difference counts.

        fitted: the best ones have a fitted last layer (`training_loop`), which adapts to the training images less than
        a training does. The newest ones must then be clearly better.
        """
        if score is None:
            return self.step < 0
        sums = _in_few_parts(sums)
        common = [part for part in sums if len(self.peak.get(part, ())) == len(sums[part])]
        difference, error = 0.0, 0.0
        if common:
            earlier, newest = (np.array([by_part[part] for part in common]) for by_part in (self.peak, sums))
            statistic = score_statistic(self.training_settings.model)
            difference = float(statistic(newest.sum(axis=0)) - statistic(earlier.sum(axis=0)))
            error = difference_error(earlier, newest, statistic) or 0.0
        if fitted and not difference > error:
            return False
        if not difference < 0:
            self.peak = sums
        return self.step < 0 or self.score is None or not difference < -error

    def store(self, net: paddle.nn.Layer, settings: ModelSettings, *, step: int, score: float | None) -> None:
        """Save these weights as the best ones. Export them at once if that does not take too much time now.

        Raise CannotWrite; the previous weights then remain the best.
        """
        previous = self.score, self.step, self.settings
        self.score, self.step, self.settings = score, step, self._with_input(settings)
        try:
            save_arrays(self._weights, weights(net), self.state())
        except CannotWrite:
            self.score, self.step, self.settings = previous
            raise
        if time.perf_counter() - self._written > self.writing_seconds / _MAX_TIME_SHARE:
            self._export(net)

    def make_usable(self, net: paddle.nn.Layer) -> bool:
        """Make `best/` able to predict with the best weights, which `net` holds. Return False if that is impossible."""
        if self._usable_step != self.step:
            self._export(net)
        return self._usable_step == self.step

    def choose_final(self, settings: ModelSettings, score: float | None) -> None:
        """Store the result of an evaluation on all validation images. Raises CannotWrite."""
        self.settings, self.score = self._with_input(settings), score
        if self._usable_step == self.step:
            path = self.run.best / MODEL_FILE
            try:
                save_settings(self.settings, path)
            except OSError as error:
                raise CannotWrite.of(path, error) from error

    def _with_input(self, settings: ModelSettings) -> ModelSettings:
        """Return settings with the input limits of this run: evaluations during the training do without them."""
        return dataclasses.replace(settings, input=settings.input or self.settings.input)

    @property
    def _weights(self) -> Path:
        return self.run.best / WEIGHTS

    def _export(self, net: paddle.nn.Layer) -> None:
        started = time.perf_counter()
        try:
            onnx_graph.write_onnx(net, self.training_settings, self.run.best / "network.onnx", maps=True)
            save_settings(self.settings, self.run.best / MODEL_FILE)
        except OSError as error:
            done = Message("training.weights_kept")
            self.report(Trouble(what=Message("training.network_unusable", why=error), done=done))
            return
        self._usable_step = self.step
        self._written = time.perf_counter()
        self.writing_seconds = self._written - started
        self.report(Checkpoint(step=self.step, which="best"))


_EPSILON = 1e-5  # of the batch norms
_HEAD = ("head.weight", "head.bias")


@dataclass(frozen=True)
class _Reader:
    """Convolution that reads channels along an axis of its weights; part 1: the second of two concatenated halves."""

    name: str
    axis: int = 1
    part: int = 0


@dataclass(frozen=True)
class _Group:
    """Channels that are kept or removed together: written along `axis` by a convolution, normalized, and read."""

    level: int
    writer: str
    norm: str  # "": no norm
    readers: tuple[_Reader, ...]
    axis: int = 0


def prune(arrays: Arrays, old_widths: Sequence[int], new_widths: Sequence[int], path: str = "") -> Arrays:
    """Convert the weights of a UNet of widths `old_widths` to widths `new_widths`, none of them greater.

    arrays: by the names of `UNet`; not modified. path: for the message. Raises RunBroken if the weights do not match
    `old_widths`.
    """
    selections: dict[tuple[str, int], list[tuple[int, np.ndarray]]] = defaultdict(list)
    try:
        for group in _groups(len(old_widths), stem="stem.convolve.weight" in arrays):
            count = old_widths[group.level]
            channels = _strongest(strength(arrays, group, count), new_widths[group.level])
            selections[group.writer, group.axis].append((0, channels))
            if group.norm:
                for part in ("weight", "bias", "_mean", "_variance"):
                    selections[f"{group.norm}.{part}", 0].append((0, channels))
            for reader in group.readers:
                selections[reader.name, reader.axis].append((reader.part, channels + reader.part * count))
        result = dict(arrays)
        for (name, axis), parts in selections.items():
            indices = np.concatenate([channels for _, channels in sorted(parts, key=lambda part: part[0])])
            result[name] = np.ascontiguousarray(np.take(result[name], indices, axis))
    except (KeyError, IndexError, ValueError) as error:
        raise RunBroken(path=path, why=Message("weights.wrong_widths", why=error)) from error
    return result


def strength(arrays: Arrays, group: _Group, count: int) -> np.ndarray:
    """Return the importance of the `count` channels of a group: float64 (count,), 0 for those without effect."""
    sizes = _sizes(arrays[group.writer], group.axis)
    if len(sizes) != count:
        raise ValueError(f"{group.writer} has {len(sizes)} channels and not {count}")
    output_strength = sizes
    if group.norm:
        scale, shift, mean, variance = (
            arrays[f"{group.norm}.{part}"].astype(np.float64) for part in ("weight", "bias", "_mean", "_variance")
        )
        constant_output = np.maximum(
            0, shift - scale * mean / np.sqrt(variance + _EPSILON)
        )  # output of an all-zero filter
        output_strength = np.where(sizes > 0, _after_relu(scale, shift), constant_output)
    input_strength = np.zeros(count)
    for reader in group.readers:
        input_strength += _sizes(arrays[reader.name], reader.axis)[reader.part * count : (reader.part + 1) * count]
    return output_strength * input_strength


def _groups(levels: int, *, stem: bool) -> Iterator[_Group]:
    if stem:
        yield _Group(0, "stem.convolve.weight", "stem.norm", (_Reader("down.0.first.weight"),))
    for level in range(levels):
        if level == levels - 1:
            readers = (_Reader("up.0.grow.weight", axis=0) if levels > 1 else _Reader("head.weight"),)
        else:
            joined = _Reader(f"up.{levels - 2 - level}.convolve.first.weight")
            readers = (_Reader(f"down.{level + 1}.first.weight"), joined)
        yield from _double(level, f"down.{level}", readers)
    for step, level in enumerate(range(levels - 2, -1, -1)):
        name = f"up.{step}"
        joined = _Reader(f"{name}.convolve.first.weight", part=1)
        yield _Group(level, f"{name}.grow.weight", "", (joined,), axis=1)
        above = _Reader(f"up.{step + 1}.grow.weight", axis=0) if level else _Reader("head.weight")
        yield from _double(level, f"{name}.convolve", (above,))


def _double(level: int, name: str, readers: tuple[_Reader, ...]) -> Iterator[_Group]:
    yield _Group(level, f"{name}.first.weight", f"{name}.first_norm", (_Reader(f"{name}.second.weight"),))
    yield _Group(level, f"{name}.second.weight", f"{name}.second_norm", readers)


def _sizes(kernel: np.ndarray, axis: int) -> np.ndarray:
    """Return the L1 norms of the slices of a kernel along an axis."""
    return np.abs(np.moveaxis(kernel, axis, 0).reshape(kernel.shape[axis], -1)).sum(axis=1, dtype=np.float64)


def _after_relu(scale: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Return the root mean square of ReLU(scale * z + shift) for standard normal z: the magnitude after a norm."""
    scale = np.abs(scale)
    ratio = np.clip(shift / np.maximum(scale, 1e-30), -30, 30)
    below = np.array([0.5 * math.erfc(-r / math.sqrt(2)) for r in ratio])
    density = np.exp(-(ratio**2) / 2) / math.sqrt(2 * math.pi)
    square = (scale**2 + shift**2) * below + scale * shift * density
    constant_output = np.maximum(shift, 0) ** 2
    return np.sqrt(np.maximum(0, np.where(scale > 1e-12, square, constant_output)))


def _strongest(strengths: np.ndarray, count: int) -> np.ndarray:
    """Return the indices of the `count` greatest values, in ascending order."""
    return np.sort(np.argsort(-strengths, kind="stable")[:count])


def start_from(
    project: Project, settings: TrainingSettings, dataset: Dataset, net: paddle.nn.Layer, report: Reporter
) -> None:
    """Load the best weights of the run named in the settings into `net`; of a wider UNet, its strongest channels.

    Outputs are matched by class id or name of the verdict: a class added since starts untrained. Raises UnknownRun,
    RunUnusable, RunBroken, BadSettings.
    """
    assert settings.start_from is not None
    name = settings.start_from
    earlier = find_run(project.root, name)
    if not (earlier.best / WEIGHTS).exists():
        earlier.need_usable()
    arrays = load_arrays(earlier.best / WEIGHTS)
    earlier_dataset = earlier.dataset()
    if earlier_dataset.model != dataset.model:
        raise BadSettings(
            key="start_from",
            value=name,
            why=Message("warm_start.other_model", before=earlier_dataset.model, now=dataset.model),
        )
    if is_smaller(settings, earlier.settings()):
        arrays = prune(arrays, earlier.settings().widths, settings.widths, str(earlier.best))
    initial = weights(net)
    if all(part in arrays and part in initial for part in _HEAD):
        _match_output_layers(arrays, initial, _output_layers(earlier_dataset), _output_layers(dataset))
    if not any(_fits(arrays, initial, part) for part in initial if part not in _HEAD):
        raise BadSettings(key="start_from", value=name, why=Message("warm_start.other_network"))
    fitted = load_weights(net, arrays, str(earlier.best), strict=False)
    if fitted < len(initial):
        what = Message("training.weights_fit", n=fitted, m=len(initial), run=earlier.name)
        report(Trouble(what=what, done=Message("training.others_untrained")))
    added = [str(output) for output in _output_layers(dataset) if output not in _output_layers(earlier_dataset)]
    if added:
        what = Message("warm_start.new_classes", run=earlier.name, n=len(added), m=len(_output_layers(dataset)))
        report(Trouble(what=what, done=Message("warm_start.last_layer")))


def _fits(arrays: Arrays, initial: Arrays, part: str) -> bool:
    return part in arrays and arrays[part].shape == initial[part].shape


def _output_layers(dataset: Dataset) -> list[object]:
    """Return the meaning of the network's outputs, in order: "" is the background."""
    return ["", *(info.id for info in dataset.classes)] if dataset.model == "unet" else list(dataset.verdicts)


def _match_output_layers(
    arrays: Arrays, initial: Arrays, earlier_outputs: Sequence[object], outputs: Sequence[object]
) -> None:
    """Replace the last layer in `arrays` by that of `initial`, with the trained weights of the outputs common to both.

    In a UNet outputs are rows (times the output pixels of each), in a ResNet columns.
    """
    for part in _HEAD:
        old, new = arrays[part], initial[part].copy()
        axis = old.ndim - 1 if old.ndim == 2 else 0
        old, new = np.moveaxis(old, axis, 0), np.moveaxis(new, axis, 0)
        rows = len(new) // len(outputs)
        if len(old) == rows * len(earlier_outputs) and old.shape[1:] == new.shape[1:]:
            for index, output in enumerate(outputs):
                if output in earlier_outputs:
                    earlier_index = earlier_outputs.index(output)
                    new[index * rows : (index + 1) * rows] = old[earlier_index * rows : (earlier_index + 1) * rows]
            arrays[part] = np.ascontiguousarray(np.moveaxis(new, 0, axis))
