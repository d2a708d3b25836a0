"""Model in use: its chip, what follows it, offer of a new model, question before an export, read-only windows."""

from __future__ import annotations

import shutil

import pytest
from PySide6.QtWidgets import QPushButton

from tests.session.mask_run import make_mask_project
from tests.ui.training.run_events import live
from workbench.core.project.project import Project, read_project_file
from workbench.core.project.storage import write_json
from workbench.core.runs.events import Evaluated, Finished, Started, encode
from workbench.core.runs.run import Run
from workbench.session.training.trainer_thread import ExportJob
from workbench.ui.evaluation.comparison_dialog import ComparisonDialog
from workbench.ui.project.leave_guard import LeaveScope
from workbench.ui.training.train_controls import ContinuousSwitch
from workbench.ui.widgets.dialogs import Question

METRICS = {
    "regions": {"defects": 10, "found": 9, "false": 0, "false_per_picture": 0.0},
    "dice_any": 0.65,
    "good_pictures": 4,
    "false_alarm_images": 0.0,
}


@pytest.fixture
def runs(tmp_path) -> tuple[Run, Run]:
    """A better earlier run and a worse later one, of the same data."""
    first = make_mask_project(tmp_path / "project")
    second = Run(first.root.with_name("20261121-090000-unet"))
    shutil.copytree(first.root, second.root)
    for run, score in ((first, 0.65), (second, 0.63)):
        store_metrics(run, METRICS | {"any_defect": {"dice": score}, "dice_any": score}, score)
    return first, second


def store_metrics(run: Run, metrics: dict, score: float) -> None:
    events = [
        Started(model="unet", device="cpu", pictures={"train": 6, "val": 5}),
        Evaluated(step=9, score=score, best=True, metrics=metrics),
        Finished(time=300, result={"metrics": metrics}),
    ]
    run.events_path.write_text("\n".join(map(encode, events)) + "\n", "utf-8")


@pytest.fixture
def window(application, runs, qtbot):
    return open_window(application, runs, qtbot)


def open_window(application, runs, qtbot):
    session, run_list = application.services.session, application.services.run_list
    with qtbot.waitSignal(session.current.opened, timeout=10_000):
        session.open_project(runs[0].project_root)
    qtbot.waitUntil(lambda: len(run_list.lines) == 2 and not run_list.refreshing, timeout=10_000)
    qtbot.waitUntil(lambda: application.services.workflow.state().examples == 19, timeout=10_000)
    return application.window


def choices(window) -> dict:
    window.chip.choices.aboutToShow.emit()
    return {action.text(): action for action in window.chip.choices.actions() if action.text()}


def test_everything_follows_the_chosen_model(window, application, runs, qtbot):
    (first, second), root = runs, runs[0].project_root
    chip, panel, page = window.chip, window.training, window.evaluation
    assert chip.texts[0] == "Model in use: UNet 11-21 08:00 · Dice, any defect 0.65 (validation images) · automatic"
    assert chip.isVisible() and chip.text() in chip.texts and panel.controls.export.text() == "Export UNet 11-21 08:00"
    entries = choices(window)
    assert [action.isChecked() for action in entries.values()] == [True, False, False]
    chosen = next(action for text, action in entries.items() if "09:00" in text)
    assert chosen.text().endswith("  ·  Dice, any defect 0.63 (validation images)")
    chosen.trigger()
    assert read_project_file(root).model_in_use == second.name
    assert chip.texts[0] == "Model in use: UNet 11-21 09:00 · Dice, any defect 0.63 (validation images)"
    assert panel.controls.export.text() == "Export UNet 11-21 09:00"
    assert window.overlay.run.name == application.services.run_list.models()[0].name == second.name
    window.table["evaluation"].trigger()
    assert page.run.name == second.name
    choices(window)["Automatic (best comparable run)"].trigger()
    assert page.run.name == first.name == window.overlay.run.name  # the page follows, too
    # The curves of another run change nothing.
    panel.heading.setChecked(True)
    index = panel.runs.findData(second.name)
    with qtbot.waitSignal(application.services.training.ended, timeout=10_000):
        panel.runs.activated.emit(index)
    assert panel.run.name == second.name and panel.controls.export.text() == "Export UNet 11-21 08:00"
    panel.heading.setChecked(False)
    assert not panel.runs.isVisible() and not panel.view.result.isVisible()  # a folded panel names no run


def finish_training(application, run: Run, qtbot) -> None:
    training, run_list = application.services.training, application.services.run_list
    live(application)
    training.run = run
    training.state_changed.emit()
    training._thread = None
    with qtbot.waitSignal(run_list.listed, timeout=10_000):
        training._end(Finished(time=3))


def test_new_model_is_offered_with_the_paired_difference(window, application, runs, qtbot):
    first, second = runs
    run_list, messages = application.services.run_list, window.messages
    run_list.choose(first)
    finish_training(application, second, qtbot)
    assert run_list.in_use.name == first.name and window.model_offer.offered.name == second.name
    qtbot.waitUntil(lambda: any("Difference on 8 images of 4 parts" in text for text in messages.texts), timeout=20_000)
    [text] = [text for text in messages.texts if "Difference" in text]
    assert "UNet 11-21 09:00 is ready. UNet 11-21 08:00 stays in use" in text and "Dice, any defect" in text
    [message] = [message for message in messages.shown if message.topic == "model"]
    [button] = [button for button in message.findChildren(QPushButton) if button.text() == "Use UNet 11-21 09:00"]
    button.click()
    assert run_list.chosen.name == second.name and not any("Difference" in text for text in messages.texts)


def test_added_model_is_offered_while_another_one_is_chosen(window, application, runs, qtbot):
    first, second = runs
    application.services.run_list.choose(first)
    application.services.adoption.adopted.emit(second)
    qtbot.waitUntil(lambda: window.model_offer.offered is not None, timeout=10_000)
    assert window.model_offer.offered.name == second.name and application.services.run_list.in_use.name == first.name
    assert any("UNet 11-21 09:00 is ready" in text for text in window.messages.texts)


def test_worse_model_is_offered_while_the_choice_is_automatic(window, application, runs, qtbot):
    finish_training(application, runs[1], qtbot)
    assert any("is better on the validation images (Dice" in text for text in window.messages.texts)
    assert application.services.run_list.in_use.name == runs[0].name
    finish_training(application, runs[0], qtbot)  # in use already
    assert window.model_offer.offered is None or window.model_offer.offered.name != runs[0].name


@pytest.mark.parametrize("chosen", [False, True])
def test_new_model_is_compared_with_the_last_export_and_exported_from_there(
    application, runs, qtbot, monkeypatch, chosen
):
    first, second = runs
    store_metrics(second, METRICS | {"any_defect": {"dice": 0.7}, "dice_any": 0.7}, 0.7)
    export = first.project_root / "exports" / "on the line"
    write_json(export / "model.json", {"run": first.name})
    (export / "SHA256SUMS").touch()
    started = []
    monkeypatch.setattr(ExportJob, "start", lambda self, run, **how: started.append(run.name))
    window = open_window(application, runs, qtbot)
    if chosen:
        application.services.run_list.choose(first)
    finish_training(application, second, qtbot)
    assert window.model_offer.offered.name == second.name
    qtbot.waitUntil(lambda: any("the last export: Difference" in text for text in window.messages.texts))
    [message] = [message for message in window.messages.shown if message.topic == "model"]
    assert ("is ready and in use" in message.text) != chosen
    buttons = {button.text(): button for button in message.findChildren(QPushButton)}
    assert list(buttons) == ["Compare…"] + ["Use UNet 11-21 09:00"] * chosen
    buttons["Compare…"].click()
    dialog = window.findChild(ComparisonDialog)
    qtbot.waitUntil(dialog.export_button.isEnabled)
    assert (dialog.first.currentData(), dialog.second.currentData()) == (first.name, second.name)
    assert "(last export)" in dialog.first.currentText()
    dialog.export_button.click()
    assert started == [second.name]
    write_json(export.with_name("another") / "model.json", {"run": second.name})
    (export.with_name("another") / "SHA256SUMS").touch()
    with qtbot.waitSignal(application.services.run_list.listed):
        application.services.run_list.refresh()
    assert not [message for message in window.messages.shown if message.topic == "model"]


@pytest.mark.parametrize(
    "metrics, sentence",
    [
        ({"good_pictures": 0, "false_alarm_images": None}, "False alarms are not measured"),
        ({"false_alarm_images": 1.0}, "4 of 4 good validation images have a false alarm."),
        ({"false_alarm_images": 0.25}, "1 of 4 good validation images has a false alarm."),
        ({"regions": {"defects": 10, "found": 3}}, "7 of 10 defects in the validation images are missed."),
    ],
)
def test_export_of_a_weak_model_asks_once(application, runs, qtbot, monkeypatch, metrics, sentence):
    started = []
    monkeypatch.setattr(ExportJob, "start", lambda self, run, **how: started.append((run.name, how.get("anyway"))))
    store_metrics(runs[0], METRICS | metrics, 0.65)
    window, name = open_window(application, runs, qtbot), runs[0].name
    application.services.run_list.choose(runs[0])
    application.services.workflow.update_now()
    assert sentence in window.chip.toolTip() and sentence in window.stage_bar.next.toolTip() + window.chip.toolTip()
    window.table["export"].trigger()
    question = window.findChild(Question)
    assert sentence in question.text() and not started
    question.buttons["cancel"].click()
    qtbot.waitUntil(lambda: window.findChild(Question) is None)
    window.table["export"].trigger()
    window.findChild(Question).buttons["export"].click()
    qtbot.waitUntil(lambda: window.findChild(Question) is None)
    assert started == [(name, None)]
    window.table["export"].trigger()
    assert started == [(name, None)] * 2 and window.findChild(Question) is None


def test_export_of_a_measured_model_asks_nothing(window, application, runs, monkeypatch):
    started = []
    monkeypatch.setattr(ExportJob, "start", lambda self, run, **how: started.append((run.name, how.get("anyway"))))
    window.table["export"].trigger()
    assert started == [(runs[0].name, None)] and window.findChild(Question) is None


def test_blue_button_states_its_reason(application, runs, qtbot):
    store_metrics(runs[0], METRICS | {"good_pictures": 0, "false_alarm_images": None}, 0.65)
    window, monitor = open_window(application, runs, qtbot), application.services.workflow
    monitor.mark_evaluated(runs[0])
    window.resize(1700, 800)
    monitor.update_now()
    bar = window.stage_bar
    qtbot.waitUntil(bar.answer.isVisible)
    assert bar.next.text() == "Add good images" and "not measured" in bar.next.toolTip() and bar.answer.isVisible()
    assert bar.stages["label"].text() == "Label: 13 defective, 6 good"
    bar.explained.emit("reason")
    assert "reason" in window.messages.texts
    bar.answer.click()
    assert read_project_file(runs[0].project_root).no_good_images and window.table["no_good_images"].isChecked()
    monitor.update_now()
    assert bar.next.text() == "Export the model" and not bar.answer.isVisible()
    assert "this project has no good images" in bar.next.toolTip()
    assert "evaluate" in monitor.workflow.completed


def test_read_only_window_has_no_control_of_the_training(application, runs, qtbot):
    """The owner's training is neither stopped nor paused, and the model in use stays."""
    stopped = []
    with Project.open(runs[0].project_root):
        window = open_window(application, runs, qtbot)
        assert not application.services.session.writable
        training, controls = application.services.training, window.training.controls
        live(application)
        training._thread.stop = lambda **how: stopped.append(how)
        training._thread.pause = lambda: stopped.append("pause")
        training._thread.send_command = lambda *command: stopped.append(command)
        training.run = runs[1]
        training.state_changed.emit()
        window.training.heading.setChecked(True)
        assert not controls.button.isVisible() and not controls.pause.isVisible()
        assert not window.findChild(ContinuousSwitch).isVisible()
        assert window.leave_guard.free(LeaveScope.APPLICATION)  # nothing is asked about it
        assert not window.table["train"].isEnabled() and not window.table["pause"].isEnabled()
        window.training.toggle()
        window.training.toggle_pause()
        training.stop(force=True)
        training.send_command("let_end")
        assert not stopped and not training.stopping
        assert not any(action.isEnabled() for action in choices(window).values())
        application.services.run_list.choose(runs[1])
        application.services.workflow.set_no_good_images(True)
        assert application.services.run_list.in_use.name == runs[0].name
        training._thread = None
    file = read_project_file(runs[0].project_root)
    assert (file.model_in_use, file.no_good_images) == ("", False)


def test_bar_fits_to_the_window(style_sheet, application, runs, qtbot):
    """No button is cut; only a very narrow window names the model in the tooltip alone."""
    store_metrics(
        runs[0], METRICS | {"any_defect": {"dice": 0.65}, "good_pictures": 0, "false_alarm_images": None}, 0.65
    )
    window, monitor = open_window(application, runs, qtbot), application.services.workflow
    monitor.mark_evaluated(runs[0])
    monitor.update_now()
    bar = window.stage_bar
    widgets = [bar.chip, bar.next, *bar.stages.values()]
    for width in (1024, 1280, 1366, 1700):
        window.resize(width, 768)
        qtbot.waitUntil(lambda: all(widget.width() >= widget.sizeHint().width() for widget in widgets), timeout=3000)
        assert ("Model in use: UNet 11-21 08:00" in bar.chip.text()) == (width > 1100), width
        assert "Dice, any defect 0.65" in bar.chip.toolTip() and "20261121" in bar.chip.toolTip(), width
        assert "13 defective, 6 good" in bar.stages["label"].text(), width
    assert bar.answer.isVisible()
    bar.fit(870)
    bar.show_evaluation(True)
    assert [button.text() for button in bar.stages.values()] == ["", "", "Evaluate", ""]
    bar.show_evaluation(False)
    bar.fit(1700)
    assert bar.stages["label"].text() == "Label: 13 defective, 6 good"
