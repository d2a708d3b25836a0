"""Python interface: samples, import, export, training, prediction, datasets, and the examples of the guide."""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import psutil
import pytest

from tests.conftest import fill_project, scratched
from tests.inference.conftest import color_export, gray_export, gray_settings, spotted, verdict_export
from tests.python_process import run_python
from workbench import api
from workbench.core import problems
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.runs import training_process
from workbench.core.runs.launch import paddle_installed
from workbench.core.runs.run import Run, create_run
from workbench.core.runs.training_settings import request
from workbench.inference.io.image_io import read_image, write_png
from workbench.inference.model_settings import MODEL_FILE, settings_text
from workbench.inference.predictor import Predictor

__all__ = ["color_export", "gray_export", "verdict_export"]

ROOT = Path(__file__).resolve().parents[1]
GUIDE = ROOT / "resources" / "guide"
TINY = {"epochs": 1, "widths": [4, 8], "patch": 64, "batch": 4, "validations": 1, "device": "cpu"}
TINY_SETTINGS = ", ".join(f"{name}={value!r}" for name, value in TINY.items())
needs_paddle = pytest.mark.skipif(not paddle_installed(), reason="PaddlePaddle is not installed")


def guide_examples(language: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", (GUIDE / language / "python.md").read_text("utf-8"), re.M | re.S)


# --- module ---------------------------------------------------------------------------------------


def test_import_needs_no_window_and_no_training_library():
    names = run_python("import sys, workbench.api\nprint(*{name.partition('.')[0] for name in sys.modules})").split()
    assert "numpy" in names
    assert not {"PySide6", "shiboken6", "pyqtgraph", "paddle", "torch", "onnxruntime"} & {*names}


def test_module_is_short_versioned_and_documented():
    assert len(Path(api.__file__).read_text("utf-8").splitlines()) <= 300
    major, minor = api.API_VERSION
    assert major >= 1 and minor >= 0
    undocumented = [name for name in api.__all__ if callable(found := getattr(api, name)) and not found.__doc__]
    assert undocumented == ["UnusableArray"]
    page = (GUIDE / "en" / "python.md").read_text("utf-8")
    functions = {name for name in api.__all__ if name.islower()}
    assert functions == {name for name in functions if f"`{name}(" in page}


# --- samples --------------------------------------------------------------------------------------


@pytest.fixture
def small(project) -> Project:
    """Project of four images: labeled, 16-bit with an ignored area, color without a mask, and without any label."""
    project.add_class("pit", id=9)
    project.file.verdicts = ["OK", "NG"]
    gray, mask = scratched(np.random.default_rng(1))
    write_png(project.image_path("lot1/a.png"), gray)
    annotation.save_mask(project, "lot1/a.png", mask * 9)
    annotation.save_note(project, "lot1/a.png", annotation.Note(status="done", verdict="NG", pin="val", group="part 1"))
    write_png(project.image_path("lot1/b.png"), np.arange(60 * 80, dtype=np.uint16).reshape(60, 80) * 10)
    mask = np.zeros((60, 80), np.uint8)
    mask[:2], mask[2:4], mask[4:6] = 1, 254, 255
    annotation.save_mask(project, "lot1/b.png", mask)
    write_png(project.image_path("lot2/c.png"), np.full((30, 40, 3), (255, 0, 51), np.uint8))
    annotation.save_note(project, "lot2/c.png", annotation.Note(verdict="unclear"))
    write_png(project.image_path("lot2/d.png"), gray)
    project.file.grouping.rule = "folder"
    project.save()
    return project


def test_samples_of_a_project_that_is_open_elsewhere(small):
    project = api.open(small.root)
    assert project.class_names == {1: "scratch", 9: "pit"} and project.verdicts == ["OK", "NG"]
    assert (
        [sample.key for sample in project] == project.keys == ["lot1/a.png", "lot1/b.png", "lot2/c.png", "lot2/d.png"]
    )
    a, b, c, d = project
    assert (a.verdict, a.split, a.group, a.done) == ("NG", "val", "part 1", True)
    assert (d.verdict, d.split, d.group, d.done, d.class_map) == (None, None, "lot2", False, None)
    assert np.array_equal(a.image, read_image(a.path)) and set(np.unique(a.class_map)) == {0, 9}
    assert b.pixels.dtype == np.uint16 and b.image.dtype == np.uint8 and b.image.shape == (60, 80)
    assert b.image[0, 0] == 0 and b.image[-1, -1] == 255
    assert c.image.shape == (30, 40, 3) and c.image[0, 0].tolist() == [255, 0, 51]
    assert project[-1].key == "lot2/d.png" and project["lot1/b.png"].key == "lot1/b.png" and len(project) == 4
    with pytest.raises(problems.NotInProject, match=r"x\.png"):
        project["x.png"]


def test_broken_file_affects_its_sample_only(small):
    small.note_path("lot1/a.png").write_text("{", "utf-8")
    small.mask_path("lot1/b.png").write_bytes(b"x")
    small.image_path("lot2/c.png").write_bytes(b"x")
    a, b, c, d = api.open(small.root)
    assert a.class_map is not None and d.verdict is None
    for sample, name, kind in (
        (a, "verdict", "NoteBroken"),
        (b, "class_map", "MaskBroken"),
        (c, "image", "ImageBroken"),
    ):
        with pytest.raises(api.Problem) as found:
            getattr(sample, name)
        assert type(found.value).__name__ == kind
    with pytest.raises(problems.NotAProject):
        api.open(small.root / "masks")


def test_run_gives_split_and_group(labeled_project):
    run = create_run(labeled_project, request("unet", **TINY))
    write_png(labeled_project.image_path("later.png"), np.zeros((80, 96), np.uint8))
    items = {item.key: item for item in run.dataset().items}
    for given in ("last", run.name, run.root, run):
        project = api.open(labeled_project.root, run=given)
        assert {s.key: (s.split, s.group) for s in project if s.key in items} == {
            key: (item.split, item.group) for key, item in items.items()
        }
        assert project["later.png"].split is None
    assert {sample.split for sample in project} == {"train", "val", None}
    api.export_labels(project, labeled_project.root / "out", "yolo", images=True)
    exported = {path.stem for path in (labeled_project.root / "out" / "images" / "val").rglob("*.png")}
    assert exported == {Path(key).stem for key, item in items.items() if item.split == "val"}
    with pytest.raises(problems.UnknownRun):
        api.open(labeled_project.root, run="none")


# --- datasets -------------------------------------------------------------------------------------


def test_dataset_of_class_maps(small):
    dataset = api.MapDataset(api.open(small.root))
    assert len(dataset) == 4 and dataset.names == ["background", "scratch", "pit"]
    image, target = dataset[0]
    assert image.shape == (1, 80, 96) and image.dtype == np.float32 and target.dtype == np.int64
    assert image.flags.c_contiguous and image.flags.writeable and target.flags.writeable
    assert np.array_equal(np.rint(image[0] * 255), read_image(small.image_path("lot1/a.png")))
    assert np.array_equal(target, np.where(annotation.load_mask(small, "lot1/a.png") == 9, 2, 0))
    image, target = dataset[1]
    assert image[0, -1, -1] == np.float32((60 * 80 - 1) * 10 / 65535)
    assert [int(target[y, 0]) for y in (0, 2, 4, 6)] == [1, api.IGNORED, api.IGNORED, 0]
    image, target = dataset[2]
    assert image.shape == (1, 30, 40) and target.shape == (30, 40) and (target == api.IGNORED).all()
    color = api.MapDataset(api.open(small.root), channels=3, transform=lambda image, target: image[:, :1, :1].ravel())
    assert api.MapDataset(api.open(small.root), channels=3)[2][0].flags.c_contiguous
    assert color[2].tolist() == [1, 0, np.float32(0.2)] and len(set(color[0].tolist())) == 1
    with pytest.raises(IndexError):
        dataset[4]


def test_dataset_of_verdicts(small):
    dataset = api.MapDataset(list(api.open(small.root)), "verdict")
    assert dataset.names == ["OK", "NG", "unclear"]
    assert [int(dataset[index][1]) for index in range(4)] == [1, api.IGNORED, 2, api.IGNORED]
    assert api.MapDataset([]).names == [] and len(api.MapDataset([])) == 0


def test_samples_datasets_and_problems_reach_other_processes(small):
    dataset = pickle.loads(pickle.dumps(api.MapDataset(api.open(small.root))))
    assert np.array_equal(dataset[0][1], api.MapDataset(api.open(small.root))[0][1])
    assert len({id(sample.project) for sample in dataset.samples}) == 1
    problem = pickle.loads(pickle.dumps(problems.UnknownRun(name="x", known="none")))
    assert type(problem) is problems.UnknownRun and str(problem) == str(problems.UnknownRun(name="x", known="none"))


# --- import and export ----------------------------------------------------------------------------


def test_labels_are_imported_and_exported(labeled_project, tmp_path):
    labeled_project.close()
    report = api.export_labels(labeled_project.root, tmp_path / "coco", "coco", images=True, shapes="mask")
    assert (report.labels, report.images) == (16, 16)
    copy = Project.create(tmp_path / "copy", classes=["crack"])
    copy.close()
    done = []
    imported = api.import_labels(
        api.open(copy.root), tmp_path / "coco", classes={"scratch": "crack"}, progress=lambda *step: done.append(step)
    )
    assert imported.labeled >= 12 and imported.added_classes == [] and done[-1][0] == done[-1][1]
    first, second = api.open(labeled_project.root), api.open(copy.root)
    compared = 0
    for sample in second:
        original = next(other for other in first if sample.key.endswith(other.key))
        if sample.class_map is not None:
            assert np.array_equal(sample.class_map, original.class_map)
            compared += 1
    assert compared >= 12
    Project.open(copy.root).close()  # the lock is free again


def test_wrong_choices_are_problems(labeled_project, tmp_path):
    root = labeled_project.root
    with pytest.raises(problems.ProjectLocked):
        api.import_labels(root, tmp_path)
    labeled_project.close()
    with pytest.raises(
        problems.BadSettings, match="conflicts cannot be overwrite: must be one of keep, replace, merge"
    ):
        api.import_labels(root, tmp_path, conflicts="overwrite")
    with pytest.raises(problems.BadSettings, match="boxes cannot be circle"):
        api.import_labels(root, tmp_path, boxes="circle")
    with pytest.raises(problems.UnknownFormat):
        api.import_labels(root, root, format="dicom")
    with pytest.raises(problems.FolderMissing):
        api.import_labels(root, tmp_path / "none")
    with pytest.raises(problems.UnknownFormat, match="yolo-segment"):
        api.export_labels(root, tmp_path / "out", "yolo-segment")
    with pytest.raises(problems.UnknownFormat, match=r"png/mask is not a supported label format\. Choose one of: png"):
        api.export_labels(root, tmp_path / "out", "png", shapes="mask")
    with pytest.raises(problems.BadSettings, match="model cannot be yolo"):
        api.train(root, "yolo")
    with pytest.raises(problems.BadSettings, match="speed cannot be 9"):
        api.train(root, speed=9)
    with pytest.raises(problems.UnknownRun):
        api.train(root, start_from="best")
    assert not (tmp_path / "out").exists() and not list((root / "runs").iterdir())


# --- models ---------------------------------------------------------------------------------------


def test_export_predicts_as_its_predictor(gray_export, color_export, verdict_export):
    image = spotted(np.random.default_rng(3))
    expected = Predictor.open(gray_export).predict(image)
    for given in (gray_export, gray_export / "network.onnx"):
        model = api.load(given)
        found = model.predict(image, keep_probabilities=True)
        assert model.settings.name == "spots" and found.class_scores.shape == (2, *image.shape)
        assert np.array_equal(found.mask, expected.mask) and found.regions == expected.regions != []
    red = np.zeros((50, 60, 3), np.uint8)
    red[10:20, 10:30] = (250, 10, 10)
    assert (api.load(color_export).predict(red).mask[10:20, 10:30] == 3).all()
    assert api.load(verdict_export).predict(np.full((40, 30), 250, np.uint8)).verdict == "OK"


def test_onnx_file_without_its_folder_is_read_by_its_metadata(gray_export, tmp_path):
    network = onnx.load(gray_export / "network.onnx")
    onnx.helper.set_model_props(network, {"settings": settings_text(gray_settings(files={}))})
    onnx.save(network, tmp_path / "copied.onnx")
    image = spotted(np.random.default_rng(3))
    found, expected = api.load(tmp_path / "copied.onnx").predict(image), Predictor.open(gray_export).predict(image)
    assert np.array_equal(found.mask, expected.mask) and found.regions == expected.regions
    onnx.helper.set_model_props(network, {"settings": "{}"})
    onnx.save(network, tmp_path / "settings.onnx")
    with pytest.raises(problems.ModelUnusable, match="format number"):
        api.load(tmp_path / "settings.onnx")


def test_unusable_models_are_problems(gray_export, tmp_path):
    shutil.copy(gray_export / "network.onnx", tmp_path / "bare.onnx")
    network = onnx.load(tmp_path / "bare.onnx")
    onnx.helper.set_model_props(network, {"settings": "[", "task": "segmentation"})
    onnx.save(network, tmp_path / "broken settings.onnx")
    onnx.helper.set_model_props(network, {"settings": settings_text(gray_settings()), "input": "image: uint8"})
    onnx.save(network, tmp_path / "self-contained.onnx")
    (tmp_path / "damaged.onnx").write_bytes(b"x")
    names = ("bare.onnx", "broken settings.onnx", "self-contained.onnx", "damaged.onnx", "none.onnx", "none")
    for name in names:
        with pytest.raises(problems.UnknownModel, match=re.escape(name)):
            api.load(tmp_path / name)
    (gray_export / "network.onnx").write_bytes(b"x")
    with pytest.raises(problems.ExportDamaged):
        api.load(gray_export)
    (gray_export / "predict.py").unlink()  # no longer an export, whose files are checked
    with pytest.raises(problems.ModelUnusable):
        api.load(gray_export)
    (gray_export / MODEL_FILE).write_text("{}", "utf-8")
    with pytest.raises(problems.ModelUnusable):
        api.load(gray_export)
    run = Run(tmp_path / "p" / "runs" / "20260101-000000-unet")
    with pytest.raises(problems.UnknownRun):
        api.load(run.name, project=tmp_path / "p")


@pytest.mark.parametrize(
    "array",
    [
        *(np.zeros(shape, np.uint8) for shape in ((4,), (0, 4), (4, 4, 4), (4, 4, 1), (1, 4, 4, 3))),
        *(np.zeros((4, 4), dtype) for dtype in (np.int32, np.float64, bool, object)),
    ],
    ids=lambda array: f"{array.shape} {array.dtype}",
)
def test_unusable_arrays_are_problems(gray_export, array):
    with pytest.raises(api.UnusableArray, match=re.escape(f"shape {array.shape} and type {array.dtype}")):
        api.load(gray_export).predict(array)


# --- training -------------------------------------------------------------------------------------


@needs_paddle
def test_training_stops_if_the_function_returns_false(labeled_project):
    labeled_project.close()
    kinds = []

    def stop(event: api.Event) -> bool:
        kinds.append(event.kind)
        return "step" not in kinds

    run = api.train(labeled_project.root, minutes=10, on_event=stop, **{**TINY, "epochs": None})
    assert run.ending().why == "stopped" and kinds[0] == "started" and kinds[-1] == "finished"
    assert run.settings().minutes == 10 and run.settings().widths == [4, 8]
    sample = api.open(labeled_project.root)[0]
    prediction = api.load(run).predict(sample.pixels)
    for other in (api.load("last", project=labeled_project.root), api.load(run.best / "network.onnx")):
        assert np.array_equal(other.predict(sample.pixels).scores, prediction.scores)


@needs_paddle
def test_exception_in_the_function_ends_the_training(labeled_project, monkeypatch):
    """Use a stand-in for the training program that reports its start and then waits."""
    event = {"kind": "started", "model": "unet", "device": "cpu"}
    script = (
        f"import json, os, time; print(json.dumps({event!r} | {{'process': os.getpid()}}), flush=True); time.sleep(999)"
    )
    monkeypatch.setattr(training_process, "worker_command", lambda *_: [sys.executable, "-c", script])
    labeled_project.close()
    started = []

    def fail(event: api.Event) -> None:
        started.append(psutil.Process(event.process))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        api.train(labeled_project.root, on_event=fail, **TINY)
    gone, _ = psutil.wait_procs(started, timeout=60)
    assert gone == started != []
    Project.open(labeled_project.root).close()


# --- guide ----------------------------------------------------------------------------------------


def test_examples_are_the_same_in_each_language():
    assert len(guide_examples("en")) == 8 and guide_examples("en") == guide_examples("zh_CN")


@needs_paddle
def test_notebook_runs(tmp_path, monkeypatch, capsys):
    """Run the cells of the guide with short trainings and an export that is not timed."""
    monkeypatch.chdir(tmp_path)
    text = "".join(guide_examples("en")[:5])
    assert text.count("minutes=5") == 2 and len([line for line in text.splitlines() if line.strip()]) < 60
    text = text.replace("minutes=5", TINY_SETTINGS).replace('formats=("onnx",)', "seconds=0")
    exec(compile(text, "notebook.py", "exec"), {"__name__": "__main__"})
    printed = capsys.readouterr().out
    assert "12 labels written: <Project" in printed and "name='scratch'" in printed and "evaluated" in printed
    assert "(val):" in printed and "Comparison on" in printed and "VerdictRule(" in printed
    assert "<LoadedModel" in printed and "<Prediction: verdict" in printed
    assert read_image(tmp_path / "prediction.png").shape == (384, 512, 3)
    assert (tmp_path / "line-model" / "predict.py").exists()


@needs_paddle
def test_examples_run(tmp_path, monkeypatch, capsys):
    """Run the examples one after the other in a folder with a project and a delivery of labels.

    Only the last one, which uses Paddle, runs in a process of its own.
    """
    with Project.create(tmp_path / "my-project", classes=["scratch"]) as project:
        keys = fill_project(project, 12, good=4)
    rng = np.random.default_rng(8)
    for number in range(2):
        image, mask = scratched(rng)
        write_png(tmp_path / "delivery" / "images" / f"new{number}.png", image)
        write_png(tmp_path / "delivery" / "masks" / f"new{number}.png", mask * 255)
    *_, read, train, load = guide_examples("en")
    assert "minutes=5" in train

    monkeypatch.chdir(tmp_path)

    def output(script: str) -> str:
        exec(compile(script, "example.py", "exec"), {"__name__": "__main__"})
        return capsys.readouterr().out

    def output_of_process(script: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
        done = subprocess.run(
            [sys.executable, "-c", script],
            env=environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    printed = output(read)
    assert all(key in printed for key in keys) and "16 labels written" in printed
    assert len(json.loads((tmp_path / "coco-labels" / "annotations" / "instances_default.json").read_text("utf-8"))) > 2
    printed = output(train.replace("minutes=5", TINY_SETTINGS))
    validated = [key for key in keys if f"{key} [" in printed]
    assert "2 labels imported, 0 files skipped" in printed and "% done, loss " in printed and validated
    trained = len([sample for sample in api.open(tmp_path / "my-project", run="last") if sample.split == "train"])
    printed = output_of_process(load)
    assert f"{trained} images, ['background', 'scratch']" in printed
    assert "paddle.Size([4, 1, 64, 64]) paddle.float32 paddle.Size([4, 64, 64]) paddle.int64" in printed
