"""Images kept by the server and a watched folder, and their way into a project."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os

import numpy as np
import pytest

from tests.cli.serving.conftest import gray_export, limited_export, png, served  # noqa: F401
from tests.inference.conftest import BRIGHT, DARK, UNLIKE, spotted
from workbench import cli
from workbench.cli.kept_images import KeepPlan, KeptImages
from workbench.core.project import annotation, trash
from workbench.core.project.project import Project
from workbench.core.suggestions.line_images import read_kept
from workbench.core.suggestions.suggestion_files import load_stored
from workbench.inference.predictor import Predictor

SPOTS = spotted(np.random.default_rng(20))


def good(seed: int) -> np.ndarray:
    return np.clip(np.random.default_rng(seed).normal(128, 25, (150, 230)), 70, 180).astype(np.uint8)


def kept(folder) -> list[str]:
    return [image.record["kept"] for image in read_kept(folder)[0]]


@pytest.fixture
def keep(limited_export, tmp_path):  # noqa: F811
    """Keep images as the server does; the last argument replaces parts of the plan."""
    predictor = Predictor.open(limited_export)

    def keep(*images: np.ndarray, **changes) -> None:
        plan = {"limit": 1e9, "age": 1e6, "every": 0, **changes}
        with KeptImages(KeepPlan(tmp_path / "inbox", **plan), predictor.settings, pytest.fail) as ring:
            for image in images:
                ring.offer(png(image), predictor.predict(image), "part")

    return keep


def test_defective_and_unlike_images_are_kept_once_and_a_sample_of_the_others(keep, tmp_path):
    keep(SPOTS, good(1), np.full((150, 230), UNLIKE["black"], np.uint8), SPOTS)
    assert sorted(kept(tmp_path / "inbox")) == ["NG", "unlike"]
    keep(SPOTS, good(2), every=1)
    assert sorted(kept(tmp_path / "inbox")) == ["NG", "sample", "unlike"]
    images, broken = read_kept(tmp_path / "inbox")
    assert not broken and all(image.mask_path.exists() and image.record["name"] == "part" for image in images)
    assert {hashlib.sha256(image.path.read_bytes()).hexdigest() for image in images} == {
        image.record["sha256"] for image in images
    }


def test_the_oldest_images_go_at_the_limits_of_size_and_age(keep, tmp_path):
    folder = tmp_path / "inbox"
    folder.mkdir()
    (folder / "20190101 own.png").write_bytes(bytes(10**6))  # a file of somebody else stays
    keep(good(0), good(1), good(2), every=1)
    stems = sorted(image.path.stem for image in read_kept(folder)[0])
    for path in folder.glob(f"{stems[0]}.*"):
        path.rename(folder / f"20200101T000000000{path.name[18:]}")
    keep(good(3), every=1)  # within the age of the plan, which is 12 days, are the others
    assert sorted(image.path.stem for image in read_kept(folder)[0])[:2] == stems[1:]
    size = sum(path.stat().st_size for path in folder.glob("2*T*"))
    keep(good(4), every=1, limit=0.9 * size)
    left = [image.path.stem for image in read_kept(folder)[0]]
    assert len(left) == 2 and not set(left) & set(stems[:2]) and len(list(folder.glob("*.*"))) == 8
    assert {path.name for path in (folder / ".marks").iterdir()} == {stem[-16:] for stem in left}


def test_several_workers_keep_an_image_once_and_limit_those_of_former_ones(limited_export, tmp_path):  # noqa: F811
    predictor, folder = Predictor.open(limited_export), tmp_path / "inbox"
    images = [good(number) for number in range(8)]

    def run(limit: float, rows: int, *offered: np.ndarray) -> None:
        plan = KeepPlan(folder, limit, 1e6, 1)
        with contextlib.ExitStack() as stack:
            rings = [
                stack.enter_context(KeptImages(plan, predictor.settings, pytest.fail, row, rows)) for row in range(rows)
            ]
            for image in offered:
                for ring in rings:
                    ring.offer(png(image), predictor.predict(image), "part")

    run(1e9, 4, *images)
    assert len(kept(folder)) == 8
    former = folder / "3"  # of an earlier version, whose workers had folders of their own
    former.mkdir()
    for path in sorted(folder.glob("2*"))[:3]:
        path.rename(former / path.name)
    (folder / ".marks" / "0123456789abcdef").touch()
    os.utime(folder / ".marks" / "0123456789abcdef", (1, 1))
    run(1e9, 2, *images)
    assert len(kept(folder)) == 8 and len(list((folder / ".marks").iterdir())) == 8
    run(1.0, 2, good(9))
    assert kept(folder) == [] and not list(former.iterdir()) and not list((folder / ".marks").iterdir())


def test_the_server_keeps_images_as_they_arrived(limited_export, tmp_path):  # noqa: F811
    from tests.cli.serving.conftest import Gated, Served
    from workbench.cli.serving.http_app import create_application
    from workbench.cli.serving.request_handler import RequestHandler
    from workbench.cli.serving.responses import Limits

    predictor = Predictor.open(limited_export)
    plan = KeepPlan(tmp_path / "inbox", 1e9, 1e6, 0)
    with KeptImages(plan, predictor.settings, pytest.fail, 1, 2) as ring:
        app = create_application(RequestHandler(predictor, Limits(), on_image=ring.offer))
        server = Served(app, Gated(predictor.engine), predictor)
        answer = server.predict(png(SPOTS)).json()
        app.state.handler.close()
    (image,) = read_kept(tmp_path / "inbox")[0]
    assert image.path.read_bytes() == png(SPOTS)
    assert image.record["regions"] == answer["regions"] and image.record["kept"] == "NG"


def workbench(capsys, *arguments: object) -> dict:
    assert cli.main([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_kept_images_are_taken_into_the_project_once_as_suggestions_or_labels(keep, tmp_path, capsys):
    keep(SPOTS, good(3), every=1)
    folder = tmp_path / "inbox"
    with Project.create(tmp_path / "p", classes=["other", DARK.name, BRIGHT.name]) as project:
        root = project.root
    listed = workbench(capsys, "inbox", root, folder)["pictures"]
    assert sorted((entry["kept"], entry["taken"]) for entry in listed) == [("NG", False), ("sample", False)]
    (key,) = workbench(capsys, "inbox", root, folder, "--take", "--kept", "NG")["taken"]
    with Project.open(root, write=False) as project:
        assert project.image_path(key).read_bytes() == png(SPOTS)
        assert annotation.load_note(project, key).history[-1].detail.startswith("line, 20")
        stored, suggestions = load_stored(project, key)
        assert {suggestion.class_id for suggestion in suggestions} == {2, 3} and stored.model
        assert annotation.load_mask(project, key) is None
    with Project.open(root) as project:
        trash.delete_permanently(project, trash.remove_images(project, [key]).name)
    (other,) = workbench(capsys, "inbox", root, folder, "--take", "--accept")["taken"]
    assert workbench(capsys, "inbox", root, folder, "--take")["taken"] == []
    with Project.open(root, write=False) as project:
        assert annotation.load_note(project, other).status == "done" and not annotation.load_mask(project, other).any()
    with Project.create(tmp_path / "q", classes=[DARK.name, BRIGHT.name]) as project:
        root = project.root
    first, second = sorted(workbench(capsys, "inbox", root, folder, "--take", "--accept")["taken"])
    with Project.open(root, write=False) as project:
        masks = [annotation.load_mask(project, name) for name in (first, second)]
    assert sorted(set(np.unique(mask)) == {0, 1, 2} for mask in masks) == [False, True]


def test_a_prediction_of_an_unknown_class_is_never_accepted_as_background(keep, tmp_path, capsys):
    keep(SPOTS)
    with Project.create(tmp_path / "p", classes=[DARK.name]) as project:
        root = project.root
    done = workbench(capsys, "inbox", root, tmp_path / "inbox", "--take", "--accept")
    assert done["taken"] == [] and "that the project does not have" in done["skipped"][0]["why"]
    with Project.open(root, write=False) as project:
        assert not list(project.images())
    assert len(workbench(capsys, "inbox", root, tmp_path / "inbox", "--take")["taken"]) == 1


def test_changed_and_incomplete_images_are_skipped_with_the_reason(keep, tmp_path, capsys):
    keep(SPOTS, good(3), every=1)
    one, other = read_kept(tmp_path / "inbox")[0]
    one.path.write_bytes(png(good(5)))
    other.path.unlink()
    other.mask_path.unlink()
    with Project.create(tmp_path / "p", classes=[DARK.name]) as project:
        root = project.root
    done = workbench(capsys, "inbox", root, tmp_path / "inbox", "--take")
    assert done["taken"] == [] and [entry["why"].split(": ")[-1].split(".")[0] for entry in done["skipped"]] == [
        "its image is missing",
        "the image is not the one of its record",
    ]
