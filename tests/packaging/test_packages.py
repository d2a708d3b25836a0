"""Files from which the packages are built."""

from __future__ import annotations

import configparser
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml
from PIL import Image

from workbench import __version__
from workbench.core.runs import launch
from workbench.core.window_libraries import PACKAGES

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"


def python(code: str, tmp_path: Path) -> str:
    """Run code in a process of its own, as the build scripts change the import path. Return its output."""
    environment = {**os.environ, "PYTHONPATH": str(PACKAGING), "OUT": str(tmp_path), "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_guide_and_doctor_name_all_system_libraries_of_the_window(language, tmp_path):
    """A server without a desktop has none of the libraries that the Debian package depends on."""
    needed = set(python("import build; print(build.DEB_DEPENDS)", tmp_path).strip().split(", ")) - {"libc6", "libgomp1"}
    page = (ROOT / "resources" / "guide" / language / "installation.md").read_text("utf-8")
    command = next(line for line in page.splitlines() if line.startswith("sudo apt-get install libegl1"))
    assert needed <= set(command.split())
    assert set(PACKAGES.values()) == set(command.split()[3:])


def test_icon_has_all_sizes(tmp_path):
    python("import os, build, pathlib; build.make_icons(pathlib.Path(os.environ['OUT']))", tmp_path)
    with Image.open(tmp_path / "defect-workbench.ico") as icon:
        assert {(16, 16), (32, 32), (48, 48), (256, 256)} <= icon.info["sizes"]
    with Image.open(tmp_path / "256.png") as image:
        assert len(image.convert("RGBA").getcolors(1 << 20)) > 10  # not an empty image


def test_version_of_the_packages_is_that_of_the_application(tmp_path):
    assert python("from windows.version_info import version; print(version())", tmp_path).strip() == __version__


@pytest.mark.parametrize(("megabytes", "options"), [(2100, []), (2101, ["/DDivided"])])
def test_installer_that_is_too_large_for_one_file_is_divided(tmp_path, megabytes, options):
    """The GPU build contains several gigabytes of NVIDIA's libraries."""
    (tmp_path / "libs").mkdir()
    with (tmp_path / "libs" / "cudnn64_9.dll").open("wb") as file:
        file.truncate(megabytes * 10**6)
    code = "import os, build, pathlib; print(build.division(pathlib.Path(os.environ['OUT'])))"
    assert python(code, tmp_path).strip() == str(options)
    script = (PACKAGING / "windows" / "installer.iss").read_text("utf-8")
    assert r'Type: filesandordirs; Name: "{app}\_internal"' in script  # files of an older version would be imported
    assert "#ifdef Divided" in script and "DiskSpanning=yes" in script.partition("#ifdef Divided")[2]


def test_desktop_entry_names_installed_programs():
    entry = configparser.ConfigParser(interpolation=None, delimiters=("=",))
    entry.optionxform = str
    entry.read(PACKAGING / "linux" / "defect-workbench.desktop", encoding="utf-8")
    values = entry["Desktop Entry"]
    assert values["Exec"].split()[0] == values["TryExec"] == values["Icon"] == "defect-workbench"
    kinds = set(values["MimeType"].strip(";").split(";"))
    root = ET.parse(PACKAGING / "linux" / "defect-workbench.xml").getroot()
    assert {kind.get("type") for kind in root} <= kinds and "inode/directory" in kinds


def test_workflow_runs_both_commands_of_the_readme_on_linux_and_windows():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
    job = workflow["jobs"]["commands"]
    assert {name.split("-")[0] for name in job["strategy"]["matrix"]["os"]} == {"ubuntu", "windows"}
    text = "\n".join(step.get("run", "") for step in job["steps"])
    readme = (ROOT / "README.md").read_text("utf-8")
    for command in ("workbench demo sample-project", "-m pytest -q -n auto", "'.[cpu]'", "'.[cpu,dev]'"):
        assert command in text and command in readme


def test_workflow_runs_the_complete_suite_every_night():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
    complete = "\n".join(step.get("run", "") for step in workflow["jobs"]["complete"]["steps"])
    every = '-m "slow or not slow"'
    assert every in complete and every in (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert workflow[True]["schedule"]  # YAML reads the key `on` as true
    assert workflow["jobs"]["complete"]["if"] == "github.event_name == 'schedule'"


def test_workflow_runs_the_windows_commands_of_the_readme_in_both_shells():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
    steps = {step["shell"]: step["run"] for step in workflow["jobs"]["commands"]["steps"] if "shell" in step}
    assert set(steps) == {"powershell", "cmd"}
    readme = (ROOT / "README.md").read_text("utf-8")
    for shell, commands in steps.items():
        plain = commands.replace(f".venv-{shell}", ".venv").replace(" -q ", " ")
        assert plain.splitlines()[:2] == ["py -m venv .venv", '.venv\\Scripts\\pip install -e ".[cpu]"']
        assert all(line in readme for line in plain.splitlines()[:2])


@pytest.mark.parametrize("console", [True, False])
def test_training_child_of_a_packed_application_has_standard_streams(tmp_path, monkeypatch, console):
    window = tmp_path / "DefectWorkbench.exe"
    window.touch()
    if console:
        (tmp_path / "workbench.exe").touch()
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(window))
    expected = tmp_path / "workbench.exe" if console else window
    assert launch.worker_command("doctor") == [str(expected), "--worker", "doctor"]


def test_lines_of_code_are_counted_without_comments_and_docstrings(tmp_path):
    module = '''"""Docstring
of two lines."""

import os
from typing import (
    Any,
)

def f() -> Any:  # comment
    """Docstring."""
    # comment
    return """text

    of three lines""" + os.sep
'''
    (tmp_path / "workbench" / "core").mkdir(parents=True)
    (tmp_path / "tests" / "core").mkdir(parents=True)
    (tmp_path / "workbench" / "core" / "a.py").write_text(module, "utf-8")
    (tmp_path / "tests" / "core" / "test_a.py").write_text("\n" * 3, "utf-8")
    code = "import os, pathlib, count_lines; print(count_lines.sizes(pathlib.Path(os.environ['OUT']))['core'])"
    assert python(code, tmp_path).strip() == "Size(modules=1, lines=14, code=8, imports=4, tests=3)"
