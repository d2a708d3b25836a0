"""Option --as-suggestions of the verb predict: a real network on real files, labels unchanged."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from tests.inference.conftest import GRAY_BIAS, GRAY_WEIGHTS, gray_export, gray_settings, spotted, write_onnx
from workbench import cli
from workbench.core.project import annotation
from workbench.core.project.annotation import SuggestionDecision
from workbench.core.project.project import Project
from workbench.core.runs.run import Run
from workbench.core.suggestions.suggestion_files import load_stored, suggestions_path
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import ClassSettings, save_settings
from workbench.inference.predictor import Predictor

__all__ = ["gray_export"]
RUN = "20260101-000000-unet"
KEYS = ["lot 1/0.png", "lot 1/1.png", "图 2.png"]


@pytest.fixture
def root(tmp_path):
    """Return a project with three images: the first labeled as predicted, the second with a rejected suggestion."""
    root = tmp_path / "项目 [1]"
    rng = np.random.default_rng(6)
    with Project.create(root, classes=["dark", "bright"]) as project:
        run = Run(root / "runs" / RUN)
        write_onnx(run.best / "network.onnx", GRAY_WEIGHTS, GRAY_BIAS)
        classes = (ClassSettings(1, "dark", "#ff0000"), ClassSettings(2, "bright", "#00ff80"))
        save_settings(gray_settings(classes=classes, run=RUN), run.best / "model.json")
        (run.root / "recipe.json").write_text("{}")
        predictor = Predictor.open(run.best)
        for number, key in enumerate(KEYS):
            image = spotted(rng, 90, 120)
            write_png(project.image_path(key), image)
            result = predictor.predict(image)
            assert len(result.regions) > 1
            if number == 0:
                annotation.save_mask(project, key, result.mask)
            if number == 1:
                one = result.regions[0]
                box = {"x": one.x, "y": one.y, "width": one.width, "height": one.height, "area": one.area}
                note = annotation.Note(
                    decided=[SuggestionDecision(what="rejected", model=RUN, class_id=one.class_id, **box)]
                )
                annotation.save_note(project, key, note)
    return root


def run_predict(capsys, *arguments) -> tuple[int, dict, str]:
    status = cli.main(["predict", *map(str, arguments), "--as-suggestions", "--json"])
    text = capsys.readouterr()
    return status, json.loads(text.out), text.err


def files(root) -> dict:
    return {
        path.relative_to(root): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and not {"proposals", ".cache"} & set(path.relative_to(root).parts)
    }


def test_suggestions_for_a_whole_project(root, capsys):
    before = files(root)
    status, found, _ = run_predict(capsys, RUN, root)
    assert status == 0 and files(root) == before
    assert [entry["key"] for entry in found["pictures"]] == KEYS and found["skipped"] == []
    project = Project.open(root, write=False)
    regions = {key: Predictor.open(root / "runs" / RUN / "best").predict(_read(project, key)).regions for key in KEYS}
    by_key = {entry["key"]: entry["regions"] for entry in found["pictures"]}
    assert by_key[KEYS[0]] == []  # everything predicted is labeled already
    assert len(by_key[KEYS[1]]) == len(regions[KEYS[1]]) - 1  # one was rejected
    assert sorted(r["area"] for r in by_key[KEYS[2]]) == sorted(r.area for r in regions[KEYS[2]])
    assert found["proposals"] == sum(map(len, by_key.values()))
    for key in KEYS:
        stored, proposals = load_stored(project, key)
        assert (stored.model, stored.width, stored.height) == (RUN, 120, 90) and stored.fingerprint
        assert len(proposals) == len(by_key[key])
        for one in proposals:  # exactly the predicted pixels
            mask = Predictor.open(root / "runs" / RUN / "best").predict(_read(project, key)).mask
            assert (mask[one.selection.rect.slices][one.selection.inside] == one.class_id).all()


def _read(project, key):
    from workbench.core.images import image_files

    return image_files.read(project.image_path(key))


def test_suggestions_for_images_by_path_and_continue(root, capsys, tmp_path):
    image = root / "pictures" / KEYS[2]
    other_image = tmp_path / "other_image.png"
    shutil.copy(image, other_image)
    status, found, _ = run_predict(capsys, root / "runs" / RUN, image, other_image)
    assert status == 0 and [entry["key"] for entry in found["pictures"]] == [KEYS[2]]
    assert found["skipped"] == [{"path": other_image.as_posix(), "why": "not an image of this project"}]
    project = Project.open(root, write=False)
    stamp = suggestions_path(project, KEYS[2]).stat().st_mtime_ns
    assert not suggestions_path(project, KEYS[0]).exists()
    status, again, _ = run_predict(capsys, "last", root, "--continue")
    assert status == 0 and suggestions_path(project, KEYS[2]).stat().st_mtime_ns == stamp
    assert again["pictures"][2]["regions"] == found["pictures"][0]["regions"] and len(again["pictures"]) == 3
    suggestions_path(project, KEYS[2]).write_text("{")
    assert run_predict(capsys, RUN, root, "--continue")[0] == 0 and load_stored(project, KEYS[2]) is not None


def test_classes_of_another_export_are_matched_by_name(root, gray_export, capsys):
    status, found, _ = run_predict(capsys, gray_export, root)
    assert status == 0 and found["proposals"] == 0  # a model with other classes
    with Project.open(root) as project:
        project.add_class("亮点")
    status, found, _ = run_predict(capsys, gray_export, root)
    assert {r["class_name"] for entry in found["pictures"] for r in entry["regions"]} == {"亮点"}


def test_problems_are_sentences(root, capsys, tmp_path):
    (root / "pictures" / "bad.png").write_bytes(b"no picture")
    annotation.save_mask(project := Project.open(root), KEYS[1], np.zeros((5, 5), np.uint8))
    project.close()
    status, found, err = run_predict(capsys, RUN, root)
    assert status == 0 and len(found["pictures"]) == 2 and len(found["skipped"]) == 2 and "bad.png" in err
    with Project.open(root):  # as while a window has the project open
        status, found, _ = run_predict(capsys, RUN, root)
    assert status == 1 and "open" in found["error"]
    assert "project" in run_predict(capsys, RUN, tmp_path)[1]["error"]
    assert "no run" in run_predict(capsys, "none", root)[1]["error"]
    assert cli.main(["predict", RUN, str(root), "--as-proposals", "--watch"]) == 2
    model = root / "runs" / RUN / "best" / "model.json"
    verdicts = gray_settings(task="classification", classes=(), thresholds=(), min_area=(), verdicts=("OK", "NG"))
    write_onnx(model.parent / "network.onnx", np.ones((2, 1)), np.zeros(2), pooled=True)
    save_settings(verdicts, model)
    status, found, _ = run_predict(capsys, RUN, root)
    assert status == 1 and found["error"].startswith(f"{RUN} predicts verdicts")
