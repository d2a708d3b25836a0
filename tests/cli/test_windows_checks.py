"""Checks of doctor for Windows, with a registry that the test supplies."""

from __future__ import annotations

from pathlib import Path, PureWindowsPath

import pytest

from workbench.cli import windows_checks
from workbench.cli.windows_checks import long_paths, visual_cpp


def registry(**values):
    return lambda path, name: values.get(name)


@pytest.mark.parametrize(
    ("values", "ok", "detail"),
    [
        ({"Installed": 1, "Major": 14, "Minor": 44, "Bld": 35211}, True, "14.44.35211"),
        ({"Installed": 1, "Major": 14, "Minor": 29, "Bld": 30139}, False, "too old"),
        ({"Installed": 0, "Major": 14, "Minor": 44, "Bld": 35211}, False, "not installed"),
        ({}, False, "not installed"),
    ],
)
def test_visual_cpp_runtime(values, ok, detail):
    check = visual_cpp(registry(**values))
    assert check.ok == ok and detail in check.detail
    assert check.fix == ("" if ok else windows_checks.INSTALL_RUNTIME)


def test_long_paths_are_enabled():
    deep = PureWindowsPath("C:/" + "a/" * 100)
    check = long_paths(registry(LongPathsEnabled=1), deep, deep)
    assert check.ok and not check.fix


@pytest.mark.parametrize(
    ("packages", "folder", "ok"),
    [
        ("C:/Users/li/defect-workbench/.venv/Lib/site-packages", "D:/images", True),
        ("C:/Users/" + "long/" * 15 + ".venv/Lib/site-packages", "D:/images", False),
        ("C:/venv/Lib/site-packages", "D:/" + "folder/" * 20, False),
    ],
)
def test_folders_leave_room_for_the_paths_below_them(packages, folder, ok):
    check = long_paths(registry(LongPathsEnabled=0), PureWindowsPath(packages), PureWindowsPath(folder))
    assert check.ok == ok and ("reg add" in check.fix) != ok


def test_packages_have_no_path_longer_than_assumed():
    """The longest path inside PySide6 and PaddlePaddle, which the check counts on."""
    import PySide6

    packages = Path(PySide6.__file__).parents[1]
    for name in ("PySide6", "paddle"):
        longest = max((len(str(path.relative_to(packages))) for path in packages.joinpath(name).rglob("*")), default=0)
        assert longest <= windows_checks._IN_PACKAGES
