"""Verb `import`: preview, mapping of classes, conflicts, undo."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from workbench import cli
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png


@pytest.fixture
def folder(tmp_path) -> Path:
    """Two images with masks of the classes "pit" and "stain"."""
    folder = tmp_path / "in"
    for number in range(2):
        write_png(folder / "images" / f"p{number}.png", np.full((16, 24), 60, np.uint8))
        mask = np.zeros((16, 24), np.uint8)
        mask[2:6, 2:9], mask[8:12, 3:8] = 1, 2
        write_png(folder / "masks" / f"p{number}.png", mask)
    (folder / "labels.txt").write_text("__background__\npit\nstain\n", "utf-8")
    return folder


@pytest.fixture
def root(tmp_path) -> Path:
    Project.create(tmp_path / "p", classes=["scratch"]).close()
    return tmp_path / "p"


def run(capsys, *arguments, status: int = 0) -> dict:
    found = cli.main(["import", *map(str, arguments), "--json"])
    out = capsys.readouterr().out
    assert found == status, out
    return json.loads(out)


def tally(**counts) -> dict[str, int]:
    full = {"used": 0, "kept": 0, "refused": 0, "not_understood": 0} | counts
    return {"seen": sum(full.values()), **full}


def files(root: Path) -> dict[str, bytes]:
    names = ("project.json", "pictures", "masks", "notes")
    return {str(p): p.read_bytes() for name in names for p in [root / name, *(root / name).rglob("*")] if p.is_file()}


def test_dry_run_changes_nothing(root, folder, capsys):
    before = files(root)
    plan = run(capsys, root, folder, "--dry-run", "--map", "pit=scratch", "--ignore-class", "stain")
    assert files(root) == before
    assert (plan["format"], plan["pictures"], plan["labelled"], plan["new"], plan["matched"]) == ("png", 2, 2, 2, 0)
    assert plan["classes"] == [
        {"name": "pit", "target": "scratch", "known": True, "pictures": 2, "regions": 2, "boxes": 0},
        {"name": "stain", "target": None, "known": False, "pictures": 2, "regions": 2, "boxes": 0},
    ]


def test_an_image_whose_label_is_refused_remains_new_and_the_status_is_1(root, folder, capsys):
    write_png(folder / "masks" / "p1.png", np.ones((5, 5), np.uint8))  # not the size of its image
    plan = run(capsys, root, folder, "--dry-run", status=1)
    assert (plan["pictures"], plan["labelled"], plan["new"], plan["matched"]) == (2, 1, 2, 0)
    result = run(capsys, root, folder, status=1)
    for report in (plan, result):
        assert len(report["skipped"]) == 1
        assert report["ledger"]["label_files"] == tally(used=1, refused=1)
        assert report["ledger"]["images"] == tally(used=2) and not report["ledger"]["complete"]
    with Project.open(root, write=False) as project:
        assert set(project.images()) == {"images/p0.png", "images/p1.png"}
        assert annotation.load_note(project, "images/p1.png").status == "new"


def test_strict_imports_nothing_that_is_not_complete(root, folder, capsys):
    before = files(root)
    write_png(folder / "masks" / "p1.png", np.ones((5, 5), np.uint8))  # not the size of its image
    assert cli.main(["import", str(root), str(folder), "--strict"]) == 1
    assert "Nothing was imported" in capsys.readouterr().err and files(root) == before


def test_the_answers_to_a_question_about_masks_are_printed(root, folder, capsys):
    (folder / "images").rename(folder / "cam1")
    for number in range(2):
        write_png(folder / "cam2" / f"p{number}.png", np.full((16, 24), 90, np.uint8))
    assert cli.main(["import", str(root), str(folder)]) == 1
    printed = "".join(capsys.readouterr())
    assert all(f"--pair masks={name}: The masks in “masks” belong to" in printed for name in ("cam1", "cam2"))
    run(capsys, root, folder, "--pair", "masks=cam2")
    assert [path.parent.name for path in sorted((root / "masks").rglob("*.png"))] == ["cam2", "cam2"]


def test_undo_restores_the_project(root, folder, capsys):
    before = files(root)
    run(capsys, root, folder)
    assert files(root) != before
    undone = run(capsys, root, "--undo")
    assert undone["pictures"] == 2 and undone["kept"] == [] and files(root) == before
    assert cli.main(["import", str(root), "--undo"]) == 1
    assert "no import that can be undone" in capsys.readouterr().err


def test_conflicts(root, folder, capsys):
    run(capsys, root, folder)
    assert run(capsys, root, folder)["labelled"] == 0
    assert run(capsys, root, folder, "--conflicts", "replace")["labelled"] == 2
    assert run(capsys, root, folder, "--overwrite")["labelled"] == 2
    assert run(capsys, root, folder, "--conflicts", "merge")["labelled"] == 2


@pytest.mark.parametrize("arguments", [["--map", "pit"], ["--map", "=x"], [], ["--dry-run", "--undo"]])
def test_wrong_use(root, arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        raise SystemExit(cli.main(["import", str(root), *arguments]))
    assert ended.value.code == 2
    capsys.readouterr()


def test_several_label_files_and_background_images(root, tmp_path, capsys):
    folder = tmp_path / "yolo"
    for number in range(3):
        write_png(folder / f"p{number}.png", np.full((16, 24), 60 + number, np.uint8))
    for number in range(2):
        (folder / f"p{number}.txt").write_text("0 0.2 0.2 0.5 0.2 0.5 0.4 0.2 0.4\n")
    plan = run(capsys, root, folder / "p0.txt", folder / "p1.txt", "--dry-run")
    assert (plan["format"], plan["labelled"], plan["background"]) == ("yolo", 2, 0)
    assert run(capsys, root, folder, "--dry-run")["background"] == 1
    result = run(capsys, root, folder, "--background")
    assert (result["labelled"], result["background"]) == (3, 1)
    with Project.open(root) as project:
        assert annotation.load_note(project, "p2.png").status == "done"


def test_a_zip_archive_is_imported_alone(root, folder, tmp_path, capsys):
    (tmp_path / "labels.zip").write_bytes(b"")
    assert cli.main(["import", str(root), str(tmp_path / "labels.zip"), str(folder)]) == 2
    assert "zip archive" in capsys.readouterr().err
