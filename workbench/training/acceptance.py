"""Acceptance test of a GPU: the items of `workbench doctor --gpu`. Each runs in a process of its own, because all calls
fail after a failure of CUDA.

On a CPU the same items are rehearsed in 32 bits, on fewer images.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from workbench.core.project.project import Project
from workbench.core.runs.child_process import ChildOutput, run_captured
from workbench.core.runs.events import Event, Failed, Finished, decode
from workbench.core.runs.gpu_facts import GIB, dotted, read_gpu_facts
from workbench.core.runs.launch import worker_command, worker_environment
from workbench.core.runs.pip_commands import installed_build, mismatch
from workbench.core.runs.run import Run, create_run
from workbench.core.runs.training_settings import request
from workbench.core.sample_project import make_sample
from workbench.training import device as devices, optimizers
from workbench.training.device_check import examine
from workbench.training.device_settings import computes_alike
from workbench.training.learner import Learner
from workbench.training.optimizers import Arrays, load_weights, weights
from workbench.training.reporter import Clock, ControlChannel, Reporter
from workbench.training.training_context import TrainingContext, prepare

# Small networks with the optimizers that the planner selects; an item trains them for some steps.
SMALL: dict[str, dict[str, Any]] = {
    "unet": {"widths": [16, 32], "stem": 2, "patch": 64, "batch": 4, "workers": 1, "optimizer": "muon"},
    "resnet": {"width": 0.25, "input_size": 64, "batch": 4, "workers": 1, "optimizer": "adamw"},
}
# Largest difference from the CPU, relative to it: of the loss, of the norm of the gradients, and of the change of all
# weights, in which AdamW turns the sign of a gradient near zero into a step of full length.
_LIMITS = {"loss": 1e-4, "gradients": 1e-3, "update": 0.05}
_RESUME_LIMITS = {"fp32": 2e-3, "fp16": 1e-2}  # of the loss, relative; a CPU gives equal losses
_BEFORE, _AFTER = 4, 3  # steps before and after the kill
_HUGE_SCALE = 2.0**60  # every scaled gradient is then beyond the range of fp16
_MINUTES = 0.5  # of a training on a GPU
_TRAINED = "trained.txt"  # file with the folder of the run that the item "training" has trained

Values = dict[str, Any]


class AcceptanceFailure(Exception):
    """A device that does not compute as it should. values: JSON-ready findings."""

    def __init__(self, why: str, values: Values | None = None) -> None:
        super().__init__(why)
        self.values = values or {}


def run_item(name: str, device: str, folder: Path, part: str = "") -> Values:
    """Run an item and return its outcome, JSON-ready: status PASS or FAIL, detail, values.

    name: one of `ITEMS`.
    device: "cpu", "gpu:0" and so on.
    folder: scratch folder of all items.
    part: of the item "resume", for its further processes.
    """
    try:
        detail, values = ITEMS[name](device, folder, part) if part else ITEMS[name](device, folder)
        status = "PASS"
    except Exception as error:  # a fault of one item must not end the others
        traceback.print_exc()
        own = isinstance(error, AcceptanceFailure)
        status, values = "FAIL", error.values if own else {}
        detail = str(error) if own else f"{type(error).__name__}: {devices.first_line(error)}"
    return {"status": status, "detail": detail, "values": values}


def number_types(device: str) -> tuple[list[str], str]:
    """Return the number types in which a device trains, and the reason why 16 bits are not among them, or ""."""
    choice = optimizers.choose_precision("auto", devices.choose(device))
    return (["fp32"], str(choice.reason)) if choice.name == "fp32" else (["fp32", choice.name], "")


def check_facts(device: str, folder: Path) -> tuple[str, Values]:
    """Collect versions and hardware. If the device cannot be used, `values["unusable"]` of the failure is True."""
    facts, installed, training = read_gpu_facts(), installed_build(), examine()
    libraries = ("cuda", "cudnn", "cudnn_loaded")
    versions = [f"{name} {training[name]}" for name in libraries if training.get(name)]
    values: Values = {
        "GPU": "; ".join(map(str, facts.gpus)) or facts.reason,
        "driver": f"{facts.driver} (CUDA {dotted(facts.cuda)})" if facts.cuda else facts.driver or "none",
        "PaddlePaddle": ", ".join([str(training["paddle"]), *versions, *training.get("architectures", [])]),
        "computer": f"{platform.system()} {platform.release()}, {devices.processor_name()}, {os.cpu_count()} cores, "
        f"{psutil.virtual_memory().total / GIB:.1f} GiB",
        "training": training,
    }
    try:
        chosen = devices.choose(device)
    except Exception as error:  # no GPU, an old driver, or a build for other GPUs
        why = mismatch(installed, facts) if installed is not None else ""
        raise AcceptanceFailure(why or str(error), {**values, "unusable": True}) from error
    detail = f"{chosen.title}, PaddlePaddle {training['paddle']}, driver {facts.driver or 'none'}"
    if failed := [f"{check['name']}: {check['why']}" for check in training["checks"] if not check["ok"]]:
        raise AcceptanceFailure("; ".join([detail, *failed]), values)
    return detail, values


def check_step(device: str, folder: Path) -> tuple[str, Values]:
    """Compare a step of both networks with the CPU, and their gradients in 16 bits with those in 32."""
    values: Values = {}
    kinds, left_out = number_types(device)
    for model in SMALL:
        expected, start, batch = first_step(folder, model, "cpu")
        found, *_ = first_step(folder, model, device, start)
        values[model] = {name: distance(found[name], expected[name]) for name in _LIMITS}
        for kind in kinds[1:]:
            learner = prepare_small(folder, model, device, precision=kind).learner
            values[model][kind] = float(not computes_alike(learner, *batch))
    largest = {name: max(row.get(name, 0.0) for row in values.values()) for name in (*_LIMITS, *kinds[1:])}
    listed = ", ".join(f"{name} {value:.1e}" for name, value in largest.items())
    detail = f"differences from the CPU: {listed}{_left_out(left_out)}"
    if any(not value <= _LIMITS.get(name, 0.0) for name, value in largest.items()):
        raise AcceptanceFailure(f"{detail} (limits {_LIMITS})", values)
    return detail, values


def first_step(
    folder: Path, model: str, device: str, start: Arrays | None = None
) -> tuple[Arrays, Arrays, tuple[np.ndarray, np.ndarray]]:
    """Make one step in 32 bits. Return its loss, norm and update, the weights before it, and its batch.

    start: weights before it, by default those of an untrained network.
    """
    context = prepare_small(folder, model, device, precision="fp32")
    net = context.learner.net
    start = weights(net) if start is None else start
    load_weights(net, start, "initial weights")
    images, truth = (np.asarray(array) for array in context.loader.take(0))
    result = context.learner.step(images, truth, 1e-3)
    after = weights(net)
    change = np.concatenate([(after[name] - start[name]).ravel() for name in _trained(start)])
    values = {"loss": np.array([result.loss]), "gradients": np.array([result.grad_norm]), "update": change}
    return values, start, (images, truth)


def check_overflow(device: str, folder: Path) -> tuple[str, Values]:
    """Make steps, then one whose gradients are infinite: nothing changes, except that the loss scale is halved."""
    failures, counts = [], {}
    kinds, left_out = number_types(device)
    for model in SMALL:
        for kind in kinds:
            context = prepare_small(folder, model, device, precision=kind)
            take_steps(context, 3)
            before = state_arrays(context.learner)
            overflow(context)
            after = state_arrays(context.learner)
            context.loader.close()
            changed = changed_names(before, after)
            failures += [f"{model} in {kind} changed {name}" for name in changed[:3]]
            if kind == "fp16" and context.learner.precision.loss_scale != _HUGE_SCALE / 2:
                failures.append(f"{model}: the loss scale is {context.learner.precision.loss_scale}")
            counts[f"{model} {kind}"] = len(before)
    if failures:
        raise AcceptanceFailure("; ".join(failures), {"failures": failures})
    listed = ", ".join(f"{count} arrays of the {name}" for name, count in counts.items())
    return f"{listed} are bitwise unchanged{_left_out(left_out)}", counts


def overflow(context: TrainingContext) -> None:
    """Make a step with infinite gradients: by the loss scale in fp16, otherwise by an image that is not finite."""
    images, truth = (np.asarray(array) for array in context.loader.take(99))
    number_type = context.learner.precision
    if number_type.scaler is not None:
        number_type.load({**number_type.state(), "scale": [_HUGE_SCALE]})
    else:
        images = np.full_like(images, np.inf)
    result = context.learner.step(images, truth, 1e-3)
    if not result.skipped and not result.diverged:
        raise AcceptanceFailure("the step was neither skipped nor reported as diverged")


def state_arrays(learner: Learner) -> Arrays:
    """Return weights, averages and state of the optimizer, without the statistics that each forward pass moves."""
    state = learner.state_arrays()
    state["weights"] = {name: state["weights"][name] for name in _trained(state["weights"])}
    return {f"{stem}/{name}": array for stem, arrays in state.items() for name, array in arrays.items()}


def changed_names(before: Arrays, after: Arrays) -> list[str]:
    """Return the names of arrays that are missing, new, or not bitwise equal."""
    one, other = ({name: array.tobytes() for name, array in arrays.items()} for arrays in (before, after))
    return [name for name in one | other if one.get(name) != other.get(name)]


def check_resume(device: str, folder: Path, part: str = "") -> tuple[str, Values]:
    """Kill a training after a save, resume it, and compare the losses of the steps that were lost."""
    kind = number_types(device)[0][-1]
    path = folder / f"losses-{part}.json"
    if part == "killed":
        context = prepare_small(folder, "unet", device, precision=kind, epochs=100)
        take_steps(context, _BEFORE)
        context.save_last()
        path.write_text(json.dumps({"run": str(context.run.root), "losses": take_steps(context, _AFTER)}), "utf-8")
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
    if part == "resumed":
        killed = json.loads((folder / "losses-killed.json").read_text("utf-8"))
        context = prepare_run(Run(Path(killed["run"])), resume=True)
        step = context.state.step
        path.write_text(json.dumps({"step": step, "losses": take_steps(context, _AFTER)}), "utf-8")
    if part:
        return "", {}
    values: Values = {}
    for name in ("killed", "resumed"):
        arguments = ("--device", device, "--folder", str(folder), "--part", name)
        output = _run(worker_command("accept", "resume", *arguments), device, seconds=120.0)
        written = folder / f"losses-{name}.json"
        if not written.exists():
            raise AcceptanceFailure(f"the training to be {name} ended early: {output.last_line}")
        values[name] = json.loads(written.read_text("utf-8"))
    pairs = list(zip(values["killed"]["losses"], values["resumed"]["losses"]))
    largest = max(abs(a - b) / max(1e-9, abs(a)) for a, b in pairs)
    limit = _RESUME_LIMITS[kind] if device != "cpu" else 0.0
    detail = f"{kind}: {_AFTER} losses after the resume differ by {largest:.1e} at most (limit {limit:g})"
    if values["resumed"]["step"] != _BEFORE or not largest <= limit:
        raise AcceptanceFailure(detail, values)
    return detail, values


def check_training(device: str, folder: Path) -> tuple[str, Values]:
    """Train a planned UNet for a short time in each number type. values["rows"]: speed and utilization of each."""
    kinds, left_out = number_types(device)
    rows = {kind: train(device, folder, kind) for kind in kinds}
    values = {"rows": rows, "left_out": left_out}
    detail = "; ".join(
        f"{kind} {row['images_per_second']:.0f} patches/s, utilization {row['utilization']}, {row['steps']} steps"
        for kind, row in rows.items()
    )
    if wrong := [kind for kind, row in rows.items() if not row["usable"]]:
        raise AcceptanceFailure(f"no usable model in {', '.join(wrong)}; {detail}", values)
    (folder / _TRAINED).write_text(rows[kinds[-1]]["run"], "utf-8")
    return f"{detail}{_left_out(left_out)}", values


def train(device: str, folder: Path, kind: str) -> Values:
    """Train a run on the sample project, and return what is reported of it. Raises AcceptanceFailure."""
    length = {"epochs": 2} if device == "cpu" else {"minutes": _MINUTES}
    with open_sample(folder, small=device == "cpu") as project:
        run = create_run(project, request("unet", device=device, precision=kind, **length))
    samples: list[float] = []
    command = worker_command("train", str(run.root), "--keep-running")
    output = _run(command, device, seconds=300.0, tick=lambda: samples.append(utilization(device)))
    result = _result(list(run.events()), output)
    names = ("steps", "images_per_second", "precision", "usable")
    busy = [sample for sample in samples[len(samples) // 4 :] if sample >= 0]  # without the start of the program
    known = f"{np.mean(busy):.0f} %" if busy else "unknown"
    return {"run": str(run.root), "utilization": known, **{name: result[name] for name in names}}


def check_export(device: str, folder: Path) -> tuple[str, Values]:
    """Export a model trained on the device. values["parity"]: comparison of each format with the training."""
    trained = folder / _TRAINED
    run = trained.read_text("utf-8") if trained.exists() else train(device, folder, "auto")["run"]
    out = folder / "export"
    options = ("--out", str(out), "--formats", "onnx,paddle", "--seconds", "0", "--keep-running")
    output = _run(worker_command("export", run, *options), device, seconds=300.0)
    events = [event for line in output.stdout.splitlines() if (event := decode(line)) is not None]
    parity = _result(events, output)["parity"]
    listed = ", ".join(f"{name} {entry['max_abs']:.1e}" for name, entry in parity.items())
    if not parity or not all(entry["passed"] for entry in parity.values()):
        raise AcceptanceFailure(f"an exported network differs from the trained one: {listed}", {"parity": parity})
    return f"largest difference of a probability: {listed}", {"parity": parity}


ITEMS: dict[str, Callable[..., tuple[str, Values]]] = {
    "facts": check_facts,
    "step": check_step,
    "overflow": check_overflow,
    "resume": check_resume,
    "training": check_training,
    "export": check_export,
}


# --- runs ---------------------------------------------------------------------------------------------


def open_sample(folder: Path, *, small: bool = True) -> Project:
    """Open the sample project in the scratch folder, and create it first if there is none."""
    root = folder / ("small-sample" if small else "sample")
    return Project.open(root) if root.exists() else make_sample(root, small=small)


def prepare_small(folder: Path, model: str, device: str, **settings: Any) -> TrainingContext:
    """Prepare the training of a small network on the small sample project, which no event reports."""
    with open_sample(folder) as project:
        run = create_run(project, request(model, **{"epochs": 1, **SMALL[model], "device": device, **settings}))
    return prepare_run(run)


def prepare_run(run: Run, *, resume: bool = False) -> TrainingContext:
    """Prepare the components of a training in this process, as the training program does, without reporting events."""
    clock = Clock()
    context = prepare(run, Reporter(None, clock), ControlChannel(None), clock, resume=resume)
    if resume:
        context.resume()
    return context


def take_steps(context: TrainingContext, count: int) -> list[float]:
    """Make steps of a run and return their losses. A skipped step is counted, too."""
    losses = []
    for _ in range(count):
        result = context.learner.step(*context.loader.take(context.batch_number), context.settings.rate)
        context.state.step += 1
        losses.append(result.loss)
    return losses


def utilization(device: str) -> float:
    """Return the present utilization of a device in percent, -1 if it is not reported."""
    if device == "cpu":
        return psutil.cpu_percent()
    try:
        import pynvml

        pynvml.nvmlInit()
        number = devices.gpu_uuid(int(device.partition(":")[2]))
        return float(pynvml.nvmlDeviceGetUtilizationRates(pynvml.nvmlDeviceGetHandleByUUID(number)).gpu)
    except Exception:  # MIG instances and some drivers do not report it
        return -1.0


def distance(found: np.ndarray, expected: np.ndarray) -> float:
    """Return the relative Euclidean distance; infinite if a value is not finite."""
    if not np.isfinite(found).all():
        return float("inf")
    return float(np.linalg.norm(found - expected) / max(1e-12, np.linalg.norm(expected)))


def _left_out(reason: str) -> str:
    return f"; 16 bits left out: {reason}" if reason else ""


def _trained(arrays: Arrays) -> list[str]:
    return [name for name in arrays if not name.endswith(("_mean", "_variance"))]


def _run(command: list[str], device: str, *, seconds: float, tick: Callable[[], Any] = lambda: None) -> ChildOutput:
    return run_captured(command, seconds=seconds, environment=worker_environment(device), tick=tick)


def _result(events: list[Event], output: ChildOutput) -> Values:
    """Return the result of a program that has finished. Raises AcceptanceFailure."""
    last = events[-1] if events else None
    if not isinstance(last, Finished):
        why = last.why if isinstance(last, Failed) else output.last_line or "no end within the time limit"
        raise AcceptanceFailure(str(why))
    return last.result
