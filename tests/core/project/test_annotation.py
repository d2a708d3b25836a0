"""Files of masks and notes: exact content, atomic writes, refusal of files that do not fit."""

from __future__ import annotations

import codecs
import json
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from PIL import Image

from tests.disk import fill_up, small_disk
from workbench.cli.verb_runner import run_verb
from workbench.core import problems
from workbench.core.project import annotation
from workbench.core.project.exporting import export_labels
from workbench.core.project.image_row import read_row
from workbench.core.project.importing import import_labels
from workbench.core.project.project import Project
from workbench.core.project.storage import remove_leftovers, write_bytes
from workbench.core.project_check import check
from workbench.core.runs.dataset import collect
from workbench.inference.io.file_access import keep_root
from workbench.inference.io.image_io import write_png


def test_a_mask_is_stored_exactly_with_the_colors_of_classes(project):
    project.add_class("pit", id=253)
    rng = np.random.default_rng(1)
    mask = rng.choice(np.array([0, 1, 253, 254, 255], np.uint8), (67, 41))
    annotation.save_mask(project, "sub/a b.jpg", mask)
    assert np.array_equal(annotation.load_mask(project, "sub/a b.jpg", (41, 67)), mask)
    with Image.open(project.mask_path("sub/a b.jpg")) as file:
        assert file.mode == "P"
        palette = file.getpalette()
        assert palette[3:6] == [0xE6, 0x9F, 0x00]


def test_missing_mask_is_none(project):
    assert annotation.load_mask(project, "a.png") is None


def test_a_mask_of_another_size_is_refused_and_kept(project):
    annotation.save_mask(project, "a.png", np.zeros((5, 6), np.uint8))
    before = project.mask_path("a.png").read_bytes()
    with pytest.raises(problems.MaskWrongSize):
        annotation.load_mask(project, "a.png", (5, 6))
    assert project.mask_path("a.png").read_bytes() == before


def test_an_unknown_class_is_named(project):
    annotation.save_mask(project, "a.png", np.full((5, 6), 77, np.uint8))
    with pytest.raises(problems.MaskUnknownClass) as caught:
        annotation.load_mask(project, "a.png")
    assert "77" in str(caught.value)


def test_a_truncated_mask_is_refused(project):
    annotation.save_mask(project, "a.png", np.zeros((50, 60), np.uint8))
    path = project.mask_path("a.png")
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(problems.MaskBroken):
        annotation.load_mask(project, "a.png")


def test_a_color_image_is_no_mask(project):
    write_png(project.mask_path("a.png"), np.zeros((5, 5, 3), np.uint8))
    with pytest.raises(problems.MaskBroken):
        annotation.load_mask(project, "a.png")


def test_a_failed_save_keeps_the_old_mask(project, monkeypatch):
    annotation.save_mask(project, "a.png", np.zeros((5, 6), np.uint8))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("workbench.inference.io.file_access.Path.replace", full)
    with pytest.raises(problems.CannotWrite) as caught:
        annotation.save_mask(project, "a.png", np.ones((5, 6), np.uint8))
    assert "No space left" in str(caught.value)
    monkeypatch.undo()
    assert not annotation.load_mask(project, "a.png").any()
    assert [p.name for p in project.mask_path("a.png").parent.iterdir()] == ["a.png.png"]


def test_notes_survive_a_round_trip(project):
    note = annotation.Note(verdict="NG", status="done", pin="val", group="lot 7")
    note.add("paint")
    note.add("paint")
    note.add("import png")
    annotation.save_note(project, "a.png", note)
    assert annotation.load_note(project, "a.png") == note
    assert [act.what for act in note.history] == ["paint", "import png"]


def test_a_note_saved_by_an_editor_of_windows_is_read(project):
    note = annotation.Note(verdict="NG", status="done")
    path = project.note_path("a.png")
    path.write_bytes(codecs.BOM_UTF8 + note.model_dump_json(indent=1).replace("\n", "\r\n").encode())
    assert annotation.load_note(project, "a.png") == note


@pytest.mark.parametrize("text", ["{", '{"status": "finished"}', "\x00", "[" * 100_000, "[]", '{"format": "odd"}'])
def test_a_broken_note_is_refused_and_kept(project, text):
    path = project.note_path("a.png")
    path.write_text(text)
    with pytest.raises(problems.NoteBroken):
        annotation.load_note(project, "a.png")
    assert path.read_text() == text


@pytest.mark.parametrize("more", [{}, {"status": "of another kind"}, {"history": 7}])
def test_a_note_of_a_newer_format_is_refused_by_every_reader_and_kept(labeled_project, tmp_path, more):
    key = labeled_project.images()[0]
    path = labeled_project.note_path(key)
    path.write_text(json.dumps({"format": 2, "verdict": "OK", "future": {"a": 1}, **more}))
    data, mask = path.read_bytes(), labeled_project.mask_path(key).read_bytes()
    with pytest.raises(problems.NoteTooNew, match="format 2; this version supports up to 1"):
        annotation.load_note(labeled_project, key)
    assert "newer" in read_row(labeled_project, key).broken
    assert "newer" in next(finding.detail for finding in check(labeled_project) if finding.kind == "broken_note")
    for model in ("unet", "resnet"):
        assert [(one.key, "newer" in one.why) for one in collect(labeled_project, model).skipped] == [(key, True)]
    folder = tmp_path / "in"
    export_labels(labeled_project, folder, format="labelme", keys=labeled_project.images()[1:3])
    label = next(folder.rglob("*.json"))
    content = json.loads(label.read_text())
    content["imagePath"] = key
    (folder / "label.json").write_text(json.dumps(content))
    report = import_labels(labeled_project, folder / "label.json", format="labelme", overwrite=True)
    assert report.labeled == 0 and "newer" in report.skipped[0][1]
    assert path.read_bytes() == data and labeled_project.mask_path(key).read_bytes() == mask


def test_unknown_fields_are_kept(project):
    content = {
        "format": 1,
        "verdict": "NG",
        "future": {"a": [1, None, "é"]},
        "history": [{"when": "2026-01-01T00:00:00", "who": "a", "what": "paint", "detail": "", "tool": "brush"}],
        "decided": [
            {
                "what": "rejected",
                "model": "m",
                "class_id": 1,
                "x": 1,
                "y": 1,
                "width": 9,
                "height": 1,
                "area": 9,
                "why": "dust",
            }
        ],
    }
    path = project.note_path("a.png")
    path.write_text(json.dumps(content))
    note = annotation.load_note(project, "a.png")
    note.pin = "val"
    annotation.save_note(project, "a.png", note.model_copy(deep=True))
    found = json.loads(path.read_text("utf-8"))
    assert {name: found[name] for name in content} == content and found["pin"] == "val"


def test_counts_agree_with_numpy():
    mask = np.random.default_rng(0).integers(0, 256, (200, 100)).astype(np.uint8)
    assert np.array_equal(annotation.counts(mask), np.bincount(mask.ravel(), minlength=256))
    assert annotation.ids_in(mask[:1, :1]) == [mask[0, 0]]


_UNPACK = """
import sys, time
from pathlib import Path
from workbench.core.project.import_images import unpacked
from workbench.core.project.project import Project

with unpacked(Project.open(sys.argv[1], write=False), Path(sys.argv[2])) as folder:
    print(folder.name, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def unpacking(tmp_path):
    """Process that uses an archive unpacked in the project, and the folder of the files."""
    Project.create(tmp_path / "project").close()
    with zipfile.ZipFile(tmp_path / "labels.zip", "w") as archive:
        archive.writestr("images/a.json", "{}")
    arguments = [sys.executable, "-c", _UNPACK, str(tmp_path / "project"), str(tmp_path / "labels.zip")]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        folder = tmp_path / "project" / ".cache" / process.stdout.readline().strip()
        yield process, folder
        process.kill()


def test_files_of_a_killed_import_are_removed(tmp_path, unpacking):
    process, folder = unpacking
    with Project.open(tmp_path / "project") as project:
        remove_leftovers(project.root)
        assert (folder / "images" / "a.json").is_file()  # in use
        process.kill()
        process.wait()
        remove_leftovers(project.root)
    assert [path.name for path in folder.parent.iterdir() if path.name.startswith("import-")] == []


def test_a_folder_without_a_lock_is_removed_and_other_caches_stay(tmp_path):
    with Project.create(tmp_path / "project") as project:
        for name in ("import-abc123_x", "thumbnails", "import"):
            (project.root / ".cache" / name).mkdir(parents=True, exist_ok=True)
            (project.root / ".cache" / name / "file").write_text("x")
        remove_leftovers(project.root)
        remaining = {path.name for path in (project.root / ".cache").iterdir()}
    assert "import-abc123_x" not in remaining and {"thumbnails", "import"} <= remaining


def test_folder_that_was_moved(tmp_path):
    root = tmp_path / "run"
    root.mkdir()
    keep_root(root)
    root.rename(tmp_path / "moved")
    with pytest.raises(problems.WriteFolderMissing, match="moved, renamed or disconnected"):
        write_bytes(root / "last" / "state.json", b"{}")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has another error for it")
def test_name_that_is_too_long(tmp_path):
    with pytest.raises(problems.NameTooLong, match="Shorten the name"):
        write_bytes(tmp_path / ("x" * 300), b"")


def test_full_disk(tmp_path):
    with small_disk(tmp_path / "disk", 64) as disk:
        fill_up(disk)
        with pytest.raises(problems.CannotWrite, match="Free some space") as caught:
            write_bytes(disk / "a", b"x")
        assert type(caught.value) is problems.CannotWrite


def test_a_verb_without_enough_memory_ends_with_a_sentence(capsys):
    class Options:
        verb, json, debug = "check", True, False

        @staticmethod
        def run(options: object, console: object) -> dict[str, object]:
            return {"bytes": bytearray(1 << 62)}

    assert run_verb(Options) == 1
    assert json.loads(capsys.readouterr().out)["error"] == str(problems.NotEnoughMemory())
