"""Plug-ins: the example package is installed and used; broken ones are named and left out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from workbench.core import plugins
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "resources" / "examples" / "plugin"


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """Folder in which the example package is installed, beside a package with broken plug-ins."""
    source, target = tmp_path_factory.mktemp("example"), tmp_path_factory.mktemp("installed")
    subprocess.run(["cp", "-r", str(EXAMPLE), str(source)], check=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation", "--no-deps"]
    subprocess.run([*pip, "--target", str(target), str(source / "plugin")], check=True)
    broken = target / "broken-1.0.dist-info"
    broken.mkdir()
    (broken / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    text = "[workbench.formats]\nnone = no_such_module:X\ncoco = json:dumps\nnumber = json:dumps\n"
    (broken / "entry_points.txt").write_text(text)
    return target


def workbench(installed: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(installed), str(ROOT)])}
    command = [sys.executable, "-m", "workbench", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


@pytest.mark.new_processes
def test_example_package_adds_formats_and_labels_images(installed, tmp_path):
    image = np.full((40, 60), 120, np.uint8)
    image[10:14, 20:40] = 20
    with Project.create(tmp_path / "p", classes=["scratch"]) as project:
        write_png(project.image_path("a.png"), image)
    done = workbench(installed, "predict", "labeler:dark", tmp_path / "p", "--as-suggestions", "--json")
    assert done.returncode == 0, done.stderr
    (entry,) = json.loads(done.stdout)["pictures"]
    assert [(r["class_name"], r["x"], r["y"], r["width"], r["height"]) for r in entry["regions"]] == [
        ("scratch", 20, 10, 20, 4)
    ]
    (tmp_path / "labels").mkdir()
    write_png(tmp_path / "labels" / "a.png", image)
    (tmp_path / "labels" / "a.box").write_text("scratch 20 10 20 4\n")
    done = workbench(installed, "import", tmp_path / "p", tmp_path / "labels", "--json")
    assert json.loads(done.stdout)["format"] == "boxes"
    for why in ("none of workbench.formats", "coco of workbench.formats", "number of workbench.formats"):
        assert why in done.stderr
    mask = annotation.load_mask(Project.open(tmp_path / "p", write=False), "a.png")
    assert mask is not None and mask[10:14, 20:40].all() and np.count_nonzero(mask) == 80
    done = workbench(installed, "labels", tmp_path / "p", tmp_path / "out", "--format", "boxes", "--json")
    assert done.returncode == 0 and (tmp_path / "out" / "a.box").read_text() == "scratch 20 10 20 4\n"


@pytest.mark.new_processes
def test_doctor_and_help_name_plugins(installed):
    code = """if True:
        from workbench.cli import doctor, _parser
        found = doctor._plugins(doctor.Machine(True))
        print(found.detail, found.fix, sep="\\n")
        print(_parser(["predict"])._subparsers._group_actions[0].choices["predict"].format_help())
        words = ["export", "p", "--formats", "thresholds"]
        print(_parser(words).parse_args(words))
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(installed), str(ROOT)])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    for name in plugins.GROUPS:
        assert f"({name})" in done.stdout.partition("left out:")[0]
    detail, fix, *rest = done.stdout.splitlines()
    for name, error in (("none", "ModuleNotFoundError"), ("coco", "ValueError"), ("number", "TypeError")):
        assert f"{name} (workbench.formats): {error}" in detail
    assert fix.startswith("Repair or remove") and any("--last-result FILE" in line for line in rest)
    assert "thresholds" in rest[-1]
