"""Verbs train, evaluate, predict and export, with real child processes on a tiny project."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.shared_folder import shared_folder
from workbench import cli
from workbench.cli import main
from workbench.cli.export import false_alarms
from workbench.core.evaluation import operating_point
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.runs.events import Started, Step
from workbench.core.runs.launch import paddle_installed
from workbench.core.runs.run import Run, create_run, find_run
from workbench.core.runs.training_settings import request
from workbench.core.sample_project import make_sample
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import load_settings, save_settings

ROOT = Path(__file__).resolve().parents[2]
TINY = ("--set", "widths=[4,8]", "--set", "patch=64", "--set", "validations=1", "--set", "batch=4")

pytestmark = pytest.mark.skipif(not paddle_installed(), reason="PaddlePaddle is not installed")


def command(*arguments):
    return [sys.executable, "-m", "workbench", *map(str, arguments)]


def environment():
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}


def workbench(*arguments):
    """Return the JSON object printed by a verb in its own process."""
    done = subprocess.run(
        command(*arguments, "--json"),
        capture_output=True,
        text=True,
        env=environment(),
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Return a project with one tiny UNet run, not to be changed, and the output of `train --json`."""

    def make(folder: Path) -> None:
        root = folder / "项目"
        make_sample(root, small=True).close()
        message = workbench("train", root, "--model", "unet", "--epochs", "1", "--device", "cpu", *TINY)
        (folder / "output.json").write_text(json.dumps(message), "utf-8")

    folder = shared_folder(tmp_path_factory, "trained-by-command", make)
    copy = shutil.copytree(folder / "项目", tmp_path_factory.mktemp("trained") / "项目")
    return copy, json.loads((folder / "output.json").read_text("utf-8"))


@pytest.fixture
def copy(trained, tmp_path):
    """Return a copy of the project that may be changed."""
    shutil.copytree(trained[0], tmp_path / "copy")
    return tmp_path / "copy"


def inside(capsys, *arguments):
    status = cli.main([*map(str, arguments), "--json"])
    message = capsys.readouterr()
    return status, json.loads(message.out), message.err


def test_train_reports_the_result(trained):
    root, message = trained
    assert {"run", "model", "device", "precision", "steps", "seconds", "images_per_second", "metrics"} <= set(message)
    assert (message["model"], message["device"], message["precision"]) == ("unet", "cpu", "fp32")
    assert message["steps"] > 0 and message["images_per_second"] > 0 and "dice" in message["metrics"]
    run = find_run(root, "last")
    assert run.name == message["run"] and run.usable and run.settings().patch == 64
    Project.open(root).close()  # the project is free again


def test_resnet_reports_verdicts(copy, capsys):
    slim = ("--set", "input_size=32", "--set", "width=0.25")
    with Project.open(copy) as project:  # too few images of each verdict to hold some out by themselves
        for key in project.images()[::4]:
            annotation.save_note(project, key, annotation.load_note(project, key).model_copy(update={"pin": "val"}))
    status, message, _ = inside(capsys, "train", copy, "--model", "resnet", "--epochs", "1", *slim)
    assert status == 0 and {"accuracy", "macro_f1", "confusion"} <= set(message["metrics"])
    status, found, _ = inside(capsys, "evaluate", copy, "--run", message["run"])
    assert status == 0 and found["confusion"]["names"] == ["OK", "scratch", "pit", "stain", "dent"]
    assert sum(map(sum, found["confusion"]["rows"])) == found["pictures"] > 0
    assert cli.main(["evaluate", str(copy), "--model", "resnet"]) == 0
    assert "labeled" in capsys.readouterr().out
    images = copy / "pictures" / "lot-02"
    status, found, _ = inside(capsys, "predict", copy / "runs" / message["run"], images, "--out", copy / "o")
    assert found["pictures"][0]["verdict"] in ("OK", "scratch", "pit", "stain", "dent")
    assert found["pictures"][0]["mask"] is None


def test_evaluate_uses_validation_images_and_notes_small_numbers(trained, capsys):
    root, message = trained
    status, found, _ = inside(capsys, "evaluate", root)
    assert status == 0 and found["run"] == message["run"] and found["split"] == "val"
    assert {"dice", "iou", "per_class", "regions"} <= set(found)
    assert {"recall", "false_per_picture"} <= set(found["regions"])
    data = Run(root / "runs" / message["run"]).dataset()
    assert found["pictures"] == len(data.of("val")) and any("rough" in note for note in found["notes"])
    assert found["regions"]["false_interval"] is None or len(found["regions"]["false_interval"]) == 2
    assert found["regions"]["enough"] is (found["regions"]["defects"] >= 20)
    assert sum(size["defects"] for size in found["by_size"]) in (0, found["regions"]["defects"])
    assert found["leaks"] == [] and any("thresholds were chosen on validation" in note for note in found["notes"])
    # The final evaluation of the training uses the same code on these images.
    assert found["dice"] == pytest.approx(
        message["metrics"]["dice"], abs=0.05
    )  # those of the training are at the thresholds of the other half
    status, everything, _ = inside(capsys, "evaluate", root, "--split", "all")
    assert everything["pictures"] == len(data.items) and any(
        "Training images are included" in note for note in everything["notes"]
    )
    assert cli.main(["evaluate", str(root), "--split", "test"]) == 1
    assert "no images in test" in capsys.readouterr().err
    assert cli.main(["evaluate", str(root)]) == 0
    text = capsys.readouterr().out
    assert "val" in text and all(name in text for name in ("scratch", "pit", "stain", "dent"))


def test_evaluate_notes_training_images(copy, capsys):
    """Duplicates in the training and in the validation set."""
    data = find_run(copy, "best").dataset()
    with Project.open(copy) as project:
        held, learned = data.of("val")[0].key, data.of("train")[0].key
        project.image_path(held).write_bytes(project.image_path(learned).read_bytes())
    status, found, _ = inside(capsys, "evaluate", copy)
    assert status == 0 and {"path": held, "learned": learned, "why": "same"} in found["leaks"]
    assert any("too high" in note and held in note for note in found["notes"])


def test_changed_operating_point_is_used_by_evaluate_and_predict(copy, capsys, tmp_path):
    run = find_run(copy, "best")
    before = inside(capsys, "evaluate", copy)[1]
    trained = operating_point.OperatingPoint.of(operating_point.settings_of(run))
    assert operating_point.read(run) == operating_point.StoredOperatingPoint(trained)
    point = operating_point.OperatingPoint((0.05,) * 4, (0,) * 4)
    operating_point.store(run, point, chosen_on=["val"])
    assert operating_point.read(run) == operating_point.StoredOperatingPoint(trained, ("val",))
    after = inside(capsys, "evaluate", copy)[1]
    assert after["regions"]["found"] >= before["regions"]["found"] and after["dice"] != before["dice"]
    assert any("operating point was chosen on these" in note for note in after["notes"])
    message = inside(capsys, "predict", run.root, copy / "pictures" / "lot-02", "--out", tmp_path / "o")[1]
    assert max(len(image["regions"]) for image in message["pictures"]) > 0
    operating_point.restore(run)
    assert not (run.root / operating_point.FILE).exists()
    assert inside(capsys, "evaluate", copy)[1]["regions"] == before["regions"]


def test_resumed_training_resets_the_operating_point(copy):
    run = find_run(copy, "best")
    trained = operating_point.settings_of(run)
    operating_point.store(run, operating_point.OperatingPoint((0.3,) * 4, (9,) * 4), chosen_on=["test"])
    newer = operating_point.OperatingPoint((0.6,) * 4, (4,) * 4)
    save_settings(newer.on(trained), run.best / "model.json")
    assert operating_point.read(run) == operating_point.StoredOperatingPoint(newer)


def test_evaluate_uses_the_present_labels(copy, capsys):
    data = find_run(copy, "best").dataset()
    changed, gone, broken = [item.key for item in data.of("val")[:3]]
    with Project.open(copy) as project:
        mask = annotation.load_mask(project, changed)
        annotation.save_mask(project, changed, np.where(mask > 0, 0, 2).astype(np.uint8))
        project.mask_path(gone).unlink()
        project.image_path(broken).write_bytes(b"\x89PNG\r\n\x1a\n")
    status, found, _ = inside(capsys, "evaluate", copy)
    assert status == 0 and found["changed_labels"] == 1 and found["pictures"] == len(data.of("val")) - 2
    assert {entry["path"] for entry in found["skipped"]} == {gone, broken}
    assert any("1 label was changed" in note for note in found["notes"])


def test_evaluate_against_another_project_matches_classes_by_name(copy, tmp_path, capsys):
    home = Project.open(copy, write=False)
    with Project.create(tmp_path / "other", classes=["dent", "scratch", "unheard of"]) as other:
        for number, key in enumerate(home.images()[:6]):
            other.copy_image(home.image_path(key), f"new/{number}.png")
            # classes of the project of the run: scratch, pit, stain, dent
            table = np.array([0, 2, 3, 3, 1] + [0] * 251, np.uint8)
            annotation.save_mask(other, f"new/{number}.png", table[annotation.load_mask(home, key)])
            annotation.save_note(other, f"new/{number}.png", annotation.Note(status="done"))
    status, found, _ = inside(capsys, "evaluate", copy, "--against", tmp_path / "other")
    assert status == 0 and found["pictures"] == 6 and set(found["per_class"]) == {"scratch", "pit", "stain", "dent"}
    assert found["per_class"]["pit"]["defects"] == 0 < found["per_class"]["scratch"]["defects"]
    assert any("are training images" in note for note in found["notes"])


def test_predict_writes_masks_tables_and_overlays(trained, tmp_path, capsys):
    root, message = trained
    images = tmp_path / "新 pictures"
    shutil.copytree(root / "pictures" / "lot-01", images / "a")
    (images / "cut.png").write_bytes((images / "a" / "panel-0101.png").read_bytes()[:500])
    status, found, err = inside(capsys, "predict", message["run"], images, "--project", root, "--out", tmp_path / "out")
    assert status == 0 and len(found["pictures"]) == 4 and "cut.png" in found["skipped"][0]["path"]
    for entry in found["pictures"]:
        assert {"path", "mask", "regions", "verdict", "milliseconds"} <= set(entry)
        assert Path(entry["mask"]).is_file() and Path(entry["overlay"]).is_file()
    assert (tmp_path / "out" / "regions.csv").is_file() and "skipped" in err
    status, found, err = inside(
        capsys, "predict", root / "runs" / message["run"], images / "cut.png", "--out", tmp_path / "none"
    )
    assert status == 1 and "incomplete" in found["error"]


def test_export_equals_the_run_and_a_damaged_one_is_refused(copy, tmp_path, capsys):
    # chosen in the evaluation and stored with the run
    point = operating_point.OperatingPoint((0.3, 0.4, 0.3, 0.3), (7, 7, 0, 7))
    operating_point.store(find_run(copy, "best"), point, chosen_on=["val"])
    _, message, notes = inside(capsys, "export", copy, "--formats", "onnx", "--seconds", 0)
    assert all(text in notes for text in false_alarms(find_run(copy, "best")))
    folder = Path(message["path"])
    assert operating_point.OperatingPoint.of(load_settings(folder / "model.json")) == point
    names = [info.name for info in find_run(copy, "best").dataset().classes]
    assert message["point"] == {
        "chosen_by": "review",
        "chosen_on": ["val"],
        "thresholds": dict(zip(names, point.thresholds)),
        "min_area": dict(zip(names, point.min_area)),
        "verdict_border": 0,
        "verdict_rule": None,
    }
    assert "operating point" in (folder / "README.md").read_text("utf-8").casefold()
    assert folder.parent == copy / "exports" and message["formats"] == ["onnx"]
    assert message["parity"]["onnx"]["mask_agreement"] > 0.999
    images = copy / "pictures" / "lot-02"
    _, by_run, _ = inside(capsys, "predict", copy / "runs" / message["run"], images, "--out", tmp_path / "run")
    _, by_export, _ = inside(capsys, "predict", folder, images, "--out", tmp_path / "export")
    for one, two in zip(by_run["pictures"], by_export["pictures"]):
        assert Path(one["mask"]).read_bytes() == Path(two["mask"]).read_bytes()
    alone = subprocess.run(
        [sys.executable, str(folder / "predict.py"), "--self-test"], capture_output=True, text=True, cwd=tmp_path
    )
    assert alone.returncode == 0, alone.stderr
    assert cli.main(["export", str(copy), "--out", str(folder)]) == 1
    assert "already exists" in capsys.readouterr().err
    network = next(folder.rglob("*.onnx"))
    network.write_bytes(network.read_bytes()[:-10])
    assert cli.main(["predict", str(folder), str(images), "--out", str(tmp_path / "none")]) == 1
    assert "Export it again" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="a test cannot press Ctrl-C there without ending itself")
@pytest.mark.parametrize("resume", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_interrupted_run_keeps_the_model_and_can_resume(copy, resume):
    started = [*command("train", copy, "--model", "unet", "--minutes", "5", *TINY, "--json")]
    earlier = find_run(copy, "last").name

    def has_steps(run, events):
        return run.name != earlier and any(isinstance(event, Step) for event in events)

    first = _interrupted(started, copy, has_steps)
    assert first["ended"] == "stopped" and first["steps"] > 0
    run = find_run(copy, first["run"])
    assert run.usable and run.resumable
    if not resume:  # of a run that was stopped otherwise: tests/training/test_train.py
        return
    again = [*command("train", copy, "--resume", run.name, "--json")]

    def goes_on(run, events):
        begins = [event for event in events if isinstance(event, Started)]
        return len(begins) == 2 and isinstance(events[-1], Step) and events[-1].step > first["steps"]

    second = _interrupted(again, copy, goes_on)
    assert second["run"] == run.name and second["steps"] > first["steps"]


def _interrupted(started, root, ready, patience=90):
    """Start a training, interrupt it when the events of its run are `ready`, and return its JSON."""
    process = subprocess.Popen(
        started, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True, start_new_session=True
    )
    try:
        before = time.monotonic()
        while time.monotonic() - before < patience and process.poll() is None:
            run = find_run(root, "last")
            if ready(run, list(run.events())):
                break
            time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=patience)
    finally:
        process.kill()
    assert process.returncode == 0, err
    return json.loads(out)


def test_killed_child_is_reported_in_one_sentence(copy, capsys, monkeypatch):
    """Use a stand-in for the training program that is killed without a final event."""
    from workbench.core.runs import training_process

    monkeypatch.setattr(
        training_process, "worker_command", lambda *_: [sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"]
    )
    assert cli.main(["train", str(copy), "--model", "unet", "--epochs", "1"]) == 1
    err = capsys.readouterr().err
    assert "log.txt" in err and "Traceback" not in err


def test_problem_of_the_child_is_reported(copy, capsys):
    run = find_run(copy, "best")
    (run.root / "recipe.json").write_text("{}", "utf-8")
    write_png(copy / "pictures" / "x.png", np.zeros((9, 9), np.uint8))
    assert cli.main(["train", str(copy), "--resume", str(run.root)]) == 1
    assert "Traceback" not in capsys.readouterr().err


REASONED = {
    "scale",
    "patch",
    "batch",
    "widths",
    "stem",
    "encoder",
    "precision",
    "dice_weight",
    "cross_entropy_weight",
    "foreground_share",
    "augment",
    "warm_up",
    "validations",
    "rate",
    "optimizer",
    "mirror",
    "overlap",
}


def test_plan_equals_the_settings_of_a_run_and_writes_nothing(labeled_project, capsys):
    root = str(labeled_project.root)
    before = sorted(path.name for path in labeled_project.root.rglob("*"))
    assert main(["train", root, "--model", "unet", "--minutes", "3", "--set", "batch=6", "--plan", "--json"]) == 0
    received = json.loads(capsys.readouterr().out)
    assert sorted(path.name for path in labeled_project.root.rglob("*")) == before
    training_settings = create_run(labeled_project, request("unet", minutes=3, batch=6)).settings()
    assert received["recipe"] == training_settings.model_dump(mode="json", exclude={"format", "reasons"})
    assert received["reasons"] == training_settings.reasons and received["pictures"]["train"] > 0
    assert received["reasons"].keys() >= REASONED
    assert main(["train", root, "--model", "resnet", "--plan"]) == 0
    message = capsys.readouterr().out
    assert "input_size" in message and "foreground_share" not in message  # a ResNet has none


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ("batch=x", "must be an integer"),
        ("batch=0", "at least 1"),
        ("batch=2000", "at most 1024"),
        ("rate=fast", "must be a number"),
        ("scale=0", "above 0"),
        ("average=1", "below 1"),
        ("stem=3", "one of 1, 2 or 4"),
        ("augment=none", "must be a list"),
        ("local_contrast=maybe", "true or false"),
        ("size=3", "no such setting"),
        ('widths=[1,"a"]', "must be an integer"),
        ("profile=3", "true or false"),
        ("weights=7", "must be text"),
    ],
)
def test_invalid_settings_are_reported(labeled_project, capsys, setting, why):
    assert main(["train", str(labeled_project.root), "--model", "unet", "--plan", "--set", setting]) == 1
    message = capsys.readouterr().err
    assert why in message and setting.partition("=")[0] in message


def test_plan_requires_a_model(labeled_project):
    assert main(["train", str(labeled_project.root), "--plan"]) == 2
