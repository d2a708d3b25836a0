"""Projects and data sets of somebody else that name places outside of their folder: shown and refused, then allowed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from tests.conftest import ROOT
from tests.core.project.foreign_project import foreign
from tests.project_copy import copy_project
from workbench import cli
from workbench.core.problems import UntrustedPlaces
from workbench.core.project.packing import pack, unpack
from workbench.core.project.project import Project
from workbench.core.project.project_json import created_here
from workbench.core.project.sources import trust
from workbench.inference.io.image_io import write_png


@pytest.fixture
def private(tmp_path):
    """Folder of images outside of the project."""
    write_png(tmp_path / "private" / "x.png", np.zeros((20, 20), np.uint8))
    return tmp_path / "private"


def run(capsys, *arguments):
    status = cli.main([*map(str, arguments), "--json"])
    return status, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("source", "shown"),
    [({"path": "{private}"}, "{private}"), ({"relative": "../private"}, "{private}")]
    + [({"path": path}, path) for path in ("/", "//evil.example/share")]
    + [({"path": path}, path) for path in ("/proc", "/dev") if os.name == "posix"],
)
def test_places_are_shown_and_not_read_until_they_are_allowed(tmp_path, private, capsys, source, shown):
    source = {key: value.format(private=private) for key, value in source.items()}
    root = foreign(tmp_path, **source)
    for verb in ("check", "statistics", "sources"):
        status, answer = run(capsys, verb, root)
        place = os.path.normpath(os.path.join(tmp_path, shown.format(private=private)))
        assert status == 1 and f": {place}. " in answer["error"]
        assert "--trust-sources" in answer["error"]
    with pytest.raises(UntrustedPlaces):
        Project.open(root)


def test_option_allows_the_present_folders_and_no_later_ones(tmp_path, private, capsys):
    root = foreign(tmp_path, path=str(private))
    status, answer = run(capsys, "statistics", root, "--trust-sources")
    assert status == 0 and answer["pictures"] == 2
    assert run(capsys, "statistics", root)[0] == 0
    content = json.loads((root / "project.json").read_text("utf-8"))
    content["sources"].append({**content["sources"][1], "name": "more", "path": str(tmp_path)})
    (root / "project.json").write_text(json.dumps(content), "utf-8")
    assert run(capsys, "statistics", root)[0] == 1


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
@pytest.mark.new_processes
def test_network_is_not_contacted_on_opening(tmp_path):
    root = foreign(tmp_path, path="//evil.example/share", relative="../../../../../evil.example/share")
    log = tmp_path / "calls"
    command = ["strace", "-f", "-e", "trace=file", "-o", log, sys.executable, "-m", "workbench", "check", root]
    done = subprocess.run(
        list(map(str, command)),
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=300,
    )
    assert done.returncode == 1 and "//evil.example/share" in done.stderr
    calls = log.read_text("utf-8", "replace")
    assert "project.json" in calls and '"//evil.example' not in calls


@pytest.mark.skipif(sys.platform == "win32", reason="making links needs rights there")
def test_link_in_place_of_the_images_is_a_place_outside(tmp_path, private):
    root = foreign(tmp_path, path="pictures")
    assert Project.open(root, write=False).file.sources[1].name == "ext"
    shutil.rmtree(root / "pictures")
    (root / "pictures").symlink_to(private)
    with pytest.raises(UntrustedPlaces, match="private"):
        Project.open(root)


def test_own_projects_are_trusted_also_after_a_move_and_in_another_process(tmp_path, private, capsys):
    assert run(capsys, "create", tmp_path / "a" / "own", "--pictures", private)[0] == 0
    with Project.create(tmp_path / "b" / "own") as project:
        project.add_source(private)
    for folder in ("a", "b"):
        Project.open(tmp_path / folder / "own").close()
        (tmp_path / folder).rename(tmp_path / f"{folder} moved")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    for folder in ("a", "b"):
        command = [sys.executable, "-m", "workbench", "statistics", str(tmp_path / f"{folder} moved" / "own")]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_copy_of_a_project_reads_from_no_other_place_than_its_original(tmp_path, private, capsys):
    """A name that is relative to the project leads to another place from a copy, unless the folder was moved."""
    root = foreign(tmp_path / "a" / "b", relative="../../../private")
    assert run(capsys, "statistics", root, "--trust-sources")[0] == 0
    copy = tmp_path / "c" / "b" / "copy"
    shutil.copytree(root, copy)
    assert run(capsys, "statistics", copy)[0] == 0  # the same place
    Project.open(copy, identity="copy").close()
    assert run(capsys, "statistics", root)[0] == 0
    deeper = tmp_path / "d" / "e" / "b" / "copy"
    (tmp_path / "d" / "private").mkdir(parents=True)
    shutil.copytree(root, deeper)
    status, answer = run(capsys, "statistics", deeper)
    assert status == 1 and str(tmp_path / "d" / "private") in answer["error"]


def test_folder_of_another_computer_is_missing_not_refused(tmp_path):
    root = foreign(tmp_path, path="/no/such/folder")
    assert [source.name for source in Project.open(root, write=False).missing_sources()] == ["ext"]


def test_unpacked_project_is_not_read_outside_of_its_folder(tmp_path, private, capsys):
    root = foreign(tmp_path, path="pictures")
    pack(Project.open(root, write=False), tmp_path / "p.zip")
    theirs = unpack(tmp_path / "p.zip", tmp_path / "out")
    assert Project.open(theirs, write=False).images()
    content = json.loads((theirs / "project.json").read_text("utf-8"))
    content["sources"][1] |= {"path": str(private), "relative": ""}
    (theirs / "project.json").write_text(json.dumps(content), "utf-8")
    shutil.make_archive(str(tmp_path / "q"), "zip", tmp_path / "out")
    status, answer = run(capsys, "unpack", tmp_path / "q.zip", tmp_path / "again")
    assert status == 0 and answer["pictures"] is None


def test_data_set_elsewhere_is_shown_before_it_is_read(tmp_path, private, capsys):
    with Project.create(tmp_path / "own", classes=["dent"]):
        pass
    (private / "x.txt").write_text("0 0.5 0.5 0.2 0.2\n")
    (tmp_path / "set").mkdir()
    file = tmp_path / "set" / "data.yaml"
    for place in (private, "//evil.example/share"):
        file.write_text(f"path: {place}\ntrain: .\nnames: [dent]\n", "utf-8")
        for more in ((), ("--dry-run",)):
            status, answer = run(capsys, "import", tmp_path / "own", file, *more)
            assert status == 1 and os.path.normpath(place) in answer["error"]
    file.write_text(f"path: {private}\ntrain: .\nnames: [dent]\n", "utf-8")
    status, answer = run(capsys, "import", tmp_path / "own", file, "--trust-sources")
    assert (status, answer["labelled"]) == (0, 1)


def test_places_are_remembered_for_the_last_projects(tmp_path, private):
    for number in range(600):
        trust(f"{number:032x}", {str(private): str(private)})
    root = foreign(tmp_path, path=str(private))
    content = json.loads((root / "project.json").read_text("utf-8"))
    (root / "project.json").write_text(json.dumps(content | {"id": f"{599:032x}"}), "utf-8")
    Project.open(root, write=False)


def test_projects_created_here_are_known(tmp_path):
    Project.create(tmp_path / "own").close()
    (tmp_path / "received" / "runs").mkdir(parents=True)
    Project.create(tmp_path / "received").close()
    copy_project(tmp_path / "own", tmp_path / "copy")
    foreign(tmp_path / "foreign")
    known = [name for name in ("own", "copy", "received", "foreign", "none") if created_here(tmp_path / name)]
    assert known == ["own", "copy"]
