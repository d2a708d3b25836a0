"""Weights of an earlier run as initial weights: all that fit; of the last layer, the classes common to both runs.

A smaller UNet starts from the strongest channels of the earlier one: whole filters are removed, wherever their channels
are written or read. Strength: output magnitude (scale of the batch norm as in Liu et al. 2017, or L1 norm of the filter
as in Li et al. 2017 if no norm follows) times L1 norm of the weights that read the channel. A channel whose output is
zero, or that is not read, is removed first and changes no prediction.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import paddle

from workbench.core.messages import Message
from workbench.core.problems import BadSettings, RunBroken
from workbench.core.project.project import Project
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.events import Trouble
from workbench.core.runs.network_stats import is_smaller
from workbench.core.runs.run import find_run
from workbench.core.runs.training_settings import TrainingSettings
from workbench.training import checkpoint
from workbench.training.optimizers import Arrays, load_weights, weights
from workbench.training.reporter import Reporter

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
    if not (earlier.best / checkpoint.WEIGHTS).exists():
        earlier.need_usable()
    arrays = checkpoint.load_arrays(earlier.best / checkpoint.WEIGHTS)
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
