"""Stage bar, Done button, folding of the training panel, messages, and the project made of a dropped folder."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLabel, QPushButton

from tests.conftest import fill_project
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.runs.run import Run
from workbench.inference.io.image_io import write_png
from workbench.session.next_step import NextStep, Remark, RunFacts, Workflow, WorkflowState, next_step
from workbench.ui.help.guide_window import GuideWindow
from workbench.ui.project.new_project_dialog import NewProjectDialog, QuickProjectDialog
from workbench.ui.shell.stage_bar import step_text

LEFT = Qt.MouseButton.LeftButton
NEW, FIRST = "lot1/new.png", "lot0/p000.png"


def test_steps_have_commands_texts_reasons_and_guide_pages(application, monkeypatch, qtbot):
    measured = RunFacts(labeled=20, measured=True, defects=20)
    states = [
        replace(base, current=current, training=training, exporting=exporting, run=run)
        for base in (
            WorkflowState(),
            WorkflowState(images=40, open_images=40),
            WorkflowState(images=40, open_images=40, reading=True),
            WorkflowState(images=40, classes=2, open_images=40),
            WorkflowState(images=40, classes=2, examples=20, open_images=20),
            WorkflowState(images=40, classes=2, examples=9, with_defects=9),
            WorkflowState(images=40, classes=2, examples=20, with_defects=10, good=10, open_images=20),
            WorkflowState(images=40, classes=2, examples=12, with_defects=10, good=2, open_images=20),
            WorkflowState(model="resnet", images=40, open_images=40),
            WorkflowState(model="resnet", images=40, verdicts=2, open_images=40),
            WorkflowState(model="resnet", images=40, verdicts=2, examples=20),
            WorkflowState(images=40, writable=False),
        )
        for current in ("open", "painted")
        for training in (False, True)
        for exporting in (False, True)
        for run in (
            None,
            measured,
            replace(measured, missed=1),
            replace(measured, model="resnet", missed=2),
            replace(measured, false_alarms=3),
            replace(measured, evaluated=True),
            replace(measured, evaluated=True, missed=9),
            replace(measured, evaluated=True, good=4),
            replace(measured, evaluated=True, good=4, exported=True),
        )
    ]
    steps = {next_step(state) for state in states}
    assert len({step.id for step in steps}) >= 17
    assert {step.command for step in steps} - {""} <= set(application.window.table.commands)
    assert all(step_text(step) and "{" not in step_text(step) for step in steps)
    # Texts with numbers.
    for id, count, more, text in (
        ("label_defects", 1, True, "Label 1 more image with defects"),
        ("label_defects", 2, False, "Label 2 images with defects"),
        ("label_defects", 2, True, "Label 2 more images with defects"),
        ("label_good", 5, False, "Mark 5 good images as done"),
        ("label_good", 5, True, "Mark 5 more good images as done"),
        ("assign_verdicts", 2, True, "Set the verdict of 2 more images"),
        ("train", 5.0, False, "Train 5 minutes"),
        ("train", 2.5, False, "Train 2.5 minutes"),
        ("missed", 4, False, "Look at 4 missed defects"),
    ):
        assert step_text(NextStep(stage="label", id=id, count=count, more=more)) == text
    again = NextStep(stage="train", id="train_again", count=1)
    assert step_text(again) == "Train with 1 new label"
    assert step_text(replace(again, reason=Remark(id="unmeasured"))) == "Train again"
    # A step without a command explains it, one whose command is disabled has the reason of the command.
    bar, monitor = application.window.stage_bar, application.services.workflow
    for step, text in (
        (NextStep(stage="train", id="all_done"), "All images are marked as done"),
        (NextStep(stage="train", id="training_read_only"), "read-only in this window"),
        (NextStep(stage="export", id="exporting"), "being exported"),
        (NextStep(stage="label", id="reading"), "being read"),
        (NextStep(stage="label", id="read_only"), "read-only in this window"),
        (NextStep(stage="train", id="train", command="train", count=5), "Open or create a project first"),
    ):
        monkeypatch.setattr(monitor, "workflow", Workflow(step))
        bar.refresh()
        assert not bar.next.isEnabled() and text in bar.next.toolTip(), step.id
    monkeypatch.setattr(monitor, "workflow", None)
    # First steps and tour open the guide.
    window = application.window
    for id, page in (("first_steps", "first-project.md"), ("tour", "tour.md")):
        window.table[id].trigger()
        guide = window.findChild(GuideWindow)
        assert guide.isVisible() and guide.browser.source().fileName() == page
    guide.close()


def test_bar_follows_the_project(opened, qtbot):
    window, monitor = opened.window, opened.services.workflow
    bar = window.stage_bar
    qtbot.waitUntil(lambda: monitor.state().with_defects == 3)  # labels are read in a thread
    monitor.update_now()
    assert bar.isVisible() and bar.next.text() == "Mark 5 good images as done"  # three defects are labeled
    assert bar.stages["label"].text() == "Label: 3 defective, 0 good"
    assert [stage for stage, button in bar.stages.items() if button.isChecked()] == ["label"]
    assert bar.answer.isVisible()
    shown = []  # numbers, names of other stages, answer
    for width in range(1400, 300, -20):
        bar.fit(width)
        shown.append(("0 good" in bar.stages["label"].text(), bool(bar.stages["train"].text()), bar.answer.isVisible()))
    assert list(dict.fromkeys(shown)) == [(True, True, True), (True, False, True), (True, False, False), (False,) * 3]
    window.classes.add()
    assert monitor.state().classes == 3
    opened.services.session.close_project()
    qtbot.waitUntil(lambda: not bar.isVisible())


def test_step_is_run_by_a_click(driver, qtbot):
    bar, monitor = driver.window.stage_bar, driver.services.workflow
    driver.open(FIRST)
    qtbot.waitUntil(lambda: monitor.state().with_defects == 3)
    monitor.update_now()
    assert bar.next.text() == "Mark 5 good images as done"
    QTest.mouseClick(bar.next, LEFT)
    assert driver.window.images.thumbnail_view.isVisible()  # good images are marked on their thumbnails
    driver.window.images.filters.thumbnails.click()
    driver.open(NEW)
    qtbot.waitUntil(lambda: driver.canvas.content.seen)
    driver.drag((20, 20), (40, 40))
    qtbot.waitUntil(lambda: bar.next.text() == "Mark this image as done")
    QTest.mouseClick(bar.next, LEFT)
    qtbot.waitUntil(lambda: driver.session.rows[NEW].status == "done")
    qtbot.waitUntil(lambda: bar.stages["label"].text() == "Label: 4 defective, 0 good")


def test_next_step_returns_to_an_open_image_that_is_not_done_before_it_leads_to_the_next_one(driver, monkeypatch):
    window, monitor = driver.window, driver.services.workflow
    driver.open(NEW)
    driver.qtbot.waitUntil(lambda: monitor.state().with_defects == 3)  # labels are read in a thread
    driver.session.verdict_steps.set_statuses([FIRST], "new")
    monkeypatch.setattr(monitor, "state", lambda: WorkflowState(images=5, classes=2, open_images=2, training=True))
    monitor.update_now()
    assert window.stage_bar.next.text() == "Continue labeling"
    for leave in (window.center.show_evaluation, lambda on: window.images.toggle_thumbnails()):
        leave(True)
        QTest.mouseClick(window.stage_bar.next, LEFT)
        assert driver.canvas.isVisible() and driver.session.opening == NEW
    QTest.mouseClick(window.stage_bar.next, LEFT)
    assert driver.session.opening == FIRST


def test_text_of_the_next_step_does_not_move_the_stages(style_sheet, opened, qtbot):
    bar = opened.window.stage_bar
    opened.window.resize(1280, 800)
    qtbot.wait(50)
    menus = opened.window.menuBar()
    places = set()
    for text in ("Export", "Label recommended images"):  # the longest one of a project with a model
        bar.next.setText(text)
        qtbot.waitUntil(lambda: bar.next.width() == bar.next.sizeHint().width())
        places.add(tuple(button.mapTo(menus, QPoint()).x() for button in bar.stages.values()))
        assert bar.next.mapTo(menus, QPoint(bar.next.width(), 0)).x() > menus.width() - 20  # at the right end
    assert len(places) == 1


def test_stages_show_their_pages(opened):
    window = opened.window
    bar = window.stage_bar
    QTest.mouseClick(bar.stages["evaluate"], LEFT)
    assert window.center.in_evaluation and bar.stages["evaluate"].isChecked()
    QTest.mouseClick(bar.stages["evaluate"], LEFT)
    assert window.center.in_evaluation
    button = window.evaluation.segmentation.placeholder.button
    assert button.text() == "Train a model"
    QTest.mouseClick(button, LEFT)
    assert not window.center.in_evaluation and window.training.body.isVisible()
    QTest.mouseClick(bar.stages["evaluate"], LEFT)
    QTest.mouseClick(bar.stages["label"], LEFT)
    assert not window.center.in_evaluation and bar.stages["label"].isChecked()


def test_step_shows_the_evaluation_of_the_run_in_use_instead_of_another_one(opened, tmp_path, monkeypatch):
    """After a training that was started from the evaluation, the next step leads to the evaluation of its model."""
    window, monitor, shown = opened.window, opened.services.workflow, []
    step = NextStep(stage="evaluate", id="missed", command="evaluation", count=3)
    monkeypatch.setattr(monitor, "workflow", Workflow(step))
    monkeypatch.setattr(type(window.overlay), "run", property(lambda _: Run(tmp_path / "runs" / "new")))
    monkeypatch.setattr(window.evaluation, "show_run", shown.append)
    window.table["evaluation"].setEnabled(True)
    window.stage_bar.refresh()
    QTest.mouseClick(window.stage_bar.next, LEFT)
    assert window.center.in_evaluation and [run.name for run in shown] == ["new"]
    window.evaluation.run = Run(tmp_path / "runs" / "old")
    QTest.mouseClick(window.stage_bar.next, LEFT)
    assert window.center.in_evaluation and [run.name for run in shown] == ["new", "new"]
    window.evaluation.run = shown[-1]
    QTest.mouseClick(window.stage_bar.next, LEFT)
    assert window.center.in_evaluation and len(shown) == 2  # it is shown already


def test_done_button_marks_and_undo_reverts(driver, qtbot):
    button = driver.window.header.done
    driver.open(FIRST)
    assert button.isChecked() and button.text() == "Done"
    width = button.width()
    QTest.mouseClick(button, LEFT)
    assert status_of(driver, FIRST) == "started" and not button.isChecked() and driver.session.key == FIRST
    assert "Enter" in button.text() and "Enter" in button.toolTip() and button.width() == width
    QTest.mouseClick(button, LEFT)
    qtbot.waitUntil(lambda: driver.session.key != FIRST)  # the next image is opened
    assert status_of(driver, FIRST) == "done"
    driver.session.undo()
    assert status_of(driver, FIRST) == "started"


def status_of(driver, key: str) -> str:
    driver.session.verdict_steps.finish()
    assert driver.session.flush()
    return annotation.load_note(driver.session.project, key).status


def test_a_training_is_one_line_until_its_curves_are_requested(driver, qtbot):
    panel, training, canvas = driver.window.training, driver.services.training, driver.canvas
    driver.open(FIRST)
    assert not panel.body.isVisible() and panel.controls.button.isVisible() and panel.runs is not None
    idle, folded = canvas.height(), panel.height()
    training.preparing = True
    training.state_changed.emit()
    qtbot.wait(50)
    assert not panel.body.isVisible() and (canvas.height(), panel.height()) == (idle, folded)
    driver.window.stage_bar.stages["train"].click()
    assert panel.body.isVisible()
    driver.open(NEW)
    assert panel.body.isVisible()  # opened by the user: it stays


@pytest.mark.parametrize("height", [768, 600])
def test_the_open_training_panel_leaves_most_of_the_canvas(style_sheet, driver, qtbot, height):
    window = driver.window
    window.resize(1366, height)
    qtbot.wait(50)
    idle = driver.canvas.height()
    window.training.heading.setChecked(True)
    qtbot.waitUntil(lambda: window.training.height() > 100)
    assert driver.canvas.height() >= 0.6 * idle
    window.workspace.moveSplitter(100, 1)  # dragged to the top
    qtbot.waitUntil(lambda: driver.canvas.height() >= 0.6 * idle)
    assert window.training.height() > 100


def test_height_of_the_training_panel_is_restored(style_sheet, driver, qtbot):
    window = driver.window
    window.training.heading.setChecked(True)
    qtbot.waitUntil(lambda: window.training.height() > 150)
    total = sum(window.workspace.sizes())
    window.workspace.setSizes([total - 211, 211])
    window.training.heading.setChecked(False)
    qtbot.waitUntil(lambda: window.training.height() < 60)
    window.training.heading.setChecked(True)
    qtbot.waitUntil(lambda: window.training.height() == 211)


def test_messages_are_closed_by_escape_and_by_time(driver, qtbot, monkeypatch):
    # Esc closes the newest message, except a lasting one.
    messages = driver.window.messages
    messages.show_message("problem", "first")
    messages.show_message("problem", "second")
    messages.show_message("problem", "lasting", sticky=True)
    driver.canvas.setFocus()
    for texts in (["first", "lasting"], ["lasting"], ["lasting"]):
        QTest.keyClick(driver.canvas, Qt.Key.Key_Escape)
        assert messages.texts == texts
    # Information fades, progress does not.
    monkeypatch.setattr("workbench.ui.widgets.message_bar._TIMEOUT", 10)
    monkeypatch.setattr("workbench.ui.widgets.message_bar._BUTTON_TIMEOUT", 20)
    messages.show_message("info", "progress", sticky=True)
    messages.show_message("info", "short")
    messages.show_message("problem", "stays")
    qtbot.waitUntil(lambda: "short" not in messages.texts)
    assert messages.texts == ["lasting", "progress", "stays"]
    messages.clear()
    messages.show_message("success", "with a button", button="Undo", callback=messages.clear)
    qtbot.waitUntil(lambda: not messages.texts)


def test_short_messages_are_small_at_the_lower_left_one_at_a_time(style_sheet, driver, qtbot):
    messages, canvas = driver.window.messages, driver.window.canvas
    messages.show_message("problem", "error")
    for number in range(3):
        messages.show_message("info", f"text {number}", topic=f"topic {number}")
        messages.show_message("success", f"done {number}", button="Undo", callback=messages.clear)
    assert messages.texts == ["error", "done 2"]
    intervals = [message._timer and message._timer.interval() for message in messages.shown]
    messages.show_message("info", "no button")
    assert [*intervals, messages.shown[-1]._timer.interval()] == [None, 9000, 4000]
    messages.show_message("info", "offer", lasting=True)
    assert messages.texts == ["error", "no button", "offer"] and messages.shown[-1]._timer is None
    corner = canvas.mapTo(messages.parentWidget(), QPoint(0, canvas.height()))
    assert messages.width() <= 440 and messages.x() - corner.x() == corner.y() - messages.geometry().bottom() - 1 == 10
    messages.clear()
    buttons = [(text, messages.clear) for text in ("Compare…", "Use UNet 11-28 17:53")]
    messages.show_message("info", "UNet 11-28 17:53 is ready.", 30 * "difference ", buttons=buttons, lasting=True)
    assert messages.shown[0]._labels["advice"].width() > 340  # the buttons are below a long text


def test_a_press_on_a_short_message_closes_it(style_sheet, driver):
    bar = driver.window.messages
    bar.show_message("success", "x.png marked as done", button="Undo", callback=driver.session.undo)
    bar.show_message("warning", "stays")
    for message, closed in zip(list(bar.shown), (True, False), strict=True):
        QTest.mouseClick(message.findChild(QLabel, "messageText"), LEFT)
        assert (message not in bar.shown) == closed


def test_progress_of_a_closed_project_is_not_shown(opened):
    status = opened.window.status
    opened.services.session.image_list.progressed.emit(300, 321)
    assert status.progress.isVisible() and status.progress_label.text() == "Reading 321 images…"
    opened.services.session.close_project()
    assert not (status.progress.isVisible() or status.progress_label.isVisible())


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "lot 7"
    for n in range(3):
        write_png(folder / f"{n}.png", np.full((40, 50), 90 + n, np.uint8))
    return folder


def test_folder_becomes_a_project_with_one_question(application, qtbot, folder, tmp_path, monkeypatch):
    window, session = application.window, application.services.session
    monkeypatch.setattr(type(window.project_commands), "projects_folder", lambda self: tmp_path)
    assert window.project_commands.drop([folder], [])
    qtbot.waitUntil(lambda: window.findChild(QuickProjectDialog) is not None)
    dialog = window.findChild(QuickProjectDialog)
    qtbot.waitUntil(lambda: dialog.count.text() == "3 images")
    QTest.keyClicks(dialog.classes, "pit, scratch")
    with qtbot.waitSignal(session.current.opened):
        QTest.keyClick(dialog.classes, Qt.Key.Key_Return)
    assert session.project.root == tmp_path / "lot 7-project" and len(session.keys) == 3
    assert [info.name for info in session.project.classes] == ["pit", "scratch"]
    qtbot.waitUntil(lambda: window.stage_bar.next.text() == "Label 2 images with defects")


def test_more_options_of_a_folder(application, qtbot, folder):
    dialog = application.window.project_commands.make_project(folder)
    dialog.details.click()
    full = application.window.findChild(NewProjectDialog)
    assert full.images.text() == str(folder)
    full.reject()


@pytest.fixture
def banner(opened):
    """Return a function that returns the texts of the shown messages and their buttons by text."""
    messages = opened.window.messages

    def read() -> tuple[str, dict[str, QPushButton]]:
        buttons = {b.text(): b for m in messages.shown for b in m.findChildren(QPushButton)}
        return " ".join(messages.texts), buttons

    return read


def paint(driver) -> np.ndarray:
    driver.open("lot1/new.png")
    driver.drag((20, 20), (40, 30))
    return driver.session.mask.copy()


def test_banner_finds_a_project_moved_while_painting(driver, root, tmp_path, banner, qtbot, monkeypatch):
    driver.open("lot1/new.png")
    moved = tmp_path / "moved"
    root.rename(moved)
    paint(driver)
    qtbot.waitUntil(lambda: driver.session.autosave.state == "failed", timeout=10_000)
    text, buttons = banner()
    assert f"The project folder {root} is not available." in text and set(buttons) == {"Find folder…", "Try again"}
    assert "Unsaved changes: 1. Changes are kept in memory and in a recovery journal." in text
    driver.drag((50, 50), (60, 60))
    mask = driver.session.mask.copy()
    assert "Unsaved changes: 2." in banner()[0] and banner()[1] == buttons  # the canvas keeps the focus
    for number in range(5):  # other messages do not replace it
        driver.window.messages.show_message("problem", f"message {number}")
    assert "is not available" in banner()[0]
    buttons["Try again"].click()
    assert "is not available" in banner()[0] and not root.exists()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(moved))
    buttons["Find folder…"].click()
    qtbot.waitUntil(lambda: driver.session.key == "lot1/new.png" and driver.session.image is not None, timeout=10_000)
    assert "is not available" not in banner()[0] and "All changes are saved" in banner()[0]
    assert np.array_equal(annotation.read_mask(moved / "masks" / "lot1" / "new.png.png"), mask) and not root.exists()
    driver.session.undo()
    assert not np.array_equal(driver.session.mask, mask)


def test_banner_of_a_folder_moved_while_its_images_are_listed(driver, root, tmp_path, banner, qtbot):
    driver.open("lot1/new.png")
    keys = list(driver.session.keys)
    root.rename(tmp_path / "moved")
    driver.session.refresh_images()
    qtbot.waitUntil(lambda: "is not available" in banner()[0], timeout=10_000)
    assert "damaged" not in banner()[0] and driver.session.keys == keys and not root.exists()


def test_banner_is_shown_in_a_rebuilt_window(opened, driver, root, tmp_path, qtbot):
    driver.open("lot1/new.png")
    root.rename(tmp_path / "moved")
    paint(driver)
    qtbot.waitUntil(lambda: driver.session.autosave.state == "failed", timeout=10_000)
    for language in ("zh_CN", "en"):
        old = opened.window
        old.table[f"language_{language}"].trigger()
        qtbot.waitUntil(lambda: opened.window is not old, timeout=5000)  # noqa: B023
    assert str(root) in " ".join(opened.window.messages.texts)
    (tmp_path / "moved").rename(root)
    qtbot.waitUntil(lambda: not opened.window.messages.texts or opened.services.session.folder.check(), timeout=20_000)
    assert str(root) not in " ".join(opened.window.messages.texts) and opened.services.session.flush()


def test_lost_lock_is_shown_in_the_title(driver, root, banner, qtbot):
    driver.open("lot1/new.png")
    lock = root / "project.lock"
    lock.unlink()
    with Project.open(root) as other:
        fill_project(other, 1, seed=5)
        paint(driver)
        qtbot.waitUntil(lambda: driver.session.autosave.state == "failed", timeout=10_000)
        text, buttons = banner()
        assert str(root) in text and "recovery journal" in text and not buttons
        assert "(read-only)" in driver.window.windowTitle()


def test_images_are_read_again_when_the_folder_is_back(driver, root, tmp_path, banner, qtbot):
    session = driver.session
    driver.open("lot1/new.png")
    damaged = {key for key in session.keys if session.rows[key].broken}
    root.rename(tmp_path / "moved")
    paint(driver)
    qtbot.waitUntil(lambda: session.autosave.state == "failed", timeout=10_000)
    for key in session.keys:
        session.open_image(key)
        qtbot.waitUntil(lambda: session.key == key, timeout=10_000)  # noqa: B023
    unreadable = {key for key in session.keys if session.rows[key].broken} - damaged
    assert unreadable and session.image is None
    (tmp_path / "moved").rename(root)
    banner()[1]["Try again"].click()
    qtbot.waitUntil(lambda: session.image is not None, timeout=10_000)
    assert session.key == session.keys[-1] and not any(session.rows[key].broken for key in unreadable)
