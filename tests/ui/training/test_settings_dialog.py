"""The recipe in the window: what would be decided, changed by hand, kept, trained with, and read again of a run."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox

from workbench.core.project.project import Project
from workbench.core.runs.run import create_run
from workbench.core.runs.training_settings import TrainingSettings, request
from workbench.inference.io.image_io import write_png
from workbench.ui.text import settings_texts as said
from workbench.ui.training.settings_dialog import TrainingSettingsDialog
from workbench.ui.training.settings_fields import field_for


@pytest.fixture
def dialog(opened, qtbot):
    """Opened from the button beside the minutes, its plan made."""
    panel = opened.window.training
    QTest.mouseClick(panel.controls.settings, Qt.MouseButton.LeftButton)
    found = opened.window.findChild(TrainingSettingsDialog)
    qtbot.waitUntil(lambda: found._settings is not None, timeout=10_000)
    return found


def write(dialog, key: str, text: str) -> None:
    line = dialog.fields[key].line
    line.setFocus()
    line.selectAll()
    QTest.keyClicks(line, text)


@pytest.mark.parametrize("model", ["unet", "resnet"])
def test_every_setting_has_a_name_a_purpose_and_a_field_that_gives_back_what_it_shows(qtbot, model):
    keys = [key for _, keys in said.groups(model) for key in keys]
    assert len(keys) == len(set(keys)) and {"batch", "rate", "augment", "precision", "validations"} <= set(keys)
    assert ("patch" in keys) == (model == "unet") and ("input_size" in keys) == (model == "resnet")
    for key in keys:
        assert said.name(key) != key and said.purpose(key), key
        field = field_for(key, [("one", "One")])
        qtbot.addWidget(field)
        value = TrainingSettings.model_fields[key].default
        field.put(value)
        assert field.value() == value, key
        request(model, **{key: field.value()})


def test_the_plan_is_shown_with_its_reasons(dialog, opened):
    recipe = dialog._settings
    assert dialog.fields["patch"].value() == recipe.patch and "pixels" in dialog.next.reasons["patch"].text()
    assert dialog.next.reasons["grad_clip"].text()  # what nobody decides says what it does
    assert not dialog.next.backs["patch"].isVisible() and dialog.count.text() == "All automatic"
    assert not dialog.of_run.isVisible()  # there is no run yet


def test_a_value_chosen_by_hand_stays_until_it_is_reset(dialog, opened, qtbot):
    automatic = dialog.fields["batch"].value()
    write(dialog, "batch", "7")
    write(dialog, "widths", "8, 16 32")
    QTest.mouseClick(dialog.fields["augment"].boxes["noise"], Qt.MouseButton.LeftButton)
    assert dialog.choices["batch"] == 7 and dialog.choices["widths"] == [8, 16, 32]
    assert "noise" in dialog.choices["augment"] and dialog.next.backs["batch"].isVisible()
    qtbot.waitUntil(lambda: dialog._settings.batch == 7, timeout=10_000)
    dialog.keep.click()
    root = opened.rooms.session.project.root
    assert json.loads((root / "training.json").read_text("utf-8"))["unet"] == dialog.choices
    controls = opened.window.training.controls
    assert "3 settings" in controls.settings.toolTip()
    controls.resnet.click()
    assert "settings" not in controls.settings.toolTip()
    controls.unet.click()
    opened.window.table["recipe"].trigger()
    again = next(
        one for one in opened.window.findChildren(TrainingSettingsDialog) if one is not dialog and one.isVisible()
    )
    assert again.fields["batch"].value() == 7
    again.next.backs["batch"].click()
    qtbot.waitUntil(lambda: again.fields["batch"].value() == automatic, timeout=10_000)
    again.all_back.click()
    again.keep.click()
    assert opened.rooms.choices.of("unet") == {}


@pytest.mark.parametrize(
    ("key", "text", "why"),
    [("batch", "x", "must be an integer"), ("scale", "0", "above 0"), ("widths", "8, many", "must be an integer")],
)
def test_what_cannot_be_is_said_at_once_and_not_kept(dialog, key, text, why):
    write(dialog, key, text)
    assert why in dialog.next.reasons[key].text() and said.name(key) in dialog.says.text()
    assert not dialog.keep.isEnabled()
    dialog.accept()
    assert dialog.isVisible()
    dialog.next.backs[key].click()
    assert dialog.keep.isEnabled()


def test_settings_that_exclude_each_other_are_said_by_the_plan(dialog, qtbot):
    for key, value in (("encoder", "resnet18"), ("stem", 4)):
        box = dialog.fields[key].box
        box.setCurrentIndex(box.findData(value))
        box.activated.emit(box.currentIndex())
    qtbot.waitUntil(lambda: "encoder resnet18" in dialog.next.reasons["stem"].text(), timeout=10_000)
    assert not dialog.keep.isEnabled()


def test_training_takes_what_was_chosen_and_its_recipe_can_be_read_afterwards(dialog, opened, qtbot):
    write(dialog, "batch", "3")
    dialog.keep.click()
    panel, training = opened.window.training, opened.rooms.training
    with qtbot.waitSignal(training.started, timeout=20_000) as started:
        panel.toggle()
    run = started.args[0]
    training.stop(force=True)
    qtbot.waitUntil(lambda: not training.busy, timeout=20_000)
    assert run.settings().batch == 3 and run.settings().reasons["batch"] == "Changed manually."
    opened.window.table.refresh()
    qtbot.waitUntil(lambda: opened.window.table["run_recipe"].isEnabled(), timeout=5000)
    opened.window.table["run_recipe"].trigger()
    page = next(one for one in opened.window.findChildren(TrainingSettingsDialog) if one.isVisible())
    assert page.of_run.isChecked() and not page.keep.isVisible()
    shown = page.pages.currentWidget()
    assert shown.values["batch"].text() == "3" and "Changed manually" in shown.reasons["batch"].text()
    assert shown.values["minutes"].text() and not shown.findChildren(QCheckBox)


def test_before_there_are_labels_it_says_what_is_missing(application, tmp_path, qtbot):
    with Project.create(tmp_path / "p", classes=["dent"]) as project:
        write_png(project.image_path("a.png"), np.zeros((20, 20), np.uint8))
    application.rooms.session.open_project(tmp_path / "p")
    application.window.settings.open()
    found = application.window.findChild(TrainingSettingsDialog)
    qtbot.waitUntil(lambda: "usual ones" in found.says.text(), timeout=10_000)
    write(found, "batch", "5")
    found.keep.click()
    assert application.rooms.choices.of("unet") == {"batch": 5}


def test_a_run_to_begin_with_is_offered(opened, root, qtbot):
    project = opened.rooms.session.project
    run = create_run(project, request("unet", batch=2))
    run.best.mkdir()
    for name in ("model.json", "network.onnx"):
        (run.best / name).write_text("{}")
    runs = opened.rooms.shelf
    runs.refresh()
    qtbot.waitUntil(lambda: bool(runs.usable("unet")), timeout=5000)
    assert not runs.usable("resnet")
    opened.window.settings.open()
    dialog = opened.window.findChild(TrainingSettingsDialog)
    box = dialog.fields["start_from"].box
    assert [box.itemData(i) for i in range(box.count())] == [None, run.name]


def test_a_chosen_value_says_what_would_have_been_decided(dialog):
    automatic = dialog.fields["batch"].value()
    write(dialog, "batch", "31")
    assert dialog.next.reasons["batch"].text() == f"Chosen by hand; automatic: {automatic}"
