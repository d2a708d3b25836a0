"""Checks of `doctor` for Windows: the Visual C++ runtime, and paths longer than 260 characters."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path

from workbench.cli.gpu_checks import Check
from workbench.core.runs.launch import is_frozen

# Value of a key below HKEY_LOCAL_MACHINE by path and name; None if it is missing.
ReadRegistry = Callable[[str, str], object]

INSTALL_RUNTIME = "winget install --exact --id Microsoft.VCRedist.2015+.x64"
_RUNTIME = r"SOFTWARE\Microsoft\VisualStudio\14.0\VC\Runtimes\x64"
_LEAST_RUNTIME = (14, 40)  # of ONNX Runtime since 1.21; older ones crash in its first lock
_FILE_SYSTEM = r"SYSTEM\CurrentControlSet\Control\FileSystem"
_ENABLE_LONG_PATHS = rf'reg add "HKLM\{_FILE_SYSTEM}" /v LongPathsEnabled /t REG_DWORD /d 1 /f'
_LONGEST = 259  # characters of a path without the setting
_IN_PACKAGES = 155  # characters of the longest path inside the installed packages (PySide6, PaddlePaddle)
_IN_PROJECT = 120  # characters below the folder of the projects: folder of the project, of the export, and its files


def checks() -> Iterator[Check]:
    """Yield the checks; none on other systems."""
    if sys.platform == "win32":
        if not is_frozen():  # a packed application contains the runtime
            yield visual_cpp(_read_registry)
        yield long_paths(_read_registry, Path(sysconfig.get_path("purelib")), Path.cwd())


def visual_cpp(read: ReadRegistry) -> Check:
    """Check that the runtime that ONNX Runtime, PaddlePaddle and Qt load is installed, and not too old."""
    name, numbers = "visual c++ runtime", [read(_RUNTIME, part) for part in ("Major", "Minor", "Bld")]
    found = tuple(number for number in numbers if isinstance(number, int))
    if len(found) < len(numbers) or not read(_RUNTIME, "Installed"):
        return Check(name, False, "not installed, so libraries may fail to load", INSTALL_RUNTIME)
    version = ".".join(map(str, found))
    if found < _LEAST_RUNTIME:
        least = ".".join(map(str, _LEAST_RUNTIME))
        detail = f"{version} is too old: ONNX Runtime needs {least} or newer and may crash"
        return Check(name, False, detail, INSTALL_RUNTIME)
    return Check(name, True, version)


def long_paths(read: ReadRegistry, packages: Path, folder: Path) -> Check:
    """Check that paths may be long, or that both folders leave enough characters.

    packages: folder of the installed packages. folder: current folder, where projects are made.
    """
    name = "long paths"
    if read(_FILE_SYSTEM, "LongPathsEnabled"):
        return Check(name, True, "paths of more than 260 characters are enabled")
    for place, needed in ((packages, _IN_PACKAGES), (folder, _IN_PROJECT)):
        if len(str(place)) + 1 + needed > _LONGEST:
            detail = (
                f"paths below {place} may exceed 260 characters, which Windows refuses. Run the command in a terminal "
                "of an administrator and restart, or use a folder with a shorter path"
            )
            return Check(name, False, detail, _ENABLE_LONG_PATHS)
    return Check(name, True, "paths of more than 260 characters are disabled, and not needed here")


def _read_registry(path: str, name: str) -> object:
    if sys.platform != "win32":
        return None
    import winreg

    try:
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, path, 0, winreg.KEY_READ | winreg.KEY_WOW64_64KEY) as key:
            return winreg.QueryValueEx(key, name)[0]
    except OSError:
        return None
