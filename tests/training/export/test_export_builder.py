"""Exports made by a child process: complete or absent, and only if they reproduce the run."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from tests.conftest import scratched
from tests.training.conftest import EXPORTED as FORMATS, make_run
from tests.training.export.export_settings import SETTINGS, bright, spots
from workbench.core.project.project import Project
from workbench.core.project.storage import remove_leftovers
from workbench.core.runs.events import Failed, Finished, Progress, encode_command
from workbench.core.runs.run import Run
from workbench.inference.engines.registry import KINDS
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import load_settings, save_settings
from workbench.inference.predictor import Predictor
from workbench.training.export import export_images
from workbench.training.export.parity import compare

OTHER_ENGINES = tuple(name for name in FORMATS if name not in ("onnx", "legacy", "bf16"))


@pytest.mark.parametrize("engines", [OTHER_ENGINES[-1:], pytest.param(OTHER_ENGINES[:-1], marks=pytest.mark.slow)])
def test_export_runs_without_the_workbench(exported, tmp_path, engines):
    out, _ = exported
    moved = shutil.copytree(out, tmp_path / "elsewhere")
    write_png(tmp_path / "new.png", scratched(np.random.default_rng(9))[0])
    tests = [["--self-test", "--engine", name] for name in engines]
    for arguments in (*tests, ["--self-test"], [str(tmp_path / "new.png"), "--json"]):
        done = subprocess.run(
            [sys.executable, "-I", str(moved / "predict.py"), *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["pictures"][0]["regions"]


def test_parity_is_measured_on_every_kind_of_image(exported):
    out, events = exported
    result = events[-1].result
    assert isinstance(events[-1], Finished) and result["path"] == str(out) and set(result["formats"]) == set(FORMATS)
    assert any(isinstance(event, Progress) and event.done < event.total for event in events)
    report = json.loads((out / "parity.json").read_text("utf-8"))
    for name, parity in result["parity"].items():
        if not KINDS[name].reduced:
            assert parity["max_abs"] <= 1e-4 and parity["mask_agreement"] >= 0.9999 and parity["same_regions"]
        rows = {row["picture"] for row in report["formats"][name]["rows"]}
        assert {"large.png", "deep.png", "turned.jpg"} <= rows and "broken.png" not in rows
        assert parity["passed"] and parity["pictures"] == len(rows) >= 19  # all images of the project


def test_run_and_export_know_what_the_training_images_were_like(exported, trained):
    limits = load_settings(trained.best / "model.json").input
    assert limits == load_settings(exported[0] / "model.json").input
    assert (limits.type, limits.maximum, limits.images) == ("uint8", 255, len(trained.dataset().of("train", "val")))
    predictor = Predictor.open(exported[0])
    assert predictor.predict(scratched(np.random.default_rng(9))[0]).input.ok
    assert not predictor.predict(np.zeros((90, 90), np.uint8)).input.ok


def test_run_and_export_have_the_same_unlike_score(exported, trained):
    run, export = Predictor.open(trained.best), Predictor.open(exported[0], engine="onnx")
    assert run.settings.unlike == export.settings.unlike
    assert run.settings.unlike.images == len(trained.dataset().of("train", "val"))
    image = scratched(np.random.default_rng(9))[0]
    checker = (np.indices((96, 96)).sum(axis=0) // 4 % 2 * 180 + 40).astype(np.uint8)
    assert run.predict(image).input.unlike <= 1 < run.predict(checker).input.unlike
    for name in export.settings.files:
        predictor, near = Predictor.open(exported[0], engine=name), 0.1 if KINDS[name].reduced else 1e-3
        for one in (image, checker):
            score = run.predict(one).input.unlike
            assert predictor.predict(one).input.unlike == pytest.approx(score, rel=near), name


def test_readme_describes_the_export(exported, trained):
    text = (exported[0] / "README.md").read_text("utf-8")
    score = trained.ending().result["metrics"]["any_defect"]["dice"]
    for words in (trained.name, "scratch", "python predict.py", f"{score:.3f}", "validation", "python: 3."):
        assert words in text


def test_export_opens_like_a_run(exported, trained):
    here, there = Predictor.open(exported[0]), Predictor.open(trained.best)
    image = scratched(np.random.default_rng(5))[0]
    assert (here.predict(image).mask == there.predict(image).mask).all()
    assert here.settings.thresholds == there.settings.thresholds


@pytest.mark.slow  # in the default suite: with the layouts of other programs, test_layouts.py
def test_export_of_a_verdict_model(trained_resnet, inside, tmp_path):
    exporter = inside("export", trained_resnet.root, "--out", tmp_path / "out", "--formats", "onnx", "--seconds", 0.3)
    assert exporter.end() == 0, exporter.stderr[-3000:]
    assert (
        exporter.last.result["formats"] == ["onnx"] and exporter.last.result["parity"]["onnx"]["mask_agreement"] == 1.0
    )
    assert not (tmp_path / "out" / "paddle").exists() and not list(tmp_path.glob(".*"))
    golden = json.loads((tmp_path / "out" / "golden" / "golden.json").read_text("utf-8"))
    assert len(golden["pictures"]) >= 3


def test_existing_folder_is_not_overwritten(trained, inside, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file.txt").write_text("mine")
    exporter = inside("export", trained.root, "--out", tmp_path / "mine")
    assert exporter.end() == 1 and exporter.last.problem == "ExportExists"
    assert [path.name for path in tmp_path.rglob("*")] == ["mine", "file.txt"]


def test_run_without_weights_and_unknown_format_are_reported(labeled_project, inside, tmp_path):
    run = make_run(labeled_project, widths=[4, 8])
    for choices, problem in (((), "RunUnusable"), (("--formats", "tflite"), "BadSettings")):
        exporter = inside("export", run.root, "--out", tmp_path / "out", *choices)
        assert exporter.end() == 1 and exporter.last.problem == problem
    assert "tflite" in exporter.last.why and not list(tmp_path.glob("*out*"))


def test_cancelled_export_leaves_no_files(trained, child, tmp_path):
    exporter = child("export", trained.root, "--out", tmp_path / "out")
    exporter.next(Progress)
    exporter.send(encode_command("stop"))
    assert exporter.end() == 0 and exporter.last.why == "stopped" and not exporter.last.result
    assert list(tmp_path.iterdir()) == []


def test_export_that_differs_is_refused(trained, inside, tmp_path):
    """The reference weights differ from those of the export: infinite weights reproduce no result."""
    from safetensors.numpy import load, save

    copy = Run(shutil.copytree(trained.root.parent.parent, tmp_path / "p") / "runs" / trained.name)
    arrays = load((copy.best / "weights.safetensors").read_bytes())
    arrays["head.bias"] = np.full_like(arrays["head.bias"], np.nan)
    (copy.best / "weights.safetensors").write_bytes(save(arrays))
    exporter = inside("export", copy.root, "--out", tmp_path / "out")
    assert exporter.end() == 1 and isinstance(exporter.last, Failed)
    assert not (tmp_path / "out").exists() and not list(tmp_path.glob(".*"))


# --- parity check ----------------------------------------------------------------------------------


def test_parity_accepts_rounding_differences():
    found = compare(SETTINGS, bright, {"x": lambda batch: bright(batch) + np.float32(3e-5)}, [("a", spots)])["x"]
    assert found.passed and 1e-5 < found.max_abs < 1e-4 and found.mask_agreement == 1.0 and found.same_regions
    assert found.rows[0]["regions"] == 2


@pytest.mark.parametrize(
    ("engine", "why"),
    [
        (lambda batch: np.clip(bright(batch) + np.float32(3e-4), 0, 1), "differs by"),
        (lambda batch: bright(batch)[:, :, :, :-1], "a cannot be predicted"),
        (lambda batch: bright(batch[:, :, ::-1]), "differs by"),
        (lambda batch: bright(batch) * np.nan, "a cannot be predicted"),
    ],
)
def test_parity_refuses_differences(engine, why):
    found = compare(SETTINGS, bright, {"good": bright, "bad": engine}, [("a", spots), ("b", spots)])
    assert not found["bad"].passed and why in found["bad"].why
    assert found["good"].passed and found["good"].images == 2


def test_parity_detects_a_lost_region_below_the_pixel_limit():
    big = np.zeros((600, 600), np.uint8)
    big[5:200, 5:200], big[500:503, 500:503] = 220, 129

    def lose_region(batch):
        answer = bright(batch)
        answer[:, 1][(answer[:, 1] > 0.5) & (answer[:, 1] < 0.507)] = 0.49
        return answer

    found = compare(SETTINGS, bright, {"x": lose_region}, [("a", lambda: big)])["x"]
    assert found.mask_agreement > 0.9999 and not found.same_regions and not found.passed


def test_parity_requires_a_comparison():
    assert not compare(SETTINGS, bright, {"x": bright}, [])["x"].passed


def test_parity_samples_cover_every_kind_of_image(labeled_project, tmp_path):
    root = labeled_project.root / "pictures"
    Image.fromarray(np.zeros((8000, 4001), np.uint8)).save(root / "huge.png")
    Image.fromarray(np.zeros((9, 9), np.uint16)).save(root / "deep.tif")
    run = make_run(labeled_project, widths=[4, 8])
    chosen = export_images.choose(labeled_project, run.dataset())
    why = {sample.why: sample.key for sample in chosen}
    assert why["largest"] == "huge.png" and why["smallest"] == "deep.tif" and "defects" in why
    assert len(chosen) == len({sample.key for sample in chosen}) <= export_images.MOST
    (huge,) = (sample for sample in chosen if sample.key == "huge.png")
    assert 3_900_000 < huge.read().size <= export_images.MOST_PIXELS
    references = export_images.choose_references(chosen)
    assert (
        3 <= len(references) <= 6 and huge not in references and any(sample.why == "defects" for sample in references)
    )


def test_damaged_settings_are_reported(trained, inside, tmp_path):
    copy = Run(shutil.copytree(trained.root.parent.parent, tmp_path / "p") / "runs" / trained.name)
    settings = load_settings(copy.best / "model.json")
    save_settings(settings, copy.best / "model.json")
    (copy.best / "model.json").write_text("{}")
    exporter = inside("export", copy.root, "--out", tmp_path / "out")
    assert exporter.end() == 1 and exporter.last.problem == "RunBroken" and "model.json" in exporter.last.why


def test_files_of_a_killed_export_are_removed(trained, child, tmp_path):
    root = shutil.copytree(trained.project_root, tmp_path / "p")
    exporter = child("export", root / "runs" / trained.name, "--out", root / "exports" / "one")
    exporter.next(Progress)
    with Project.open(root) as project:
        remove_leftovers(project.root)
    assert len(list((root / "exports").glob(".one.*.part"))) == 1  # the export is still running
    exporter.process.kill()
    exporter.process.wait()
    with Project.open(root) as project:
        remove_leftovers(project.root)
    assert list((root / "exports").iterdir()) == []
