"""Verb queue: order, reasons, label errors and problems."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.conftest import fill_project
from tests.inference.conftest import gray_settings, write_onnx
from tests.label_queue_network import BIAS, WEIGHTS
from workbench.cli import main
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.project.storage import write_json
from workbench.core.runs.dataset import collect
from workbench.core.runs.run import Run
from workbench.core.runs.training_settings import TrainingSettings
from workbench.inference.model_settings import ClassSettings, save_settings


@pytest.fixture
def filled(project) -> Project:
    """Return a project with 16 labeled images, one of them wrong, and 8 new ones, two of them with a defect."""
    keys = fill_project(project, 10, good=14)
    for key in [*keys[-6:], keys[0], keys[8]]:
        project.mask_path(key).unlink()
        project.note_path(key).unlink()
    annotation.save_mask(project, keys[4], np.zeros((80, 96), np.uint8))  # its defect is not labeled
    return project


@pytest.fixture
def run(filled) -> Run:
    run = Run(filled.root / "runs" / "20260101-000000-unet")
    write_onnx(run.best / "network.onnx", WEIGHTS, BIAS)
    settings = gray_settings(classes=(ClassSettings(1, "scratch", "#ff0000"),), thresholds=(0.5,), min_area=(6,))
    save_settings(settings, run.best / "model.json")
    write_json(run.settings_path, TrainingSettings(model="unet").model_dump(mode="json"))
    write_json(run.dataset_path, collect(filled, "unet").model_dump(mode="json"))
    return run


def ask(capsys, *arguments: object) -> tuple[int, dict]:
    status = main(["queue", *map(str, arguments), "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_without_a_model_images_similar_to_labeled_defects_come_first(filled, capsys):
    keys = filled.images()
    status, message = ask(capsys, filled.root)
    received = {entry["path"]: [reason["kind"] for reason in entry["reasons"]] for entry in message["pictures"]}
    assert status == 0 and not message["run"] and len(received) == 8
    assert set(list(received)[:2]) == {keys[0], keys[8]}  # the two with a defect
    assert received[keys[0]][0] == "spot" and sum("spot" in kinds for kinds in received.values()) <= 2


def test_a_damaged_index_is_rebuilt(filled, capsys):
    (filled.root / ".cache" / "index.sqlite").write_bytes(b"no database")
    status, answer = ask(capsys, filled.root)
    assert status == 0 and len(answer["pictures"]) == 8


def test_queue_lists_open_images_with_reasons(filled, run, capsys):
    status, message = ask(capsys, filled.root)
    keys = filled.images()
    assert status == 0 and message["run"] == run.name and message["looked"] == message["open"] == 8
    received = [entry["path"] for entry in message["pictures"]]
    assert set(received) == {key for key in keys if not filled.mask_path(key).exists()}
    assert set(received[:2]) == {keys[0], keys[8]}  # the two with a defect
    assert all(entry["why"] and entry["reasons"][0]["kind"] for entry in message["pictures"])
    assert [entry["value"] for entry in message["pictures"]] == sorted(
        (entry["value"] for entry in message["pictures"]), reverse=True
    )
    status, message = ask(capsys, filled.root, "--count", 3)
    assert len(message["pictures"]) == 3


def test_analysis_is_limited_and_continues(filled, run, capsys):
    assert [ask(capsys, filled.root, "--look", 5)[1]["looked"] for _ in range(3)] == [5, 8, 8]


def test_without_a_run_images_are_ranked_by_similarity(filled, capsys):
    status, message = ask(capsys, filled.root)
    assert status == 0 and message["run"] is None and len(message["pictures"]) == 8


def test_label_errors_are_listed_without_confirmed_ones(filled, run, capsys):
    wrong = filled.images()[4]
    status, message = ask(capsys, filled.root, "--errors", "--run", "last")
    assert status == 0 and [entry["path"] for entry in message["pictures"]] == [wrong]
    issue = message["pictures"][0]["slips"][0]
    assert issue["kind"] == "missing" and issue["why"] == "scratch predicted, labeled as good"
    learned = {item.key for item in run.dataset().items if item.split == "train"}
    assert issue["learned"] == (wrong in learned) and message["learned_from"] == len(learned)
    assert issue["area"] > 20 and issue["width"] > 4 and not message["weak_model"]
    note = annotation.load_note(filled, wrong)
    expected = {name: issue[name] for name in annotation.ConfirmedLabel.model_fields}
    note.confirmed.append(annotation.ConfirmedLabel(**expected))
    annotation.save_note(filled, wrong, note)
    assert ask(capsys, filled.root, "--errors")[1]["pictures"] == []


def test_problems_are_reported(project, capsys, tmp_path):
    assert ask(capsys, tmp_path / "none")[0] == 1
    status, message = ask(capsys, project.root)
    assert status == 1 and "no images" in message["error"]
    fill_project(project, 2)
    status, message = ask(capsys, project.root, "--errors")
    assert status == 1 and "Train a model first" in message["error"]
    assert ask(capsys, project.root, "--run", "nothing")[0] == 1
    status, message = ask(capsys, project.root)
    assert status == 0 and message["pictures"] == [] and message["open"] == 0  # all are done
    assert main(["queue", str(project.root), "--count", "0"]) == 2


def test_text_output(filled, run, capsys):
    assert main(["queue", str(filled.root)]) == 0
    assert "Perhaps" in (out := capsys.readouterr().out) or "Unsure" in out or "Probably" in out
    assert main(["queue", str(filled.root), "--errors"]) == 0
    assert "labeled as good at" in capsys.readouterr().out
