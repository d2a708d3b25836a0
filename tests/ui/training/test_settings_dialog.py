"""Training settings dialog: automatic values, changed values, validation, settings of a run."""

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
from workbench.ui.text import settings_texts
from workbench.ui.training.settings_dialog import TrainingSettingsDialog
from workbench.ui.training.settings_page import field_for


@pytest.fixture
def dialog(opened, qtbot):
    """The dialog with planned values, opened from the training panel."""
    panel = opened.window.training
    QTest.mouseClick(panel.controls.settings, Qt.MouseButton.LeftButton)
    dialog = opened.window.findChild(TrainingSettingsDialog)
    qtbot.waitUntil(lambda: dialog.settings is not None, timeout=10_000)
    return dialog


def write(dialog, key: str, text: str) -> None:
    line = dialog.fields[key].line
    line.setFocus()
    line.selectAll()
    QTest.keyClicks(line, text)


@pytest.mark.parametrize("model", ["unet", "resnet"])
def test_every_setting_has_name_purpose_and_field(qtbot, model):
    keys = [key for _, keys in settings_texts.groups(model) for key in keys]
    assert len(keys) == len(set(keys)) and {"batch", "rate", "augment", "precision", "epochs"} <= set(keys)
    assert ("patch" in keys) == (model == "unet") and ("input_size" in keys) == (model == "resnet")
    for key in keys:
        assert settings_texts.name(key) != key and settings_texts.purpose(key), key
        field = field_for(key, [("one", "One")])
        qtbot.addWidget(field)
        value = TrainingSettings.model_fields[key].default
        field.set_value(value)
        assert field.value() == value, key
        request(model, **{key: field.value()})


def test_planned_invalid_and_changed_values(dialog, opened):
    # Planned values with reasons.
    settings = dialog.settings
    assert dialog.fields["patch"].value() == settings.patch and "pixels" in dialog.page.reasons["patch"].text()
    assert dialog.page.reasons["weight_decay"].text()  # a default shows its purpose
    assert not dialog.page.resets["patch"].isVisible() and dialog.count.text() == "All automatic"
    assert not dialog.of_run.isVisible()  # there is no run yet
    # An invalid value is shown and not saved.
    for key, text, why in (("batch", "x", "integer"), ("scale", "0", "above 0"), ("widths", "8, many", "integer")):
        write(dialog, key, text)
        assert why in dialog.page.reasons[key].text() and settings_texts.name(key) in dialog.status.text()
        assert not dialog.save.isEnabled()
        dialog.accept()
        assert dialog.isVisible()
        dialog.page.resets[key].click()
        assert dialog.save.isEnabled()
    # A changed value shows the automatic one.
    automatic = dialog.fields["batch"].value()
    write(dialog, "batch", "31")
    assert dialog.page.reasons["batch"].text() == f"Changed manually. Automatic value: {automatic}"


def test_changed_value_is_stored_until_reset(dialog, opened, qtbot):
    automatic = dialog.fields["batch"].value()
    write(dialog, "batch", "7")
    write(dialog, "widths", "8, 16 32")
    dialog.fields["augment"].boxes["noise"].click()
    assert dialog.choices["batch"] == 7 and dialog.choices["widths"] == [8, 16, 32]
    assert "noise" in dialog.choices["augment"] and dialog.page.resets["batch"].isVisible()
    qtbot.waitUntil(lambda: dialog.settings.batch == 7, timeout=10_000)
    dialog.save.click()
    root = opened.services.session.project.root
    assert json.loads((root / "training.json").read_text("utf-8"))["unet"] == dialog.choices
    controls = opened.window.training.controls
    assert "3 changed" in controls.settings.toolTip()
    controls.resnet.click()
    assert "changed" not in controls.settings.toolTip()
    controls.unet.click()
    opened.window.table["training_settings"].trigger()
    again = next(
        other
        for other in opened.window.findChildren(TrainingSettingsDialog)
        if other is not dialog and other.isVisible()
    )
    assert again.fields["batch"].value() == 7
    again.page.resets["batch"].click()
    qtbot.waitUntil(lambda: again.fields["batch"].value() == automatic, timeout=10_000)
    again.reset_all.click()
    again.save.click()
    assert opened.services.saved_overrides.of("unet") == {}


def test_conflicting_settings_are_shown(dialog, qtbot):
    for key, value in (("encoder", "resnet18"), ("stem", 4)):
        box = dialog.fields[key].box
        box.setCurrentIndex(box.findData(value))
        box.activated.emit(box.currentIndex())
    qtbot.waitUntil(lambda: "resnet18" in dialog.page.reasons["stem"].text(), timeout=10_000)
    assert not dialog.save.isEnabled()


def test_training_uses_changed_values_and_run_shows_them(dialog, opened, qtbot):
    write(dialog, "batch", "3")
    dialog.save.click()
    panel, training = opened.window.training, opened.services.training
    with qtbot.waitSignal(training.started, timeout=20_000) as started:
        panel.toggle()
    run = started.args[0]
    training.stop(force=True)
    qtbot.waitUntil(lambda: not training.busy, timeout=20_000)
    assert run.settings().batch == 3 and run.settings().reasons["batch"]
    opened.window.table.refresh()
    qtbot.waitUntil(lambda: opened.window.table["run_settings"].isEnabled(), timeout=5000)
    opened.window.table["run_settings"].trigger()
    page = next(other for other in opened.window.findChildren(TrainingSettingsDialog) if other.isVisible())
    assert page.of_run.isChecked() and not page.save.isVisible()
    shown = page.pages.currentWidget()
    assert shown.values["batch"].text() == "3" and shown.reasons["batch"].text()
    assert shown.values["minutes"].text() and not shown.findChildren(QCheckBox)


def test_project_without_labels_shows_reason(application, tmp_path, qtbot):
    with Project.create(tmp_path / "p", classes=["dent"]) as project:
        write_png(project.image_path("a.png"), np.zeros((20, 20), np.uint8))
    application.services.session.open_project(tmp_path / "p")
    application.window.training_settings.open()
    dialog = application.window.findChild(TrainingSettingsDialog)
    qtbot.waitUntil(lambda: "default values" in dialog.status.text(), timeout=10_000)
    write(dialog, "batch", "5")
    dialog.save.click()
    assert application.services.saved_overrides.of("unet") == {"batch": 5}


def test_earlier_run_is_offered_as_initial_weights(opened, root, qtbot):
    project = opened.services.session.project
    run = create_run(project, request("unet", batch=2))
    run.best.mkdir()
    for name in ("model.json", "network.onnx"):
        (run.best / name).write_text("{}")
    runs = opened.services.run_list
    runs.refresh()
    qtbot.waitUntil(lambda: bool(runs.usable("unet")), timeout=5000)
    assert not runs.usable("resnet")
    opened.window.training_settings.open()
    dialog = opened.window.findChild(TrainingSettingsDialog)
    box = dialog.fields["start_from"].box
    assert [box.itemData(i) for i in range(box.count())] == [None, run.name]


def test_settings_without_effect_are_hidden(dialog):
    names = [settings_texts.name(key) for key in dialog.fields]
    titles = [title for title, _ in settings_texts.groups("unet")]
    assert not set(names) & set(titles)

    def shown() -> set[str]:
        return {key for key in ("widths", "stem", "width", "weights") if not dialog.fields[key].isHidden()}

    assert shown() == {"widths", "stem"}
    encoder = dialog.fields["encoder"]
    encoder.set_value("resnet18")
    encoder.edited.emit()
    assert shown() == {"width", "weights"}
    write(dialog, "width", "0.5")
    encoder.set_value("plain")
    encoder.edited.emit()
    assert shown() == {"widths", "stem", "width"}  # a changed value can still be reset


def test_setting_for_experts_is_shown_where_it_was_changed(dialog, opened, qtbot):
    assert "grad_clip" not in dialog.fields
    dialog.reject()
    opened.services.saved_overrides.save("unet", {"grad_clip": 2.5})
    opened.window.training_settings.open()
    again = next(other for other in opened.window.findChildren(TrainingSettingsDialog) if other.isVisible())
    assert again.fields["grad_clip"].value() == 2.5 and again.count.text() == "1 changed manually"
    again.page.resets["grad_clip"].click()
    again.save.click()
    assert opened.services.saved_overrides.of("unet") == {}
