"""Files that another program holds, by sharing mode: nothing is lost, nothing false is told, nothing is left over.

On Windows only: elsewhere a program cannot refuse others the access to a file by opening it.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.console_output import inside
from tests.session.conftest import dot, settle, show
from tests.spot_images import scene
from tests.torture.file_holder import SHARING, held, holding
from workbench.core.problems import Problem
from workbench.core.project import annotation
from workbench.core.project.class_merge import ClassMerge
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png
from workbench.session.session import Session

pytestmark = pytest.mark.skipif(sys.platform != "win32", reason="an open file can be replaced and removed here")

COUNT = 4
SHORT = ("--model", "unet", "--epochs", "1", "--set", "widths=[4,8]", "--set", "patch=32", "--set", "validations=1")


@pytest.fixture
def labeled(tmp_path) -> Path:
    """Folder of images with labels of LabelMe, all of one class, "spot"."""
    folder = tmp_path / "in"
    for number in range(COUNT):
        x, y = 10 + 20 * number, 30
        write_png(folder / f"p{number}.png", scene(number, (x, y))[0])
        corners = [[x, y], [x + 24, y], [x + 24, y + 24], [x, y + 24]]
        shape = {"label": "spot", "points": corners, "shape_type": "polygon", "group_id": None, "flags": {}}
        size = {"imageHeight": 120, "imageWidth": 160, "imagePath": f"p{number}.png", "imageData": None}
        content = {"version": "5.0.1", "flags": {}, "shapes": [shape], **size}
        (folder / f"p{number}.json").write_text(json.dumps(content), "utf-8")
    return folder


def run(capsys, *arguments) -> dict:
    status, out, err = inside(capsys, *arguments, "--json")
    assert status == 0, (arguments, out, err)
    return json.loads(out)


def masks(root: Path) -> dict[str, np.ndarray]:
    with Project.open(root, write=False) as project:
        return {key: annotation.read_mask(project.mask_path(key)) for key in project.images()}


def same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[key], other[key]) for key in one)


def leftovers(*folders: Path) -> list[Path]:
    paths = [path for folder in folders for path in folder.rglob("*")]
    return [path for path in paths if path.suffix in (".part", ".tmp") or path.parent.name == "kept"]


@pytest.mark.parametrize("sharing", SHARING)
def test_commands_with_files_held_for_a_moment(sharing, tmp_path, labeled, capsys):
    work = tmp_path / "work"
    work.mkdir()
    root = work / "p"
    with holding(work, SHARING[sharing], 20, 150):
        assert run(capsys, "create", root, "--pictures", labeled, "--classes", "pit")["pictures"] == COUNT
        imported = run(capsys, "import", root, labeled)
        assert imported["labelled"] == COUNT and not imported["skipped"]
        before = masks(root)
        statistics = run(capsys, "statistics", root)
        assert statistics["classes"][1]["pictures"] == COUNT
        assert {found["kind"] for found in run(capsys, "check", root)["findings"]} == {"unused_class"}
        assert run(capsys, "labels", root, "--format", "png", work / "labels")
        run(capsys, "pack", root, work / "p.zip")
        run(capsys, "unpack", work / "p.zip", work / "unpacked")
        with Project.open(root) as project:
            spot = next(info.id for info in project.classes if info.name == "spot")
            pit = next(info.id for info in project.classes if info.name == "pit")
            result = ClassMerge.prepare(project, [spot], pit).execute()
            assert result.images == COUNT and not result.problems
        assert all(set(np.unique(mask)) == {0, pit} for mask in masks(root).values())
        run(capsys, "import", root, "--undo")
        assert same(masks(root), before)
        run(capsys, "import", root, "--undo")
        with Project.open(root, write=False) as project:
            assert not any(project.mask_path(key).exists() for key in project.images())
        assert inside(capsys, "import", root, "--undo")[0] == 1
    (unpacked,) = (path.parent for path in (work / "unpacked").rglob("project.json"))
    assert same(masks(unpacked), before)
    assert len([*(work / "labels").rglob("*.png")]) == COUNT
    assert not leftovers(work)


@pytest.mark.parametrize("sharing", SHARING)
def test_painting_with_files_held_for_a_moment(sharing, tmp_path, labeled, qtbot):
    root = tmp_path / "work" / "p"
    with Project.create(root, classes=["spot"], images=labeled):
        pass
    session, met = Session(save_delay=0.02, retry=0.1), []
    session.problem_met.connect(met.append)
    painted = {}
    with holding(root, SHARING[sharing], 20, 150):
        assert session.open_project(root)
        settle(session, qtbot)
        for turn in range(2):
            for key in session.keys:
                show(session, qtbot, key)
                for stroke in range(5):
                    dot(session, 20 + 20 * stroke, 20 + 40 * turn)
                    qtbot.wait(30)
                painted[key] = session.mask.copy()
        assert session.flush()
        session.end()
        assert same(masks(root), painted) and not met
    assert not leftovers(root) and not [*(root / "journal").glob("*.bin"), *(root / "journal").glob("*.note")]


@pytest.mark.slow
@pytest.mark.parametrize("sharing", SHARING)
def test_training_and_export_with_files_held_for_a_moment(sharing, tmp_path, labeled, capsys):
    root = tmp_path / "work" / "p"
    with Project.create(root, classes=["spot"], images=labeled):
        pass
    run(capsys, "import", root, labeled)
    with holding(tmp_path / "work", SHARING[sharing], 20, 150):
        trained = run(capsys, "train", root, *SHORT)
        dataset = json.loads((root / "runs" / Path(trained["run"]).name / "dataset.json").read_text("utf-8"))
        assert len(dataset["items"]) == COUNT
        assert run(capsys, "evaluate", root, "--split", "all")["pictures"]
        exported = run(capsys, "export", root, "--out", tmp_path / "work" / "line")
        assert exported["formats"]
    assert not leftovers(tmp_path / "work")


def persist(action: Callable[[], Any], tries: int = 15) -> Any:
    """Return what `action` returns once no file that it needs is held. Refusals before must give that reason."""
    for _ in range(tries):
        try:
            return action()
        except (Problem, Refused) as refused:
            assert "another program has it open" in str(refused)
            print("refused:", ascii(str(refused)), file=sys.__stdout__)
            time.sleep(2)
    raise TimeoutError


class Refused(Exception):
    pass


def verb(capsys, *arguments) -> Callable[[], dict]:
    def run() -> dict:
        capsys.readouterr()
        status, out, err = inside(capsys, *arguments, "--json")
        if status:
            raise Refused(out + err)
        return json.loads(out)

    return run


def settled(*folders: Path) -> bool:
    """Return True once no temporary file is left; what was held is removed with a delay."""
    for thread in threading.enumerate():
        if thread.name == "removal":
            thread.join()
    return not leftovers(*folders) and not [path for folder in folders for path in folder.rglob("*.part*")]


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("sharing", SHARING)
def test_commands_with_some_files_held_for_five_seconds(sharing, tmp_path, labeled, capsys, qtbot):
    """Test that a command ends well or says which file another program has open, and then ends well when repeated."""
    work = tmp_path / "work"
    work.mkdir()
    root, made = work / "p", work / "made"
    with holding(work, SHARING[sharing], 4900, 5000, 0.15):
        persist(verb(capsys, "create", root, "--images", labeled, "--classes", "pit"))
        persist(verb(capsys, "import", root, labeled))
        before = persist(lambda: masks(root))
        assert len(before) == COUNT and all(set(np.unique(mask)) == {0, 2} for mask in before.values())
        statistics = persist(verb(capsys, "statistics", root))
        assert statistics["classes"][1]["pictures"] + statistics["broken"] == COUNT
        persist(verb(capsys, "check", root))
        persist(verb(capsys, "labels", root, "--format", "png", made / "labels"))
        persist(verb(capsys, "pack", root, work / "p.zip"))
        persist(verb(capsys, "unpack", work / "p.zip", made))
        session = Session(save_delay=0.02, retry=0.1)
        assert session.open_project(root)
        settle(session, qtbot)
        for key in session.keys:
            show(session, qtbot, key)
            dot(session, 20, 100)
            before[key] = session.mask.copy()
        qtbot.waitUntil(session.flush, timeout=30_000)
        session.end()
        assert same(persist(lambda: masks(root)), before)

        def merge() -> None:
            with Project.open(root) as project:
                assert not ClassMerge.prepare(project, [2], 1).execute().problems

        persist(merge)
        assert all(set(np.unique(mask)) == {0, 1} for mask in persist(lambda: masks(root)).values())
        persist(verb(capsys, "import", root, "--undo"))
        if not same(persist(lambda: masks(root)), before):  # a refused merge has kept a held mask
            persist(verb(capsys, "import", root, "--undo"))
        assert same(persist(lambda: masks(root)), before)
        persist(verb(capsys, "import", root, labeled, "--overwrite"))  # a repetition is another import
        assert all(set(np.unique(mask)) == {0, 2} for mask in persist(lambda: masks(root)).values())
    persist(verb(capsys, "statistics", root))  # opens the project, which removes what an interrupted write has left
    assert settled(work)


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("sharing", SHARING)
def test_training_and_export_with_some_files_held_for_five_seconds(sharing, tmp_path, labeled, capsys):
    """Test also that an export, which writes too many files to meet no held one, leaves nothing over."""
    work = tmp_path / "work"
    root = work / "p"
    with Project.create(root, classes=["spot"], images=labeled):
        pass
    run(capsys, "import", root, labeled)
    with holding(work, SHARING[sharing], 4900, 5000, 0.15):
        persist(verb(capsys, "train", root, *SHORT))
        assert persist(verb(capsys, "evaluate", root, "--split", "all"))["pictures"] == COUNT
        export = verb(capsys, "export", root, "--out", work / "line", "--formats", "onnx")
        try:
            persist(export, tries=3)
        except TimeoutError:
            assert not (work / "line").exists() or not any((work / "line").iterdir())
            assert settled(work / "p" / "exports", work)
    if not (work / "line").exists():
        assert export()["formats"]
    assert inside(capsys, "release", "verify", work / "line")[0] == 0 and settled(work)


def test_mask_that_stays_held_stops_only_itself(tmp_path, labeled, capsys):
    root = tmp_path / "p"
    with Project.create(root, classes=["spot"], images=labeled) as project:
        key, *others = project.images()
        path = project.mask_path(key)
        for each in (key, *others):
            annotation.save_mask(project, each, np.full((120, 160), 1, np.uint8))
    with held(path):
        status, out, err = inside(capsys, "import", root, labeled, "--overwrite", "--json")
        assert status == 1, err  # not all that was found is used
        answer = json.loads(out)
        assert answer["labelled"] == COUNT - 1 and [entry["path"] for entry in answer["skipped"]] == [path.as_posix()]
        status, _, err = inside(capsys, "train", root, "--plan", "--model", "unet")
        assert status == 1 and str(path) in err
        assert inside(capsys, "statistics", root)[0] == 0
        assert inside(capsys, "labels", root, "--format", "png", tmp_path / "labels")[0] in (0, 1)
    found = masks(root)
    assert (found[key] == 1).all() and all((found[other] == 0).any() for other in others)
    run(capsys, "import", root, "--undo")
    assert all((mask == 1).all() for mask in masks(root).values())
