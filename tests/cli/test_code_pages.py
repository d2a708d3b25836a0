"""Verbs whose output goes to a file in a code page of Windows that lacks characters of the names."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.session.mask_run import make_mask_project
from workbench import cli
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png

CODE_PAGES = ("cp932", *(pytest.param(name, marks=pytest.mark.slow) for name in ("cp936", "cp949", "cp1252", "utf-8")))
NAME = "é ü 中 日本 ą"  # no code page has all of them


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Folder with a project, a folder with labels, and a folder without any, all with characters of several scripts."""
    place = tmp_path_factory.mktemp("code-pages") / NAME
    run = make_mask_project(place / "project")
    with Project.open(run.project_root) as project:
        project.classes[0].name = NAME
        project.verdicts = [NAME]
        project.save()
    write_png(place / "labels" / "images" / f"{NAME}.png", np.full((16, 24), 60, np.uint8))
    write_png(place / "labels" / "masks" / f"{NAME}.png", np.eye(16, 24, dtype=np.uint8) * 255)
    (place / "empty").mkdir()
    return place


def calls(place, made) -> list[list[str]]:
    """Return calls of each verb. Those that need more than there is end with one sentence that names a path."""
    root, image = str(place / "project"), f"{NAME}.png"
    return [
        ["create", f"{made}/p", "--classes", NAME, "--verdicts", NAME, "--images", f"{place}/labels/images"],
        ["import", f"{made}/p", f"{place}/labels"],
        ["import", f"{made}/p", "--undo"],
        ["merge", f"{made}/p", root, "--dry-run"],
        ["remove", f"{made}/p", f"@images/{image}"],
        ["remove", f"{made}/p", "--list"],
        ["sources", f"{made}/p", "list"],
        ["sources", f"{made}/p", "add", f"{place}/empty"],
        ["pack", root, f"{made}/p.zip"],
        ["unpack", f"{made}/p.zip", f"{made}/unpacked"],
        *(["labels", root, f"{made}/{format}", "--format", format] for format in ("png", "coco", "labelme")),
        *([verb, root] for verb in ("check", "statistics", "use", "area", "evaluate", "parts")),
        *([verb, root, "--count", "2"] for verb in ("spots", "queue")),
        ["spots", root, image],
        ["train", root, "--model", "unet", "--plan"],
        ["train", root, "--run", NAME],
        ["predict", root, f"{place}/labels/images", "--out", f"{made}/results"],
        ["gauge", root, f"{place}/empty"],
        ["export", root, "--out", f"{made}/line", "--formats", "onnx"],
        ["release", "verify", f"{place}/empty"],
        ["serve", f"{place}/empty"],
        ["adopt", f"{place}/labels/images/{image}", "--project", root],
        ["inbox", root, f"{place}/empty"],
        ["drift", f"{made}/results/results.jsonl"],
        ["log", root, "--to", "tensorboard", "--out", f"{made}/log"],
        ["demo", root],
        ["doctor", NAME],
    ]


@pytest.mark.parametrize("encoding", CODE_PAGES)
def test_verbs_end_and_keep_names(place, encoding, tmp_path, monkeypatch):
    made = tmp_path / NAME
    made.mkdir()
    lines = calls(place, made)
    assert {words[0] for words in lines} == cli.VERBS.keys()
    for words in lines:
        files = [tmp_path / "out.txt", tmp_path / "err.txt"]
        with files[0].open("w", encoding=encoding) as out, monkeypatch.context() as streams:
            streams.setattr("sys.stdout", out)
            with files[1].open("w", encoding=encoding, errors="backslashreplace") as err:  # as Python opens it
                streams.setattr("sys.stderr", err)
                status = cli.main(words)
        text = "".join(file.read_text(encoding) for file in files)
        assert status in (0, 1, 2) and "Unexpected error" not in text and "Traceback" not in text, (words, text)
        assert status == 0 or words[0] not in ("predict", "evaluate", "labels", "import"), (words, text)
    with Project.open(made / "p", write=False) as project:
        assert [info.name for info in project.classes] == [NAME, "defect"][: len(project.classes)]
    found = json.loads((made / "coco" / "annotations" / "instances_default.json").read_text("utf-8"))
    assert NAME in {category["name"] for category in found["categories"]}
