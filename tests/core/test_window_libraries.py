"""Missing libraries of the window are named in one line, at the start and by `doctor`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from workbench.cli.doctor import Machine, check_window
from workbench.core import window_libraries
from workbench.core.window_libraries import missing_libraries

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="libraries of X11")


@linux
def test_missing_libraries_are_named_with_the_command(tmp_path, monkeypatch):
    """A plugin that needs a library that nobody has, and two that are missing among those of the table."""
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    plugin = tmp_path / "libqxcb.so"
    plugin.write_bytes(b"no library")
    monkeypatch.setattr(window_libraries, "_PLUGIN", plugin)
    names = {"libc.so.6": "libc6", "libabsent-a.so.1": "libabsent-a1", "libabsent-b.so.1": "libabsent-b1"}
    monkeypatch.setattr(window_libraries, "PACKAGES", names)
    assert missing_libraries() == (
        "libabsent-a.so.1, libabsent-b.so.1 are missing. "
        "Install with: sudo apt-get install -y libabsent-a1 libabsent-b1"
    )
    monkeypatch.setattr(window_libraries, "PACKAGES", {"libc.so.6": "libc6"})
    assert (
        missing_libraries().startswith("a library of the window cannot be loaded:") and "\n" not in missing_libraries()
    )
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    assert missing_libraries() == ""  # needs none of them


@linux
def test_start_and_doctor_agree_on_this_computer(monkeypatch, tmp_path):
    """With a display that answers, a window opens, or one line says what is missing; `doctor` says the same."""
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", "/a form that only Qt knows:0")
    missing = missing_libraries()
    result = check_window(Machine(quick=False))
    assert (result.fix != "") == (missing != "") and (not missing or result.fix in missing)
    if missing:
        code = "import sys; from workbench.ui.shell.application import run; sys.exit(run(None))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=Path.cwd())
        assert (done.returncode, done.stderr) == (1, f"The window cannot be shown, because {missing}\n")
