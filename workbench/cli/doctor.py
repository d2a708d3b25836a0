"""Verb `doctor`: capabilities of this machine, missing parts, and the exact command that installs or repairs each."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import platformdirs
import psutil

from workbench.cli.pip_commands import paddle_command, pip_command, requirement
from workbench.cli.verb_runner import Console
from workbench.core.runs.child_process import run_captured
from workbench.core.runs.launch import is_frozen, worker_command, worker_environment
from workbench.inference.cpu_environment import cores, cpu_environment
from workbench.inference.engines.registry import KINDS, cannot_make

_GIB = 2**30
_SECONDS = 300.0  # time limit of the training program's own checks
_OPENCV = (
    "opencv-python",
    "opencv-python-headless",
    "opencv-contrib-python",
    "opencv-contrib-python-headless",
)
# Import name -> distribution, for the packages that every part needs.
_PACKAGES = {
    "numpy": "numpy",
    "PIL": "pillow",
    "tifffile": "tifffile",
    "pydantic": "pydantic",
    "filelock": "filelock",
    "platformdirs": "platformdirs",
    "safetensors": "safetensors",
    "psutil": "psutil",
    "tqdm": "tqdm",
    "pyqtgraph": "pyqtgraph",
    "pynvml": "nvidia-ml-py",
}
_QT_LIBRARIES = "libegl1 libgl1 libxkbcommon-x11-0 libxcb-cursor0 libdbus-1-3 libfontconfig1"


@dataclass(frozen=True)
class Check:
    """Result of one check. detail: the finding. fix: a command or advice; "" if none is needed."""

    name: str
    ok: bool
    detail: str
    fix: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="skip the tests of training and of the window")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    checks: list[Check] = []
    for check in _checks(quick=options.quick):
        checks.append(check)
        console.line(f"{'ok  ' if check.ok else 'FIX '} {check.name}: {check.detail}")
        if check.fix:
            console.line(f"       {check.fix}")
    return {
        "ok": all(check.ok for check in checks),
        "checks": [{"name": c.name, "ok": c.ok, "detail": c.detail, "fix": c.fix} for c in checks],
    }


def _checks(*, quick: bool) -> Iterator[Check]:
    yield _python()
    yield _machine()
    yield _disk()
    yield _writing()
    yield _packages()
    yield _opencv()
    yield _onnxruntime()
    yield _window(quick)
    gpus, gpu = _gpu()
    yield gpu
    yield from _paddle(gpus, quick)
    yield _formats()


def _python() -> Check:
    fits = (3, 10) <= sys.version_info[:2] < (3, 14)
    detail = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    return Check("python", fits, detail, "" if fits else "Install Python 3.12 and create a new environment with it.")


def _machine() -> Check:
    usable, memory = cores(), psutil.virtual_memory().total
    enough = memory >= 3.5 * _GIB
    detail = f"{usable} cores, {memory / _GIB:.0f} GiB of memory"
    special = cpu_environment()
    if special:
        variables = " ".join(f"{name}={value}" for name, value in special.items())
        detail += f"; training sets {variables} on this AMD CPU"
    fix = "" if enough else "Close other programs. Training needs about 4 GiB of memory."
    return Check("machine", enough, detail, fix)


def _disk() -> Check:
    free = shutil.disk_usage(Path.cwd()).free
    enough = free >= 2 * _GIB
    fix = "" if enough else f"Free at least 2 GiB on the disk of {Path.cwd()}."
    return Check("disk", enough, f"{free / _GIB:.0f} GiB free here", fix)


def _writing() -> Check:
    """Check write access to the current folder, where projects are made, and to the folder of preferences."""
    for folder in (Path.cwd(), Path(platformdirs.user_config_dir("defect-workbench"))):
        existing = next(path for path in (folder, *folder.parents) if path.exists())
        try:
            with tempfile.NamedTemporaryFile(dir=existing):
                pass
        except OSError as error:
            grant = f'icacls "{existing}" /grant "%USERNAME%":(OI)(CI)M'
            command = grant if os.name == "nt" else f'chmod u+rwx "{existing}"'
            return Check("write access", False, f"{existing} is not writable: {error.strerror}", command)
    return Check("write access", True, "the current folder and the folder of preferences are writable")


def _packages() -> Check:
    missing = [name for module, name in _PACKAGES.items() if find_spec(module) is None]
    if missing:
        return Check("packages", False, f"missing: {', '.join(missing)}", pip_command(*map(requirement, missing)))
    number = metadata.version("numpy")
    if int(number.partition(".")[0]) < 2:
        return Check("packages", False, f"numpy {number} is too old", pip_command(requirement("numpy")))
    return Check("packages", True, f"numpy {number} and all other packages are installed")


def _opencv() -> Check:
    builds = {name: _version(name) for name in _OPENCV if _version(name)}
    listed = ", ".join(f"{name} {number}" for name, number in builds.items()) or "none installed"
    python = f'"{sys.executable}" -m pip'
    required = requirement("opencv-python-headless")
    if len(builds) > 1:
        # The builds share the folder cv2: uninstalling one removes files of the other.
        fix = f'{python} uninstall -y {" ".join(builds)} && {python} install "{required}"'
        return Check("opencv", False, f"several builds overwrite each other: {listed}", fix)
    try:
        from workbench.inference.io.opencv import cv2

        cv2.connectedComponents  # noqa: B018
    except (ImportError, AttributeError) as error:
        fix = f'{python} install --force-reinstall --no-deps "{required}"'
        return Check("opencv", False, f"{listed}, cannot be imported: {error}", fix)
    return Check("opencv", True, listed if builds else f"cv2 {cv2.__version__}")


def _onnxruntime() -> Check:
    number = _version("onnxruntime") or _version("onnxruntime-gpu")
    command = pip_command(requirement("onnxruntime"))
    if number == "1.24.0":
        return Check("onnxruntime", False, "1.24.0 gives wrong results on some CPUs", command)
    try:
        import onnxruntime
    except ImportError as error:
        return Check("onnxruntime", False, f"cannot be imported: {error}", command)
    return Check("onnxruntime", True, onnxruntime.__version__)


def _window(quick: bool) -> Check:
    number = _version("PySide6-Essentials") or _version("PySide6")
    python = f'"{sys.executable}" -m pip'
    if number is None and not is_frozen():
        return Check("window", False, "PySide6 is not installed", pip_command("PySide6-Essentials>=6.8,!=6.12.0"))
    if number == "6.12.0" and sys.version_info < (3, 12):
        fix = f'{python} install "PySide6-Essentials>=6.8,!=6.12.0"'
        return Check("window", False, "PySide6 6.12.0 crashes on this version of Python", fix)
    if quick or is_frozen():
        return Check("window", True, f"PySide6 {number or 'built in'}")
    output = run_captured([sys.executable, "-c", "import PySide6.QtWidgets"], seconds=120)
    if output.returncode != 0:
        why = output.last_line or "it crashed"
        system = f"sudo apt-get install -y {_QT_LIBRARIES}" if sys.platform.startswith("linux") else ""
        fix = system if ".so" in why and system else f'{python} install --force-reinstall "PySide6-Essentials"'
        return Check("window", False, f"PySide6 {number} cannot be loaded: {why}", fix)
    display = sys.platform != "linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    note = "" if display else "; no display found, only the command line can be used"
    return Check("window", True, f"PySide6 {number}{note}")


def _gpu() -> tuple[list[str], Check]:
    """Return the names of the NVIDIA GPUs and the check. A missing GPU is no failure: the CPU works, but slower."""
    try:
        import pynvml

        pynvml.nvmlInit()
    except Exception as error:  # no driver or no library; the reason is shown
        return [], Check("graphics card", True, f"no NVIDIA GPU can be used ({error}); training runs on the CPU")
    try:
        gpus, texts = [], []
        for number in range(pynvml.nvmlDeviceGetCount()):
            handle = pynvml.nvmlDeviceGetHandleByIndex(number)
            name = pynvml.nvmlDeviceGetName(handle)
            name = name if isinstance(name, str) else name.decode()
            gpus.append(name)
            texts.append(f"{name}, {pynvml.nvmlDeviceGetMemoryInfo(handle).total / _GIB:.0f} GiB")
        driver = pynvml.nvmlSystemGetDriverVersion()
        driver = driver if isinstance(driver, str) else driver.decode()
    except Exception as error:
        return [], Check("graphics card", True, f"the NVIDIA driver does not respond ({error})")
    finally:
        pynvml.nvmlShutdown()
    return gpus, Check("graphics card", True, f"{'; '.join(texts)}; driver {driver}")


def _paddle(gpus: list[str], quick: bool) -> Iterator[Check]:
    plain, gpu = _version("paddlepaddle"), _version("paddlepaddle-gpu")
    uninstall = f'"{sys.executable}" -m pip uninstall -y paddlepaddle paddlepaddle-gpu'
    command = paddle_command(gpu=bool(gpus))
    if plain and gpu:
        detail = "paddlepaddle and paddlepaddle-gpu are both installed and overwrite each other"
        yield Check("paddle", False, detail, f"{uninstall} && {command}")
        return
    number = plain or gpu
    if number is None and find_spec("paddle") is None:
        yield Check("paddle", False, "PaddlePaddle is not installed, so training is not possible", command)
        return
    if number is not None and not number.startswith("3.3"):
        yield Check("paddle", False, f"PaddlePaddle {number} is not supported", f"{uninstall} && {command}")
        return
    if not quick:
        yield _training(command)
    if gpus and not gpu:
        detail = f"{gpus[0]} found, but this PaddlePaddle build supports only CPUs, so training is slow"
        yield Check("paddle for the card", False, detail, f"{uninstall} && {paddle_command(gpu=True)}")
    yield _onnx_export()


def _training(command: str) -> Check:
    """Run the training program's own checks in a separate process."""
    try:
        output = run_captured(worker_command("doctor"), seconds=_SECONDS, environment=worker_environment())
        if output.returncode is None:
            return Check("paddle", False, f"the training program did not end within {_SECONDS:.0f} s", command)
        report = json.loads(output.stdout.strip().splitlines()[-1])
    except (OSError, ValueError, IndexError) as error:
        return Check("paddle", False, f"the training program does not start: {error}", command)
    failed = [f"{check['name']}: {check['why']}" for check in report.get("checks", []) if not check["ok"]]
    if not report.get("ok"):
        return Check("paddle", False, "; ".join(failed) or report.get("why", "training fails"), command)
    working = ", ".join(check["name"] for check in report["checks"] if check["ok"])
    detail = f"{report.get('paddle')}, tested: {working}" + (f"; failed: {'; '.join(failed)}" if failed else "")
    return Check("paddle", not failed, detail, command if failed else "")


def _onnx_export() -> Check:
    number = _version("onnx")
    if number is None:
        detail = "onnx is not installed, so trained models cannot be used in the window"
        return Check("onnx", False, detail, pip_command("onnx>=1.16"))
    return Check("onnx", True, number)


def _formats() -> Check:
    """List the export formats available on this machine. A missing one is no failure: an export needs one format."""
    why = {name: cannot_make(name) for name in KINDS}
    missing = "".join(f"; {name}: {reason.rstrip('.')}" for name, reason in why.items() if reason)
    return Check("export formats", True, ", ".join(name for name in why if not why[name]) + missing)


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
