"""Command line as a process: results on stdout, one JSON object on request, one sentence per problem."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.cli.console_output import inside
from workbench import cli
from workbench.cli.verb_runner import number_in
from workbench.core.problems import NotEnoughMemory
from workbench.core.project import annotation
from workbench.core.project.exporting import EXPORT_FORMATS
from workbench.core.project.project import Project
from workbench.core.runs.pip_commands import command_line
from workbench.inference.io.image_io import write_png

ROOT = Path(__file__).resolve().parents[2]


def workbench(*arguments, cwd=None):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    return subprocess.run(
        [sys.executable, "-m", "workbench", *map(str, arguments)],
        capture_output=True,
        text=True,
        env=environment,
        cwd=cwd,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
    )


def picture(path, seed=0, size=(48, 40)):
    write_png(path, np.random.default_rng(seed).integers(60, 200, (size[1], size[0])).astype(np.uint8))


def masked_folder(root, count=3):
    for number in range(count):
        picture(root / "images" / f"片 {number} [a].png", number)
        mask = np.zeros((40, 48), np.uint8)
        mask[5:15, 5 + number : 25] = 255
        write_png(root / "masks" / f"片 {number} [a].png", mask)
    return root


def test_create_import_check_and_labels_as_processes(tmp_path):
    created = workbench("create", tmp_path / "p 项目", "--classes", "scratch,pit", "--verdicts", "OK,NG", "--json")
    assert created.returncode == 0, created.stderr
    assert json.loads(created.stdout) == {
        "project": (tmp_path / "p 项目").as_posix(),
        "pictures": 0,
        "unused_files": {},
        "classes": ["scratch", "pit"],
        "verdicts": ["OK", "NG"],
    }
    source = masked_folder(tmp_path / "in")
    (source / "masks" / "片 2 [a].png").write_bytes(b"\x89PNG\r\n\x1a\n cut")
    done = workbench("import", tmp_path / "p 项目", source, "--format", "png", "--class", "pit", "--json")
    assert done.returncode == 1, done.stderr  # a mask is damaged
    report = json.loads(done.stdout)
    assert (report["pictures"], report["labelled"], len(report["skipped"])) == (3, 2, 1)
    assert set(report["skipped"][0]) == {"path", "why"} and "片 2" in report["skipped"][0]["path"]

    text = workbench("check", tmp_path / "p 项目")
    assert text.returncode == 0 and "scratch" in text.stdout and "Delete classes" in text.stdout
    findings = json.loads(workbench("check", tmp_path / "p 项目", "--json").stdout)["findings"]
    assert [(f["kind"], f["key"]) for f in findings] == [("unused_class", "scratch")]

    written = workbench("labels", tmp_path / "p 项目", tmp_path / "out", "--format", "labelme", "--json")
    assert json.loads(written.stdout)["labels"] == 2
    assert len(list((tmp_path / "out").rglob("*.json"))) == 2
    options = ["--format", "coco", "--shapes", "polygon", "--images", "--no-split", "--keep-ids", "--json"]
    written = json.loads(workbench("labels", tmp_path / "p 项目", tmp_path / "coco", *options).stdout)
    assert (written["labels"], written["images"], written["losses"], written["skipped"]) == (2, 2, {}, [])
    content = json.loads((tmp_path / "coco" / "annotations" / "instances_default.json").read_text("utf-8"))
    assert [entry["id"] for entry in content["categories"]] == [1, 2]
    assert isinstance(content["annotations"][0]["segmentation"], list)
    assert (
        workbench("labels", tmp_path / "p 项目", tmp_path / "x", "--format", "png", "--shapes", "mask").returncode == 1
    )
    again = workbench("labels", tmp_path / "p 项目", tmp_path / "out", "--format", "png")
    assert again.returncode == 1 and "already exists" in again.stderr and again.stdout == ""


def test_stdout_holds_text_or_only_json(tmp_path, capsys):
    source = masked_folder(tmp_path / "in")
    inside(capsys, "create", tmp_path / "p")
    status, out, _ = inside(capsys, "import", tmp_path / "p", source)
    assert status == 0 and "3 images" in out and "New classes: defect" in out
    status, out, _ = inside(capsys, "import", tmp_path / "p", source, "--json")
    assert status == 0 and len(json.loads(out)["skipped"]) == 3 and out.count("\n") == 1
    status, out, _ = inside(capsys, "import", tmp_path / "p", source, "--overwrite")
    assert "3 labeled" in out


@pytest.mark.parametrize(
    "arguments",
    [
        ["juggle"],
        ["create"],
        ["import", "p", "x", "--threshold", "0"],
        ["import", "p", "x", "--format", "dicom"],
        ["train", "p"],
        ["train", "p", "--model", "unet", "--minutes", "3", "--epochs", "4"],
        ["export", "p", "--formats", "tiff"],
        ["evaluate", "p", "--split", "train"],
    ],
)
def test_wrong_use_returns_2(capsys, arguments):
    status, out, err = inside(capsys, *arguments)
    assert status == 2 and out == "" and "error:" in err
    status, out, err = inside(capsys, *arguments, "--json")
    assert status == 2 and json.loads(out)["error"].startswith("Invalid arguments")


@pytest.mark.new_processes
def test_help_of_every_verb(capsys):
    status, out, _ = inside(capsys, "--help")
    assert status == 0 and all(verb in out for verb in cli.VERBS)
    for verb in cli.VERBS:
        status, out, _ = inside(capsys, verb, "--help")
        assert status == 0 and "--json" in out
    assert workbench("--version").stdout.startswith("Defect Workbench")


def sentence(capsys, *arguments):
    """Check for status 1 and one sentence on stderr that equals the one in JSON. Return the sentence."""
    status, out, err = inside(capsys, *arguments)
    assert status == 1 and out == "" and "Traceback" not in err, err
    status, out, _ = inside(capsys, *arguments, "--json")
    assert status == 1 and json.loads(out)["error"] in err
    _, _, debug = inside(capsys, *arguments, "--debug")
    assert "Traceback" in debug
    return err.strip().splitlines()[-1]


def test_problems_of_a_project_are_one_sentence(tmp_path, capsys):
    assert "no project.json" in sentence(capsys, "check", tmp_path)
    inside(capsys, "create", tmp_path / "p", "--classes", "scratch")
    assert "already holds a project" in sentence(capsys, "create", tmp_path / "p")
    assert "does not exist" in sentence(capsys, "import", tmp_path / "p", tmp_path / "gone")
    (tmp_path / "void").mkdir()
    assert "could be imported" in sentence(capsys, "import", tmp_path / "p", tmp_path / "void")
    assert "no images" in sentence(capsys, "train", tmp_path / "p", "--model", "unet")
    picture(tmp_path / "p" / "pictures" / "a.png")
    assert "No image is labeled" in sentence(capsys, "train", tmp_path / "p", "--model", "unet")
    assert "too few verdicts" in sentence(capsys, "train", tmp_path / "p", "--model", "resnet")
    with Project.open(tmp_path / "p") as project:
        annotation.save_mask(project, "a.png", np.pad(np.ones((9, 9), np.uint8), ((0, 31), (0, 39))))
    assert "Only 1 label" in sentence(capsys, "train", tmp_path / "p", "--model", "unet")
    assert "colour" in sentence(capsys, "train", tmp_path / "p", "--model", "unet", "--set", "colour=3")
    for verb in ("evaluate", "export"):
        assert "There is no run" in sentence(capsys, verb, tmp_path / "p")
    assert "There is no run" in sentence(capsys, "train", tmp_path / "p", "--resume", "last")
    assert "There is no run" in sentence(capsys, "predict", tmp_path / "p", tmp_path / "p" / "pictures")
    assert "neither a run nor an export" in sentence(capsys, "predict", tmp_path / "void", tmp_path / "p" / "pictures")
    assert "No image is labeled" in sentence(capsys, "labels", _empty(tmp_path), tmp_path / "o", "--format", "png")

    raw = json.loads((tmp_path / "p" / "project.json").read_text("utf-8"))
    (tmp_path / "p" / "project.json").write_text(json.dumps(raw | {"format": 99}), "utf-8")
    for verb in (["check"], ["train", "--model", "unet"], ["evaluate"], ["export"]):
        assert "newer" in sentence(capsys, verb[0], tmp_path / "p", *verb[1:])


def _empty(tmp_path):
    Project.create(tmp_path / "empty").close()
    return tmp_path / "empty"


def test_folder_without_write_access_is_named(tmp_path, capsys):
    (tmp_path / "file").write_text("not a folder", "utf-8")
    assert "could not be written" in sentence(capsys, "create", tmp_path / "file" / "p")
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o555)
    if os.access(folder, os.W_OK):
        return  # as root every folder is writable
    assert "could not be written" in sentence(capsys, "create", folder / "p")


def test_project_open_elsewhere_is_not_written(project, tmp_path, capsys):
    source = masked_folder(tmp_path / "in")
    held = workbench("import", project.root, source)
    assert held.returncode == 1 and "already open for writing" in held.stderr
    assert str(os.getpid()) in held.stderr and not project.images()
    assert inside(capsys, "check", project.root)[0] == 0  # reading needs no lock


def test_without_paddle_the_install_command_is_shown(labeled_project):
    labeled_project.close()
    code = (
        "import sys; sys.modules['paddle'] = None\n"
        f"from workbench.cli import main; sys.exit(main(['train', {str(labeled_project.root)!r}, '--model', 'unet']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert f"{command_line([sys.executable])} -m pip install " in done.stderr and "paddlepaddle" in done.stderr
    assert not list((labeled_project.root / "runs").iterdir())


def test_unexpected_error_is_one_sentence(tmp_path, capsys, monkeypatch):
    from workbench.cli import project_verbs

    Project.create(tmp_path / "p").close()
    monkeypatch.setattr(project_verbs, "check", lambda *_: 1 / 0)
    assert "ZeroDivisionError" in sentence(capsys, "check", tmp_path / "p")


def test_lack_of_memory_is_one_sentence(tmp_path, capsys, monkeypatch):
    def fail(*_, **__):
        raise MemoryError

    Project.create(tmp_path / "p").close()
    monkeypatch.setattr("workbench.cli.project_verbs.Project.open", fail)
    assert cli.main(["statistics", str(tmp_path / "p")]) == 1
    assert capsys.readouterr().err == f"{NotEnoughMemory()}\n"


@pytest.mark.skipif(os.name != "posix", reason="there is no umask here")
def test_files_are_private_where_the_user_wants_that(tmp_path, capsys):
    write_png(tmp_path / "in" / "images" / "a.png", np.full((20, 30), 90, np.uint8))
    write_png(tmp_path / "in" / "masks" / "a.png", np.eye(20, 30, dtype=np.uint8) * 255)
    root, before = str(tmp_path / "p"), os.umask(0o077)
    try:
        for arguments in (
            ["create", root, "--classes", "a"],
            ["import", root, str(tmp_path / "in")],
            ["labels", root, str(tmp_path / "out"), "--format", "coco"],
            ["pack", root, str(tmp_path / "p.zip")],
            ["import", root, "--undo"],
        ):
            assert cli.main(arguments) == 0, capsys.readouterr().err
    finally:
        os.umask(before)
    written = [path for name in ("p", "out", "p.zip") for path in [tmp_path / name, *(tmp_path / name).rglob("*")]]
    assert len(written) > 10 and not [path for path in written if path.stat().st_mode & 0o077]


def test_every_label_format_can_be_selected(capsys):
    _, out, _ = inside(capsys, "labels", "--help")
    assert all(name in out for name in EXPORT_FORMATS)


CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f]")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows forbids these file names")
def test_no_verb_prints_control_characters(tmp_path):
    nasty = "\x1b[2J\x1b]0;owned\x07\rx\ny\x9b"
    source = masked_folder(tmp_path / "in")
    for folder in ("images", "masks"):
        (source / folder / "片 1 [a].png").rename(source / folder / f"{nasty}.png")
    (source / "masks" / f"{nasty}.png").write_bytes(b"\x89PNG no mask")
    (source / "images" / f"{nasty} 2.png").write_bytes(b"\x89PNG no picture")
    project = tmp_path / "p"
    calls = [
        ("create", project, "--classes", "scratch", "--verdicts", "OK,NG"),
        ("import", project, source, "--format", "png", "--class", "scratch"),
        ("check", project),
        ("check", tmp_path / nasty),
        ("check", project, f"--{nasty}"),
    ]
    message = ""
    for call in calls:
        done = workbench(*call)
        assert CONTROL.findall(done.stdout + done.stderr) == [], call
        message += done.stdout + done.stderr
    assert r"\x1b[2J\x1b]0;owned\x07\rx\ny\x9b" in message
    found = json.loads(workbench("check", project, "--json").stdout)
    assert f"images/{nasty} 2.png" in [finding["key"] for finding in found["findings"]]


def test_host_name_with_control_characters_is_escaped(tmp_path):
    with Project.create(tmp_path / "p", classes=["scratch"]):
        holder = tmp_path / "p" / ".cache" / "holder.json"
        holder.write_text(json.dumps({"pid": 1, "host": "\x1b[2Jhost"}), "utf-8")
        done = workbench("import", tmp_path / "p", masked_folder(tmp_path / "in"), "--debug")
    assert done.returncode == 1 and CONTROL.findall(done.stdout + done.stderr) == []
    assert "process 1 on ?" in done.stderr  # a name that cannot be printed is left out


@pytest.mark.parametrize(
    ("read", "good", "bad", "why"),
    [
        (number_in(1, 64), "64", "65", "must be at least 1 and at most 64, not 65"),
        (number_in(0), "0", "-1", "must be at least 0, not -1"),
        (number_in(0, kind=float, above=True), "0.5", "nan", "must be above 0, not nan"),
    ],
)
def test_numbers_of_options_state_their_range(read, good, bad, why):
    assert read(good) == float(good)
    with pytest.raises(argparse.ArgumentTypeError, match=f"^{why}$"):
        read(bad)
