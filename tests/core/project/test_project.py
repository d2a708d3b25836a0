"""Project folder: creation, opening, lock, sources, names, formats, and broken files."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from tests.conftest import ROOT
from workbench.core import problems
from workbench.core.project.project import Project
from workbench.core.project.project_json import FORMAT, read_project_file
from workbench.inference.io.image_io import write_png


def picture(path, shape=(8, 9)):
    write_png(path, np.full(shape, 90, np.uint8))


def file_with(**content):
    return json.dumps({"format": FORMAT, "name": "x", **content})


def test_a_new_project_is_stored_completely(tmp_path):
    with Project.create(tmp_path / "p", classes=["scratch", "pit"], verdicts=["OK", "NG"]) as project:
        written = project.file
    with Project.open(tmp_path / "p") as project:
        assert project.file == written
        assert [(c.id, c.name, c.key) for c in project.classes] == [(1, "scratch", "1"), (2, "pit", "2")]
    assert {"pictures", "masks", "notes", "runs", "exports", "journal"} <= {p.name for p in (tmp_path / "p").iterdir()}


def test_creating_over_a_project_is_refused(project):
    with pytest.raises(problems.ProjectExists):
        Project.create(project.root)


def test_any_file_name_is_a_image(project):
    names = ["划痕 (3).png", "a [1].png", "ü/–ß.png", "😀.png", "a'b.png", "many.dots.in.it.png"]
    names += [] if sys.platform == "win32" else ['a"b.png']
    for name in names:
        picture(project.root / "pictures" / name)
    (project.root / "pictures" / ".hidden.png").write_bytes(b"")
    (project.root / "pictures" / "notes.txt").write_text("no")
    assert sorted(project.images()) == sorted(names)
    for name in names:
        assert project.image_path(name).exists()


def test_images_come_in_natural_order(project):
    for name in ("p10.png", "p9.png", "p1.png"):
        picture(project.root / "pictures" / name)
    assert project.images() == ["p1.png", "p9.png", "p10.png"]


def test_two_images_of_one_stem_have_separate_masks(project):
    assert project.mask_path("a.jpg") != project.mask_path("a.png")


def test_an_external_source_is_used_in_place(project, tmp_path):
    picture(tmp_path / "line 3" / "sub" / "x.png")
    source = project.add_source(tmp_path / "line 3")
    assert project.add_source(tmp_path / "line 3") is source
    assert project.images() == ["@line 3/sub/x.png"]
    assert project.image_path("@line 3/sub/x.png") == tmp_path / "line 3" / "sub" / "x.png"
    assert project.mask_path("@line 3/sub/x.png").is_relative_to(project.root)
    source.ignore = ["sub/*"]
    assert project.images() == []


@pytest.mark.parametrize("key", ["../outside.png", "/etc/passwd", "a/../../b.png"])
def test_no_key_leaves_the_project(project, key):
    with pytest.raises(problems.ProjectBroken):
        project.image_path(key)
    with pytest.raises(problems.ProjectBroken):
        project.mask_path(key)


def test_the_second_writer_gets_the_name_of_the_first(project):
    with pytest.raises(problems.ProjectLocked) as caught:
        Project.open(project.root)
    assert caught.value.fields["pid"] == os.getpid()
    with Project.open(project.root, write=False) as reader, pytest.raises(problems.ProjectReadOnly):
        reader.save()


def test_the_lock_of_a_killed_process_is_released(tmp_path):
    Project.create(tmp_path / "p").close()
    code = (
        "import os, sys\n"
        "from workbench.core.project.project import Project\n"
        "project = Project.open(sys.argv[1])\n"
        "os.kill(os.getpid(), 9)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "p")], cwd=ROOT, env=environment)
    assert done.returncode != 0
    Project.open(tmp_path / "p").close()


def test_ids_are_never_reused(project):
    project.add_class("pit")
    project.file.classes.pop()
    project.file.retired_ids.append(2)
    assert project.add_class("stain").id == 3


@pytest.mark.parametrize("name", ["scratch", "  ", ""])
def test_bad_class_names_are_refused(project, name):
    with pytest.raises(problems.BadClass):
        project.add_class(name)


def test_253_classes_fit_and_no_more(project):
    for i in range(252):
        project.add_class(f"c{i}", save=False)
    with pytest.raises(problems.BadClass):
        project.add_class("one too many")


def test_a_folder_without_project_json_is_refused(tmp_path):
    with pytest.raises(problems.NotAProject, match="it has no project.json"):
        Project.open(tmp_path)
    with pytest.raises(problems.NotAProject, match="mistyped does not exist"):
        Project.open(tmp_path / "mistyped")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", problems.ProjectBroken),
        ("[]", problems.ForeignProject),
        ('{"name": "x", "version": 2}', problems.ForeignProject),
        (json.dumps({"format": FORMAT + 1, "name": "x"}), problems.ProjectTooNew),
        (file_with(classes=[{"id": 254, "name": "a", "color": "#112233"}]), problems.ProjectBroken),
        (file_with(classes=[{"id": 1, "name": n, "color": "#112233"} for n in "ab"]), problems.ProjectBroken),
        (file_with(sources=[{"name": "../up", "path": "/"}]), problems.ProjectBroken),
    ],
)
def test_a_broken_or_newer_project_is_refused_and_unchanged(tmp_path, content, problem):
    (tmp_path / "project.json").write_text(content)
    with pytest.raises(problem) as caught:
        read_project_file(tmp_path)
    assert "{" not in str(caught.value)
    assert (tmp_path / "project.json").read_text() == content


def test_copying_never_overwrites_another_image(project, tmp_path):
    picture(tmp_path / "a.png")
    picture(tmp_path / "b" / "a.png", (5, 5))
    assert project.copy_image(tmp_path / "a.png", "a.png") == "a.png"
    assert project.copy_image(tmp_path / "a.png", "a.png") == "a.png"
    assert project.copy_image(tmp_path / "b" / "a.png", "a.png") == "a-2.png"


def test_every_problem_has_a_text_with_its_fields():
    """Each pattern names in braces the fields that the code provides."""
    import string

    for kind in vars(problems).values():
        if isinstance(kind, type) and issubclass(kind, problems.Problem):
            fields = {f for text in (kind.message, kind.advice) for _, f, _, _ in string.Formatter().parse(text) if f}
            sentence = str(kind(**{f: "X" for f in fields}))
            assert sentence and "{" not in sentence
