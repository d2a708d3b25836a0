"""Verb `doctor`: capabilities of this machine, missing parts, and the exact command that installs or repairs each."""

from __future__ import annotations

import argparse
import getpass
import locale
import os
import platform
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import platformdirs
import psutil

from workbench.cli import gpu_checks
from workbench.cli.gpu_checks import Check, CheckResult, Machine
from workbench.cli.verb_runner import Console, WrongUse
from workbench.core import lite0, plugins, resources
from workbench.core.runs import pip_commands
from workbench.core.runs.child_process import run_captured
from workbench.core.runs.export_options import load_layouts
from workbench.core.runs.launch import code_command, is_frozen
from workbench.core.runs.network_stats import BLOCKS, downloaded_resnet
from workbench.core.runs.pip_commands import command_line, in_sequence, pip, pip_command, requirement, trains_here
from workbench.core.window_libraries import PACKAGES
from workbench.inference import visual_cpp
from workbench.inference.cpu_environment import cores, cpu_environment
from workbench.inference.engines.registry import KINDS, cannot_make
from workbench.inference.io.opencv import import_opencv

_GIB = 2**30
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
_MISSING_LIBRARIES = "from workbench.core.window_libraries import missing_libraries; print(missing_libraries())"
# Print the number of font families, and of those with Chinese characters.
_COUNT_FONTS = """
from PySide6.QtGui import QFontDatabase, QGuiApplication
app = QGuiApplication([])
systems = (QFontDatabase.WritingSystem.Any, QFontDatabase.WritingSystem.SimplifiedChinese)
print(*(len(QFontDatabase.families(system)) for system in systems))
"""
_INSTALL_FONTS = "Install a font with Chinese characters, such as Microsoft YaHei or Noto Sans CJK SC."
# Value of a key below HKEY_LOCAL_MACHINE by path and name; None if it is missing.
ReadRegistry = Callable[[str, str], object]

_RUNTIME = r"SOFTWARE\Microsoft\VisualStudio\14.0\VC\Runtimes\x64"
_FILE_SYSTEM = r"SYSTEM\CurrentControlSet\Control\FileSystem"
_ENABLE_LONG_PATHS = rf'reg add "HKLM\{_FILE_SYSTEM}" /v LongPathsEnabled /t REG_DWORD /d 1 /f'
_LONGEST = 259  # characters of a path without the setting
_IN_PACKAGES = 155  # characters of the longest path inside the installed packages (PySide6, PaddlePaddle)
_IN_PROJECT = 120  # characters below the folder of the projects: folder of the project, of the export, and its files


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--quick",
        action="store_true",
        help="skip the tests of training and of the window",
    )
    gpu = parser.add_argument_group("acceptance test of a GPU")
    gpu.add_argument(
        "--gpu", action="store_true", help="run the acceptance test of the GPU (a few minutes) and write a report"
    )
    gpu.add_argument(
        "--device", metavar="NAME", help="gpu:0, gpu:1, … (the largest GPU), or cpu: rehearse the test without a GPU"
    )
    gpu.add_argument(
        "--out", type=Path, metavar="DIR", help="folder of gpu-report.json and gpu-report.md (default: this folder)"
    )
    gpu.add_argument("--only", metavar="NAMES", help="run these tests only, separated by commas")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    if options.gpu:
        if options.quick:
            raise WrongUse("argument --quick: not with --gpu, whose tests are chosen with --only")
        return gpu_checks.run(options, console)
    for name in ("device", "out", "only"):
        if getattr(options, name) is not None:
            raise WrongUse(f"argument --{name} requires --gpu")
    listed: list[dict[str, Any]] = []
    for name, found in gpu_checks.results(CHECKS, Machine(options.quick)):
        listed.append({"name": name, "ok": found.ok, "detail": found.detail, "fix": found.fix})
        console.line(f"{'ok  ' if found.ok else 'FIX '} {name}: {found.detail}")
        if found.fix:
            console.line(f"       {found.fix}")
    return {"ok": all(check["ok"] for check in listed), "checks": listed}


def _python(_: Machine) -> CheckResult:
    fits = (3, 10) <= sys.version_info[:2] < (3, 15)
    detail = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    if fits and not trains_here():
        detail += ": everything but training, since PaddlePaddle has no package for this version of Python"
    return CheckResult(detail, "" if fits else "Install Python 3.12 and create a new environment with it.")


def _machine(_: Machine) -> CheckResult:
    usable, memory = cores(), psutil.virtual_memory().total
    enough = memory >= 3.5 * _GIB
    detail = f"{usable} cores, {memory / _GIB:.0f} GiB of memory"
    special = cpu_environment()
    if special:
        variables = " ".join(f"{name}={value}" for name, value in special.items())
        detail += f"; training sets {variables} on this AMD CPU"
    fix = "" if enough else "Close other programs. Training needs about 4 GiB of memory."
    return CheckResult(detail, fix)


def _disk(_: Machine) -> CheckResult:
    free = shutil.disk_usage(Path.cwd()).free
    enough = free >= 2 * _GIB
    fix = "" if enough else f"Free at least 2 GiB on the disk of {Path.cwd()}."
    return CheckResult(f"{free / _GIB:.0f} GiB free here", fix)


def _writing(_: Machine) -> CheckResult:
    """Check write access to the current folder, where projects are made, and to the folder of preferences."""
    for folder in (Path.cwd(), Path(platformdirs.user_config_dir("defect-workbench"))):
        existing = next(path for path in (folder, *folder.parents) if path.exists())
        try:
            with tempfile.NamedTemporaryFile(dir=existing):
                pass
        except OSError as error:
            grant = ["icacls", str(existing), "/grant", f"{getpass.getuser()}:(OI)(CI)M"]
            command = grant if os.name == "nt" else ["chmod", "u+rwx", str(existing)]
            return CheckResult(f"{existing} is not writable: {error.strerror}", command_line(command))
    return CheckResult("the current folder and the folder of preferences are writable")


def _packages(_: Machine) -> CheckResult:
    missing = [name for module, name in _PACKAGES.items() if find_spec(module) is None]
    if missing:
        return CheckResult(f"missing: {', '.join(missing)}", pip_command(*map(requirement, missing)))
    number = metadata.version("numpy")
    if int(number.partition(".")[0]) < 2:
        return CheckResult(f"numpy {number} is too old", pip_command(requirement("numpy")))
    return CheckResult(f"numpy {number} and all other packages are installed")


def _opencv(_: Machine) -> CheckResult:
    builds = {name: number for name in _OPENCV if (number := pip_commands.installed_version(name))}
    listed = ", ".join(f"{name} {number}" for name, number in builds.items()) or "none installed"
    required = requirement("opencv-python-headless")
    if len(builds) > 1:
        # The builds share the folder cv2: uninstalling one removes files of the other.
        fix = in_sequence(pip("uninstall", "-y", *builds), pip_command(required))
        return CheckResult(f"several builds overwrite each other: {listed}", fix)
    if why := _import_failure("cv2", "connectedComponents"):
        fix = pip("install", "--force-reinstall", "--no-deps", required)
        return CheckResult(f"{listed}, cannot be imported: {why}", fix)
    return CheckResult(listed)


def _import_failure(module: str, name: str) -> str:
    """Import a name of a module. Return why that failed, "" if it did not.

    On Windows in a process of its own, which an old runtime ends, except in a packed application, which has its own.
    """
    if sys.platform == "win32" and not is_frozen():
        output = run_captured(code_command(f"import workbench.inference\nfrom {module} import {name}"), seconds=120)
        return "" if output.returncode == 0 else output.last_line or f"the process ended with {output.returncode}"
    try:
        getattr(import_opencv() if module == "cv2" else import_module(module), name)
    except (ImportError, AttributeError) as error:
        return str(error)
    return ""


def _onnxruntime(machine: Machine) -> CheckResult:
    plain, gpu = pip_commands.installed_version("onnxruntime"), pip_commands.installed_version("onnxruntime-gpu")
    number = plain or gpu
    command = pip_command(requirement("onnxruntime"))
    if plain and gpu:
        # Both own the folder onnxruntime: uninstalling one removes files of the other.
        install = pip_command(requirement("onnxruntime").replace("onnxruntime", "onnxruntime-gpu"))
        fix = in_sequence(pip("uninstall", "-y", "onnxruntime", "onnxruntime-gpu"), install)
        detail = f"onnxruntime {plain} and onnxruntime-gpu {gpu} are both installed and overwrite each other"
        return CheckResult(detail, fix)
    if number == "1.24.0":
        return CheckResult("1.24.0 gives wrong results on some CPUs", command)
    if why := _import_failure("onnxruntime", "InferenceSession"):
        missing_library = sys.platform == "win32" and "ModuleNotFoundError" not in why
        return CheckResult(f"cannot be imported: {why}", visual_cpp.INSTALL if missing_library else command)
    import onnxruntime

    from workbench.inference.engines.onnx_engine import load_cuda

    if gpu and machine.facts.gpus and (missing := load_cuda()):
        detail = f"onnxruntime-gpu {gpu} computes on the CPU: {missing}"
        install = requirement("onnxruntime").replace("onnxruntime", "onnxruntime-gpu[cuda,cudnn]")
        return CheckResult(detail, pip_command(install))
    return CheckResult(onnxruntime.__version__)


def check_window(machine: Machine) -> CheckResult:
    """Test in another process that the window can be opened; if quick, check the version only."""
    number = pip_commands.installed_version("PySide6-Essentials") or pip_commands.installed_version("PySide6")
    if number is None and not is_frozen():
        return CheckResult("PySide6 is not installed", pip_command(requirement("PySide6-Essentials")))
    if number == "6.12.0" and sys.version_info < (3, 12):
        fix = pip_command(requirement("PySide6-Essentials"))
        return CheckResult("PySide6 6.12.0 crashes on this version of Python", fix)
    if machine.quick or is_frozen():
        return CheckResult(f"PySide6 {number or 'built in'}")
    system = f"sudo apt-get install -y {' '.join(PACKAGES.values())}" if sys.platform.startswith("linux") else ""
    output = run_captured(code_command("import PySide6.QtWidgets"), seconds=120)
    if output.returncode != 0:
        why = output.last_line or "it crashed"
        fix = system if ".so" in why and system else pip("install", "--force-reinstall", "PySide6-Essentials")
        return CheckResult(f"PySide6 {number} cannot be loaded: {why}", fix)
    missing = run_captured(code_command(_MISSING_LIBRARIES), seconds=60).stdout.strip()
    display = sys.platform != "linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if missing and display:
        problem, _, fix = missing.partition(". Install with: ")
        return CheckResult(f"PySide6 {number} cannot show a window: {problem}", fix or system)
    note = "" if display else "; no display found, only the command line can be used"
    note += f"; for a window: {missing}" if missing else ""
    return CheckResult(f"PySide6 {number}{note}")


def check_fonts(machine: Machine) -> CheckResult | None:
    """Test in another process that the system has fonts, also for the languages of the window."""
    if machine.quick:
        return None
    if is_frozen():
        return CheckResult("tested by the window")
    environment = os.environ | ({"QT_QPA_PLATFORM": "offscreen"} if sys.platform == "linux" else {})
    output = run_captured(code_command(_COUNT_FONTS), seconds=120, environment=environment)
    try:
        fonts, chinese = map(int, output.stdout.split())
    except ValueError:
        return CheckResult("not tested, because the window cannot be loaded")
    fix = "sudo apt-get install -y fonts-dejavu-core fonts-noto-cjk" if sys.platform == "linux" else _INSTALL_FONTS
    if not fonts:
        return CheckResult("no font is installed, so the window shows no text", fix)
    if not chinese:
        chinese_user = (locale.getlocale()[0] or "").startswith(("zh", "Chinese"))
        detail = "no font has Chinese characters, so the window can be used in English only"
        return CheckResult(detail, fix if chinese_user else "")
    return CheckResult(f"{fonts} families, {chinese} of them with Chinese characters")


def _formats(_: Machine) -> CheckResult:
    """List the export formats available on this machine. A missing one is no failure: an export needs one format."""
    why = {name: cannot_make(name) for name in KINDS}
    reasons = {name: ", then ".join(reason.rstrip(".").splitlines()) for name, reason in why.items() if reason}
    missing = "".join(f"; {name}: {reason}" for name, reason in reasons.items())
    return CheckResult(", ".join(name for name in why if not why[name]) + missing)


def _pretrained(_: Machine) -> CheckResult:
    """Say where the weights are that trainings start from."""
    if not resources.path(lite0.FILE).is_file():
        return CheckResult(f"{lite0.FILE} is missing", "Install the program again.")
    files = [downloaded_resnet(depth) for depth in BLOCKS]
    found = ", ".join(file.name for file in files if file.is_file()) or "none of them yet"
    return CheckResult(f"EfficientNet-Lite0; ResNets for weights=imagenet are downloaded to {files[0].parent}: {found}")


# --- Windows -----------------------------------------------------------------------------------------------------


def _visual_cpp(_: Machine) -> CheckResult | None:
    # A packed application contains the runtime.
    return runtime_of(_read_registry, visual_cpp.brought()[1]) if sys.platform == "win32" and not is_frozen() else None


def _long_paths(_: Machine) -> CheckResult | None:
    if sys.platform != "win32":
        return None
    return long_paths(_read_registry, Path(sysconfig.get_path("purelib")), Path.cwd())


def runtime_of(read: ReadRegistry, brought: visual_cpp.Version) -> CheckResult:
    """Check that the runtime that ONNX Runtime, PaddlePaddle and Qt load is there, and not too old.

    brought: version of the one in PySide6, which is loaded if it is newer than the installed one; () if there is none.
    """
    numbers = [read(_RUNTIME, part) for part in ("Major", "Minor", "Bld")]
    found = tuple(number for number in numbers if isinstance(number, int))
    if len(found) < len(numbers) or not read(_RUNTIME, "Installed"):
        found = ()
    installed, used = (".".join(map(str, version)) for version in (found, brought))
    if found >= visual_cpp.LEAST:
        return CheckResult(installed)
    detail = f"{installed} is too old" if found else "not installed"
    if brought >= visual_cpp.LEAST:
        return CheckResult(f"{detail}, so that {used} of PySide6 is used; exports need the installed one")
    least = ".".join(map(str, visual_cpp.LEAST))
    return CheckResult(f"{detail}: ONNX Runtime needs {least} or newer and may crash", visual_cpp.INSTALL)


def long_paths(read: ReadRegistry, packages: Path, folder: Path) -> CheckResult:
    """Check that paths may be long, or that both folders leave enough characters.

    packages: folder of the installed packages. folder: current folder, where projects are made.
    """
    if read(_FILE_SYSTEM, "LongPathsEnabled"):
        return CheckResult("paths of more than 260 characters are enabled")
    for place, needed in ((packages, _IN_PACKAGES), (folder, _IN_PROJECT)):
        if len(str(place)) + 1 + needed > _LONGEST:
            detail = (
                f"paths below {place} may exceed 260 characters, which Windows refuses. Run the command in a terminal "
                "of an administrator and restart, or use a folder with a shorter path"
            )
            return CheckResult(detail, _ENABLE_LONG_PATHS)
    return CheckResult("paths of more than 260 characters are disabled, and not needed here")


def _read_registry(path: str, name: str) -> object:
    if sys.platform != "win32":
        return None
    import winreg

    try:
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, path, 0, winreg.KEY_READ | winreg.KEY_WOW64_64KEY) as key:
            return winreg.QueryValueEx(key, name)[0]
    except OSError:
        return None


def _plugins(_: Machine) -> CheckResult:
    """Load the tables that plug-ins extend, and name those that are used and those that are left out."""
    for module in ("core.project.exporting", "cli.sinks.result_outputs"):
        import_module(f"workbench.{module}")
    load_layouts()
    plugins.plugins("workbench.labelers", callable)
    names = ", ".join(f"{name} ({group})" for group, name in plugins.used) or "none"
    wrong = "; ".join(f"{name} ({group}): {why}" for (group, name), why in plugins.left_out.items())
    fix = "Repair or remove the packages of the plug-ins that are left out." if wrong else ""
    return CheckResult(names + (f"; left out: {wrong}" if wrong else ""), fix)


CHECKS = (
    Check("python", _python),
    Check("visual c++ runtime", _visual_cpp),
    Check("machine", _machine),
    Check("disk", _disk),
    Check("write access", _writing),
    Check("packages", _packages),
    Check("opencv", _opencv),
    Check("onnxruntime", _onnxruntime),
    Check("long paths", _long_paths),
    Check("window", check_window),
    Check("fonts", check_fonts),
    *gpu_checks.CHECKS,
    Check("pretrained weights", _pretrained),
    Check("export formats", _formats),
    Check("plug-ins", _plugins),
)
