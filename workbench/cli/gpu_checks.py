"""Checks of `doctor` that concern the GPU, its driver, and PaddlePaddle; the rows and results of all checks.

Acceptance test of a GPU: `workbench doctor --gpu` runs each item of the training program in a child process
and writes a report to send back, as JSON and as Markdown.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from workbench import __version__
from workbench.cli.verb_runner import Console, WrongUse
from workbench.core import problems
from workbench.core.project.storage import write_json, write_text
from workbench.core.runs import gpu_facts, pip_commands
from workbench.core.runs.child_process import run_captured
from workbench.core.runs.gpu_facts import Gpu, GpuFacts, dotted, read_gpu_facts
from workbench.core.runs.launch import paddle_installed, worker_command, worker_environment

REPORT = "gpu-report"
_FORMAT = 1
# Title and time limit in seconds of each item of `training.acceptance`.
ITEMS = {
    "facts": ("GPU, driver, versions and computer", 120),
    "step": ("a step of both networks against the CPU", 180),
    "overflow": ("a step with infinite gradients changes nothing", 180),
    "resume": ("save, kill and resume", 300),
    "training": ("a short training in 32 and in 16 bits", 700),
    "export": ("an export against the training", 700),
}

Result = dict[str, Any]


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Run the items, print a line for each, and write the report. The exit status is 1 if an item failed."""
    if not paddle_installed():
        raise problems.PaddleMissing(command=pip_commands.paddle_command_here())
    device = (options.device or "gpu").strip().lower()
    device = f"gpu:{read_gpu_facts().main_number}" if device == "gpu" else device
    if device != "cpu" and not (device.startswith("gpu:") and device[4:].isdecimal()):
        raise WrongUse(f"argument --device is cpu, gpu or gpu:N, not {options.device}")
    names = _choose(options.only)
    out = (options.out or Path()).absolute()
    out.mkdir(parents=True, exist_ok=True)
    console.line(f"Acceptance test of {device}{_rehearsal(device)}, {len(names)} items")
    report: dict[str, Any] = {
        "format": _FORMAT,
        "workbench": __version__,
        "device": device,
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "items": [],
    }
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="workbench-gpu-", ignore_cleanup_errors=True) as folder:
        for result in run_items(names, device, Path(folder)):
            report["items"].append(result)
            console.line(f"{result['status']:4} {result['name']} ({result['seconds']:.0f} s): {result['detail']}")
            report["seconds"] = round(time.monotonic() - began, 1)
            counts = Counter(entry["status"] for entry in report["items"])
            report["counts"], report["ok"] = dict(counts), not counts["FAIL"]
            paths = _write(report, out)  # after every item: an interrupted test leaves its results
    listed = ", ".join(f"{count} {status}" for status, count in report["counts"].items())
    console.line(f"{listed}, {report['seconds'] / 60:.1f} minutes")
    console.line(f"Report: {paths[0]} and {paths[1]}")
    return {**report, "report": [str(path) for path in paths], "exit": 0 if report["ok"] else 1}


def run_items(names: Collection[str], device: str, folder: Path) -> Iterator[Result]:
    """Yield the result of each item. Items after one that finds the device unusable are skipped."""
    unusable = False
    for name in names:
        if unusable:
            skipped = {"status": "SKIP", "detail": f"{device} cannot be used", "values": {}}
            yield {"name": name, "title": ITEMS[name][0], "seconds": 0.0, **skipped}
            continue
        result = run_one(name, device, folder)
        unusable = bool(result["values"].get("unusable"))
        yield result


def run_one(name: str, device: str, folder: Path) -> Result:
    """Run one item in a child process. A crash or the time limit is a FAIL. folder: scratch folder of all items."""
    title, limit = ITEMS[name]
    began = time.monotonic()
    command = worker_command("accept", name, "--device", device, "--folder", str(folder))
    output = run_captured(command, seconds=limit, environment=worker_environment(device))
    result = {"name": name, "title": title, "seconds": round(time.monotonic() - began, 1), "values": {}}
    try:
        outcome = json.loads(output.stdout.strip().splitlines()[-1])
        result |= {key: outcome[key] for key in ("status", "detail", "values")}
    except (IndexError, ValueError, KeyError, TypeError):
        why = f"exit code {output.returncode}: {output.last_line or 'no output'}"
        result |= {"status": "FAIL", "detail": why if output.returncode is not None else f"no end within {limit:.0f} s"}
    if result["status"] == "FAIL":
        result["log"] = output.stderr[-4000:]
    return result


def _choose(only: str | None) -> list[str]:
    names = [name.strip() for name in (only or "").split(",") if name.strip()]
    if unknown := [name for name in names if name not in ITEMS]:
        raise WrongUse(f"argument --only: unknown {', '.join(unknown)}; known: {', '.join(ITEMS)}")
    return [name for name in ITEMS if not names or name in names]


def _rehearsal(device: str) -> str:
    return " (rehearsal without a GPU, in 32 bits)" if device == "cpu" else ""


def _write(report: dict[str, Any], out: Path) -> tuple[Path, Path]:
    paths = out / f"{REPORT}.json", out / f"{REPORT}.md"
    write_json(paths[0], report)
    write_text(paths[1], markdown(report))
    return paths


def markdown(report: dict[str, Any]) -> str:
    """Return the report as Markdown: facts, items, the table of speeds, and the output of failed items."""
    items = report["items"]
    facts = next((item["values"] for item in items if item["name"] == "facts"), {})
    lines = [
        f"# Acceptance test of {report['device']}",
        "",
        f"Defect Workbench {report['workbench']}, {report['started']}, {report.get('seconds', 0) / 60:.1f} minutes"
        f"{_rehearsal(report['device'])}.",
        *_table(" | ", [[name, text] for name, text in facts.items() if isinstance(text, str)]),
        *_table(
            "result | item | s | finding",
            [[i["status"], i["title"], f"{i['seconds']:.0f}", i["detail"]] for i in items],
        ),
        *_table(
            "number type | patches/s | utilization | steps",
            [
                [kind, f"{row['images_per_second']:.1f}", row["utilization"], str(row["steps"])]
                for item in items
                for kind, row in item["values"].get("rows", {}).items()
            ],
        ),
    ]
    for item in items:
        if item.get("log"):
            lines += ["", f"## {item['name']}", "", "```", item["log"].strip(), "```"]
    return "\n".join(lines) + "\n"


def _table(head: str, rows: list[list[str]]) -> list[str]:
    """Return the lines of a table after an empty line, none without rows. head: titles of the columns."""
    if not rows:
        return []
    cells = [[cell.replace("|", "/").replace("\n", " ") for cell in row] for row in rows]
    return ["", f"| {head} |", "|---" * len(rows[0]) + "|", *(f"| {' | '.join(row)} |" for row in cells)]


_SECONDS = 300.0  # time limit of the training program's own checks
_DRIVERS = "https://www.nvidia.com/drivers"
_LOG_LINE = re.compile(r"^[WEF]\d{4} [^\]]*\] *(.+)$")  # warnings and errors of Paddle's libraries


class CheckResult(NamedTuple):
    """Result of a check. fix: a command or advice; "" if none is needed."""

    detail: str
    fix: str = ""

    @property
    def ok(self) -> bool:
        return not self.fix


@dataclass
class Machine:
    """Computer that is checked. quick: without the tests of training and of the window.

    report: of the training program, empty until it has run. paddle: whether PaddlePaddle is installed as required.
    """

    quick: bool
    report: dict[str, Any] = field(default_factory=dict)
    paddle: bool = False

    @cached_property
    def facts(self) -> GpuFacts:
        return gpu_facts.read_gpu_facts()


class Check(NamedTuple):
    """Row of `doctor`. run: returns the result, None if the check does not concern this computer."""

    name: str
    run: Callable[[Machine], CheckResult | None]


def results(checks: Iterable[Check], machine: Machine) -> Iterator[tuple[str, CheckResult]]:
    """Run checks in their order and yield the name and the result of each that concerns the computer."""
    for check in checks:
        result = check.run(machine)
        if result is not None:
            yield check.name, result


# --- the GPU and its driver -------------------------------------------------------------------------------------------


def graphics_card(machine: Machine) -> CheckResult:
    """Describe the GPUs. A missing GPU is no failure: the CPU works, but slower."""
    facts = machine.facts
    if not facts.gpus:
        detail = f"no NVIDIA GPU can be used: {facts.reason}; training runs on the CPU"
        if facts.broken:
            again = f"Restart the computer. If that does not help, install the NVIDIA driver again: {_DRIVERS}"
            return CheckResult(detail, again)
        install = f". If this computer has an NVIDIA GPU, install its driver: {_DRIVERS}" if not facts.driver else ""
        return CheckResult(detail + install)
    newest = f" (up to CUDA {dotted(facts.cuda)})" if facts.cuda else ""
    detail = "; ".join(_gpu_text(gpu) for gpu in facts.gpus) + f"; driver {facts.driver}{newest}"
    if facts.hidden:
        detail += f'; hidden by CUDA_VISIBLE_DEVICES="{facts.visible}", so training runs on the CPU'
        command = pip_commands.remove_variable("CUDA_VISIBLE_DEVICES")
        fix = f"Remove the environment variable CUDA_VISIBLE_DEVICES to use the GPU, in this shell by: {command}"
        return CheckResult(detail, fix)
    empty = [gpu for gpu in facts.usable if gpu.mig_enabled and not gpu.mig]
    if empty and len(empty) == len(facts.usable):
        create = f"sudo nvidia-smi mig -i {empty[0].index} -cgi 0 -C"
        return CheckResult(detail, f"Create an instance: {create}, or end MIG: sudo nvidia-smi -mig 0")
    if len(facts.usable) < len(facts.gpus):
        detail += f"; CUDA_VISIBLE_DEVICES={facts.visible} leaves {', '.join(gpu.name for gpu in facts.usable)}"
    if len(facts.usable) > 1:
        detail += f"; gpu:{facts.main_number} trains by default; {_several_gpus(facts)}"
    if facts.lost:
        detail += "".join(f"; GPU {number} does not respond ({why})" for number, why in facts.lost)
        fix = "Restart the computer. If the GPU is missing again, check its power cables and update the NVIDIA driver."
        return CheckResult(detail, fix)
    return CheckResult(detail)


def _gpu_text(gpu: Gpu) -> str:
    text = f"{gpu}, {_precision_text(gpu)}"
    if gpu.mig_enabled and not gpu.mig:
        return f"{text}, MIG is enabled without instances, so CUDA programs cannot use this GPU"
    if gpu.mig:
        instances = "1 instance" if len(gpu.mig) == 1 else f"{len(gpu.mig)} instances"
        return f"{text}, MIG with {instances} (a program uses one: CUDA_VISIBLE_DEVICES={gpu.mig[0]})"
    return text


def _precision_text(gpu: Gpu) -> str:
    if not gpu.tensor_cores:
        return "trains in fp32 (no tensor cores for 16-bit numbers)"
    return f"trains in {gpu.precisions[0]}" + (", bf16 on request" if "bf16" in gpu.precisions else "")


def _several_gpus(facts: GpuFacts) -> str:
    if facts.system == "Windows":
        return "on Windows one GPU trains at a time, because PaddlePaddle has no NCCL there"
    numbers = ",".join(str(number) for number in range(len(facts.usable)))
    return f"--device gpu:{numbers} trains on all of them (not yet tested on real GPUs)"


# --- PaddlePaddle -----------------------------------------------------------------------------------------------------


def paddle(machine: Machine) -> CheckResult | None:
    """Check the version of PaddlePaddle and, unless quick, run the training program's own checks."""
    version = pip_commands.installed_version
    plain, gpu = version("paddlepaddle"), version("paddlepaddle-gpu")
    command = pip_commands.paddle_command_here(machine.facts)
    if plain and gpu:
        detail = "paddlepaddle and paddlepaddle-gpu are both installed and overwrite each other"
        return CheckResult(detail, pip_commands.replace_command(command))
    number = plain or gpu
    if number is None and find_spec("paddle") is None:
        detail = "PaddlePaddle is not installed, so training is not possible"
        return CheckResult(detail, _with_driver_update(machine.facts, command))
    if number is not None and not number.startswith("3.3"):
        return CheckResult(f"PaddlePaddle {number} is not supported", pip_commands.replace_command(command))
    machine.paddle = True
    if machine.quick:
        return None
    result, machine.report = training(pip_commands.replace_command(command))
    return result


def paddle_for_gpu(machine: Machine) -> CheckResult | None:
    """Check that the installed build of PaddlePaddle fits GPU and driver."""
    facts, report = machine.facts, machine.report
    gpu, installed = facts.main, pip_commands.installed_build()
    if not machine.paddle or not facts.usable or gpu is None:
        return None
    choice = pip_commands.choose_build(gpu, facts.driver, facts.system)
    if choice.build is None:
        detail = f"no build of PaddlePaddle 3.3 supports {gpu.name} (compute capability {dotted(gpu.capability)})"
        return CheckResult(f"{detail}; training runs on the CPU")
    fix = _with_driver_update(facts, pip_commands.replace_paddle_command(choice.build))
    if not pip_commands.installed_version("paddlepaddle-gpu"):
        return CheckResult(
            f"{gpu.name} found, but this PaddlePaddle build supports only CPUs, so training is slow", fix
        )
    why = pip_commands.mismatch(installed, facts) if installed is not None else ""
    if why:
        return CheckResult(f"{why}; training runs on the CPU", fix)
    if report.get("gpu_error"):
        return CheckResult(f"PaddlePaddle cannot use {gpu.name}: {report['gpu_error']}", fix)
    if report and not report.get("cards"):
        return CheckResult(f"PaddlePaddle does not see {gpu.name}, which the driver reports", fix)
    cuda = dotted(installed.cuda) if installed is not None and installed.cuda else "unknown"
    detail = f"PaddlePaddle for CUDA {cuda} fits {gpu.name}"
    compiled, loaded = (installed.cudnn if installed else ""), report.get("cudnn_loaded")
    if compiled or loaded:
        detail += f"; cuDNN {compiled or 'unknown'}" + (f", loaded {loaded}" if loaded else "")
    return CheckResult(detail + "".join(f"; warning: {line}" for line in report.get("warnings", [])))


def _with_driver_update(facts: GpuFacts, command: str) -> str:
    choice = pip_commands.choose_for_machine(facts)
    if not choice.update or choice.build is None:
        return command
    install = command if choice.build.index in command else pip_commands.paddle_command(choice.build)
    return f"Update the NVIDIA driver {facts.driver} to {choice.update} or newer ({_DRIVERS}), then run: {install}"


def training(command: str) -> tuple[CheckResult, dict[str, Any]]:
    """Run the training program's own checks in a separate process. Return the result and the program's report."""
    try:
        output = run_captured(worker_command("doctor"), seconds=_SECONDS, environment=worker_environment())
        if output.returncode is None:
            return CheckResult(f"the training program did not end within {_SECONDS:.0f} s", command), {}
        report = json.loads(output.stdout.strip().splitlines()[-1])
    except IndexError:
        why = output.last_line or f"exit code {output.returncode}"
        return CheckResult(f"the training program does not start: {why}", command), {}
    except (OSError, ValueError) as error:
        return CheckResult(f"the training program does not start: {error}", command), {}
    report["warnings"] = native_warnings(output.stderr)
    failed = "; ".join(f"{check['name']}: {check['why']}" for check in report.get("checks", []) if not check["ok"])
    if not report.get("ok"):
        return CheckResult(failed or report.get("why", "training fails"), command), report
    working = ", ".join(check["name"] for check in report["checks"] if check["ok"])
    detail = f"{report.get('paddle')}, tested: {working}" + (f"; failed: {failed}" if failed else "")
    return CheckResult(detail, command if failed else ""), report


def native_warnings(stderr: str) -> list[str]:
    """Return the warnings that Paddle's libraries logged, each once, without time and source line."""
    found = (_LOG_LINE.match(line.strip()) for line in stderr.splitlines())
    return list(dict.fromkeys(match.group(1).strip() for match in found if match))


def onnx_export(machine: Machine) -> CheckResult | None:
    if not machine.paddle:
        return None
    number = pip_commands.installed_version("onnx")
    if number is None:
        return CheckResult(
            "onnx is not installed, so trained models cannot be used in the window",
            pip_commands.pip_command(pip_commands.requirement("onnx")),
        )
    return CheckResult(number)


CHECKS = (
    Check("graphics card", graphics_card),
    Check("paddle", paddle),
    Check("paddle for the card", paddle_for_gpu),
    Check("onnx", onnx_export),
)
