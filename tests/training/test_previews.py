"""Previews: whole images, parts of large ones, several classes. Labels added during a run, by real child processes."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from tests.conftest import scratched
from tests.core.evaluation.gray_network import Gray
from tests.inference.conftest import gray_settings
from tests.training.conftest import make_run, paint_second_class
from workbench.core.project import annotation
from workbench.core.project.annotation import Note
from workbench.core.project.project import Project
from workbench.core.runs.events import (
    BestKept,
    Evaluated,
    LabelsAdded,
    Preview,
    Started,
    Step,
    Trouble,
    decode,
    encode,
    encode_command,
)
from workbench.core.runs.run import Run
from workbench.inference.io.image_io import read_image, write_png
from workbench.inference.model_settings import ClassSettings
from workbench.inference.predictor import Predictor
from workbench.session.training.preview_reader import read_preview
from workbench.training.previews import IMAGES, STEPS, PreviewFiles, preview, safe_name

CLASSES = (ClassSettings(1, "scratch", "#ff0000"), ClassSettings(2, "dent", "#00ff00"))


@pytest.mark.parametrize(("side", "count"), [(200, 1), (1500, 2)])
def test_preview_survives_a_round_trip(labeled_project, side, count):
    if count == 2:
        paint_second_class(labeled_project)
    image, mask = scratched(np.random.default_rng(4), side, side - 20, defects=5)
    mask[: side // 2] = 0  # the lower half has the labels and is predicted
    write_png(labeled_project.image_path("大.png"), image)
    annotation.save_mask(labeled_project, "大.png", mask)
    run = make_run(labeled_project)
    settings = gray_settings(classes=CLASSES[:count], thresholds=(0.6, 0.4)[:count], min_area=(3, 0)[:count], scale=1.0)
    engine = Gray() if count == 2 else lambda batch: Gray()(batch)[:, :2]
    event = decode(encode(preview(run, labeled_project, engine, settings, "大.png", 7)))
    shown = read_preview(run, event)
    analyzed = shown.mask != 255
    rows, columns = (np.flatnonzero(analyzed.any(axis=axis)) for axis in (1, 0))
    assert shown.mask.shape == image.shape and shown.step == 7 and shown.adjustable
    assert analyzed.all() == (side == 200) and (analyzed[mask == 1].any() or not (mask == 1).any())
    part = (slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1))
    assert analyzed[part].all()
    expected = Predictor(settings, engine).predict(image[part], keep_probabilities=True)
    assert np.array_equal(shown.mask[part], expected.mask) and np.array_equal(shown.scores[part], expected.scores)
    assert np.array_equal(shown.class_probabilities[(slice(None), *part)], expected.class_scores)
    assert shown.settings.thresholds == settings.thresholds and shown.settings.min_area == settings.min_area


QUICK = {"widths": [4, 8], "epochs": 1, "validations": 1}


def label(project: Project, key: str, *, status: str = "done", verdict: str | None = "NG", **note) -> None:
    """Add a labeled image with a defect."""
    image, mask = scratched(np.random.default_rng(len(key)))
    write_png(project.image_path(key), image)
    annotation.save_mask(project, key, mask)
    annotation.save_note(project, key, Note(status=status, verdict=verdict, **note))


def correct(project: Project, key: str) -> None:
    mask = annotation.load_mask(project, key)
    mask[:4] = 1
    annotation.save_mask(project, key, mask)


def defects(child) -> int:
    """Return the number of defects on the validation images in the last evaluation."""
    return [event for event in child.events if isinstance(event, Evaluated)][-1].metrics["regions"]["defects"]


def joined(child, key: str) -> LabelsAdded:
    while (event := child.next(LabelsAdded)).picture != key:
        pass
    return event


def test_continuous_training_adds_labels_until_it_is_ended(labeled_project, child, inside, tmp_path):
    run = make_run(labeled_project, **QUICK)
    before = run.dataset()
    trainer = child("train", run.root)
    trainer.send(encode_command("keep_open"))
    kept = trainer.next(BestKept)
    assert kept.waiting and kept.round == 0
    # The best model can be exported meanwhile.
    export = inside("export", run.root, "--out", tmp_path / "out", "--formats", "onnx", "--seconds", 0)
    assert export.end() == 0, export.stderr[-2000:]
    assert Predictor.open(tmp_path / "out").settings.run == run.name
    train, held_out = before.of("train")[0].key, before.of("val")[0].key
    judged_by = defects(trainer)
    label(labeled_project, "lot9/x900.png")
    correct(labeled_project, train)
    correct(labeled_project, held_out)
    for key in ("lot9/x900.png", train, held_out):
        trainer.send(encode_command("labels_changed", key))
    assert joined(trainer, "lot9/x900.png").how == "new"
    assert joined(trainer, train).how == "corrected"
    assert (left := joined(trainer, held_out)).how == "left out" and "Validation image" in left.why
    step = trainer.next(Step)
    assert step.round == 1 and step.progress == 1.0 and step.step > kept.step
    again = trainer.next(BestKept)
    assert again.waiting and again.round == 1
    assert defects(trainer) == judged_by
    trainer.send(encode_command("let_end"))
    assert trainer.end() == 0, trainer.stderr[-2000:]
    assert trainer.last.why == "done" and trainer.last.result["steps"] > kept.step
    after = run.dataset()
    assert after.items == before.items and after.held_out_hash == before.held_out_hash
    assert [(entry.item.key, entry.item.split) for entry in after.joined] == [
        ("lot9/x900.png", "train"),
        (train, "train"),
    ]
    assert after.joined[1].item.mask_hash != before.of("train")[0].mask_hash and after.joined[0].step == kept.step
    kept_truth = annotation.read_mask(run.root / "held_out" / f"{held_out}.png")
    assert not np.array_equal(kept_truth, annotation.load_mask(labeled_project, held_out))


def test_changed_labels_are_reported_and_decide_nothing(labeled_project, child):
    """A run kept open: between two rounds, one of its validation labels is changed everywhere."""
    run = make_run(labeled_project, **QUICK)
    items = run.dataset().of("val")
    trainer = child("train", run.root)
    trainer.send(encode_command("keep_open"))
    trainer.next(BestKept)
    evaluated = [event for event in trainer.events if isinstance(event, Evaluated)][-1]
    assert evaluated.metrics["pictures"] == len(items)
    for path in (run.held_out / f"{items[0].key}.png", labeled_project.mask_path(items[0].key)):
        path.write_bytes(annotation.encode_mask(np.full((80, 96), 77, np.uint8), []))  # in place
    label(labeled_project, "lot9/x900.png")
    trainer.send(encode_command("labels_changed", "lot9/x900.png"))
    trouble = trainer.next(Trouble)
    assert trouble.picture == items[0].key and "was changed or deleted" in trouble.what
    trainer.next(BestKept)
    trainer.send(encode_command("let_end"))
    assert trainer.end() == 0, trainer.stderr[-2000:]
    later = [event for event in trainer.events if isinstance(event, Evaluated)]
    assert later[-1].metrics["pictures"] == len(items) - 1
    chosen = [event for event in later if event.metrics["pictures"] == len(items) - 1]
    assert chosen[0].best  # metrics of other images are not compared
    assert trainer.last.result["metrics"]["pictures"] == len(items) - 1


def test_labels_that_must_not_be_trained_on_are_left_out_and_reported(labeled_project, child):
    """Left out: an image of a validation part, a pinned one, an unfinished one, one with a later class."""
    run = make_run(labeled_project, **{**QUICK, "epochs": None, "minutes": 60.0})
    held_out = run.dataset().of("val")[0].key
    duplicate = held_out.replace(".png", "b.png")  # the same number and content
    trainer = child("train", run.root)
    trainer.next(Step)
    write_png(labeled_project.image_path(duplicate), read_image(labeled_project.image_path(held_out)))
    annotation.save_mask(labeled_project, duplicate, annotation.load_mask(labeled_project, held_out))
    annotation.save_note(labeled_project, duplicate, Note(status="done"))
    label(labeled_project, "pinned.png", pin="val")
    label(labeled_project, "half.png", status="started")
    labeled_project.add_class("later")
    label(labeled_project, "later.png")
    annotation.save_mask(labeled_project, "later.png", 2 * annotation.load_mask(labeled_project, "later.png"))
    label(labeled_project, "free.png", status="started")
    trainer.send(encode_command("watch", "half.png"))
    for key in (duplicate, "pinned.png", "later.png", "half.png", "free.png"):
        trainer.send(encode_command("labels_changed", key))
    message = {}
    while "free.png" not in message:
        event = trainer.next(LabelsAdded)
        message[event.picture] = event.how, event.why
    assert (
        message[duplicate][0] == message["pinned.png"][0] == "left out"
        and "group of a validation or test image" in message[duplicate][1]
    )
    assert message["later.png"][0] == "left out" and "class" in message["later.png"][1]
    assert message["free.png"][0] == "new" and "half.png" not in message  # it is being edited
    trainer.send(encode_command("watch", "free.png"))
    assert joined(trainer, "half.png").how == "new"
    # A removed label is not used any more.
    labeled_project.mask_path("free.png").unlink()
    trainer.send(encode_command("labels_changed", "free.png"))
    assert joined(trainer, "free.png").how == "gone"
    now = {item.key for item in run.dataset().of("train")}
    assert "half.png" in now and not now & {"free.png", "pinned.png", "later.png", duplicate}


def test_verdicts_are_added(labeled_project, child):
    run = make_run(labeled_project, "resnet", width=0.25, input_size=32)
    trainer = child("train", run.root)
    trainer.send(encode_command("keep_open"))
    assert trainer.next(BestKept).waiting
    key = run.dataset().of("train")[0].key
    other = {"OK": "NG", "NG": "OK"}[run.dataset().of("train")[0].verdict]
    annotation.save_note(labeled_project, key, Note(status="done", verdict=other))
    label(labeled_project, "lot9/x900.png", verdict="perhaps")
    trainer.send(encode_command("labels_changed", "lot9/x900.png"))
    trainer.send(encode_command("labels_changed", key))
    assert "verdict" in joined(trainer, "lot9/x900.png").why
    assert joined(trainer, key).how == "corrected"
    assert trainer.next(Step).round == 1
    assert next(item for item in run.dataset().of("train") if item.key == key).verdict == other


def test_a_resumed_run_uses_added_labels_and_reports_missing_ones(labeled_project, child):
    run = make_run(labeled_project, **{**QUICK, "epochs": None, "minutes": 60.0, "validations": 200})
    trainer = child("train", run.root)
    trainer.next(Step)
    label(labeled_project, "lot9/x900.png")
    trainer.send(encode_command("labels_changed", "lot9/x900.png"))
    joined(trainer, "lot9/x900.png")
    trainer.send(encode_command("stop"))
    assert trainer.end() == 0
    correct(labeled_project, run.dataset().of("train")[0].key)  # without a command to the trainer
    resumed = child("train", run.root, "--resume")
    assert resumed.next(Started).pictures["train"] == 13
    trouble = resumed.next(Trouble)
    assert (
        "label was changed after step" in trouble.what
        and trouble.what.startswith("1 label ")
        and "not repeated exactly" in trouble.done
    )
    assert [entry.item.key for entry in run.dataset().joined][0] == "lot9/x900.png" and len(run.dataset().joined) == 2
    resumed.next(Step)


def test_a_finished_run_is_continued_with_later_labels(trained, labeled_project, child, tmp_path):
    root = tmp_path / "again"
    shutil.copytree(trained.project_root, root)
    run = Run(root / "runs" / trained.name)
    with Project.open(root) as project:
        label(project, "lot9/x900.png")  # the trainer is not informed
    trainer = child("train", run.root, "--resume")
    trainer.send(encode_command("keep_open"))
    assert joined(trainer, "lot9/x900.png").how == "new"
    assert trainer.next(Step).round == 1
    trainer.send(encode_command("stop"))
    assert trainer.end() == 0 and trainer.last.result["steps"] > trained.ending().result["steps"]


def test_next_images_are_predicted_ahead(labeled_project, child):
    paint_second_class(labeled_project)
    run = make_run(labeled_project, **QUICK)
    keys = [item.key for item in run.dataset().items[:3]]
    trainer = child("train", run.root)
    trainer.send(encode_command("watch", keys[0]))
    for key in keys[1:]:
        trainer.send(encode_command("expect", key))
    trainer.send(encode_command("keep_open"))
    trainer.next(BestKept)

    def previews() -> dict[str, Preview]:
        return {event.picture: event for event in trainer.events if isinstance(event, Preview)}

    while not set(keys) <= set(previews()):
        trainer.next(Preview)
    for event in previews().values():
        mask, scores = (read_image(run.root / getattr(event, kind)) for kind in ("mask", "scores"))
        assert mask.shape == (80, 96) and scores.shape == (2 * 80, 96)
        assert len(event.thresholds) == len(event.min_area) == 2


def test_previews_on_disk_stay_within_bounds(tmp_path):
    run_list = PreviewFiles(tmp_path)

    def put(key: str, step: int) -> None:
        for kind in ("mask", "scores"):
            write_png(tmp_path / f"{safe_name(key)}.{step}.{kind}.png", np.zeros((2, 2), np.uint8))
        run_list.add(key, step)

    def steps(key: str) -> list[int]:
        return sorted(int(path.name.split(".")[-3]) for path in tmp_path.glob(f"{safe_name(key)}.*.mask.png"))

    for step in range(0, 300, 10):
        put("a.png", step)
    kept = steps("a.png")
    assert len(kept) == STEPS and kept[0] == 0 and kept[-1] == 290 and max(np.diff(kept)) <= 3 * 290 / STEPS
    for number in range(IMAGES):
        put(f"{number}.png", 7)
    assert steps("a.png") == [290]
    again = PreviewFiles(tmp_path)  # of an earlier process
    again.add("a.png", 300)
    assert again._steps[safe_name("a.png")] == [290, 300]
