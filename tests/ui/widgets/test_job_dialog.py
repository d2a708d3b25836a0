"""Dialog for one long task: starting by the keyboard, and its end when the dialog is closed."""

from __future__ import annotations

import re

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFrame, QLabel, QListWidget

from tests.core.project.foreign_project import foreign
from tests.ui.layout_faults import cut
from workbench.core import resources
from workbench.inference.io.image_io import write_png
from workbench.session.tasks import Job
from workbench.ui.label_files.label_file_dialogs import ImportDialog
from workbench.ui.widgets.dialogs import Answer, JobDialog, Question, SourceQuestion
from workbench.ui.widgets.theme import ThemeManager


class ListDialog(JobDialog):
    """Dialog with a list, whose job runs until it is canceled."""

    def __init__(self) -> None:
        super().__init__(Job())
        self.job.setParent(self)
        self.action = "Start"
        self.rows = QListWidget()
        self.rows.addItems(["a", "b"])
        self.body.addWidget(self.rows, 1)
        self.refresh()

    def begin(self) -> None:
        def wait(task) -> None:
            while not task.cancelled():
                pass

        self.job.begin(wait, lambda _: None)


@pytest.fixture
def dialog(qtbot):
    dialog = ListDialog()
    qtbot.addWidget(dialog)
    dialog.show()
    yield dialog
    dialog.job.close()


def test_enter_in_a_list_opens_the_row_only(dialog, qtbot):
    dialog.rows.setFocus()
    dialog.rows.setCurrentRow(0)
    with qtbot.waitSignal(dialog.rows.itemActivated):
        QTest.keyClick(dialog.rows, Qt.Key.Key_Return)
    assert not dialog.job.running and dialog.isVisible()
    dialog.start_button.setFocus()
    QTest.keyClick(dialog.start_button, Qt.Key.Key_Return)
    assert dialog.job.running and dialog.start_button.text() == "Cancel"


@pytest.mark.parametrize("while_running", ["stay open", "stop", "continue"])
def test_closing_with_a_running_job(dialog, while_running):
    dialog.while_running = while_running
    dialog.start_button.click()
    assert dialog.job.running and dialog.close_button.isEnabled() == (while_running != "stay open")
    dialog.reject()
    assert dialog.isVisible() == (while_running == "stay open")
    assert dialog.job.running == (while_running != "stop")


def test_a_dialog_opens_as_high_as_its_content(qtbot):
    """The size that Qt proposes has room for more lines of a text than it takes at the width of the dialog."""
    dialog = JobDialog(Job())
    dialog.job.setParent(dialog)
    qtbot.addWidget(dialog)
    dialog.refresh()
    dialog.show_status("word " * 60)
    proposed = dialog.sizeHint().height()
    dialog.show()
    assert dialog.height() == dialog.layout().totalHeightForWidth(dialog.width()) < proposed
    lines = "\n".join("line" for _ in range(20))
    dialog.show_status(lines)
    qtbot.waitUntil(lambda: dialog.status.height() >= 20 * dialog.fontMetrics().height() and not [*cut(dialog)])
    for dialog in (ListDialog(), JobDialog(Job())):  # without a status
        dialog.job.setParent(dialog)
        qtbot.addWidget(dialog)
        dialog.refresh()
        dialog.show()
        assert dialog.height() == dialog.layout().totalSizeHint().height() and dialog.status.isHidden()
    sized = ListDialog()
    qtbot.addWidget(sized)
    sized.resize(700, 600)
    sized.show()
    assert sized.height() == 600


def test_dialog_is_as_high_as_its_texts(qtbot):
    details = ["Labels, and images that were copied into the project, are moved to the trash of the project.", "Done."]
    dialog = Question("Remove", "Remove image.png from the project?", details, [Answer("yes", "Remove", "primary")])
    qtbot.addWidget(dialog)
    dialog.show()
    last, button = dialog.details[-1].geometry(), dialog.buttons["yes"].geometry()
    assert dialog.details[-1].height() < 2 * dialog.fontMetrics().height()
    assert button.top() - last.bottom() < 30


@pytest.fixture
def private(tmp_path):
    write_png(tmp_path / "private" / "x.png", np.zeros((20, 20), np.uint8))
    (tmp_path / "private" / "x.txt").write_text("0 0.5 0.5 0.2 0.2\n")
    return tmp_path / "private"


def test_project_is_opened_after_the_places_are_allowed(application, tmp_path, private, qtbot):
    root, session = foreign(tmp_path, path=str(private)), application.services.session
    application.window.project_commands.open(root)
    question = application.window.findChild(SourceQuestion)
    assert str(private) in question.text() and "another computer" not in question.text()
    question.buttons["cancel"].click()
    assert session.project is None
    assert not session.open_project(root)  # without the question, for example by another way
    application.window.project_commands.open(root)
    qtbot.waitUntil(lambda: len(application.window.findChildren(SourceQuestion)) == 1)
    application.window.findChild(SourceQuestion).buttons["allow"].click()
    qtbot.waitUntil(lambda: session.project is not None and len(session.keys) == 2)
    session.close_project()
    qtbot.waitUntil(lambda: not application.window.findChildren(SourceQuestion))
    application.window.project_commands.open(root)
    assert session.project is not None and not application.window.findChildren(SourceQuestion)


def test_address_of_another_computer_is_explained(application, tmp_path):
    application.window.project_commands.open(foreign(tmp_path, path="//evil.example/share"))
    assert "another computer" in application.window.findChild(SourceQuestion).text()


def test_data_set_is_read_after_its_places_are_allowed(opened, tmp_path, private, qtbot):
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "data.yaml").write_text(f"path: {private}\ntrain: .\nnames: [dent]\n", "utf-8")
    opened.window.label_files.show_import(tmp_path / "set" / "data.yaml")
    dialog = opened.window.findChild(ImportDialog)
    question = dialog.findChild(SourceQuestion)
    assert str(private) in question.text() and not opened.services.session.label_import.running
    question.buttons["allow"].click()
    qtbot.waitUntil(lambda: dialog.plan is not None and dialog.plan.report.labeled == 1)


def test_frame_styles_do_not_apply_to_the_labels_of_messages(application):
    sheet = resources.path("style.qss").read_text(encoding="utf-8")
    frames = set(re.findall(r"QFrame#(\w+)", sheet))
    application.window.messages.show_message("problem", "The label could not be saved", "No space left on device")
    labels = application.window.findChildren(QLabel)
    assert any(label.text() == "The label could not be saved" for label in labels) and "message" in frames
    assert not {label.objectName() for label in labels} & frames


@pytest.mark.parametrize("scale", [1, 2])
def test_colored_edge_of_a_message_is_straight(qapp, qtbot, scale):
    font, sheet, palette = QApplication.font(), qapp.styleSheet(), qapp.palette()
    style = ThemeManager(qapp)
    style.apply("light")
    try:
        message = QFrame(objectName="message")
        message.setProperty("kind", "problem")
        message.resize(200, 50)
        qtbot.addWidget(message)
        message.show()
        image = QImage(message.size() * scale, QImage.Format.Format_ARGB32)
        image.setDevicePixelRatio(scale)
        image.fill(0)
        message.render(image)
    finally:
        qapp.setFont(font)
        qapp.setStyleSheet(sheet)
        qapp.setPalette(palette)
    pixels = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.width(), 4)[..., :3].astype(int)
    color = style.theme.color("danger")
    colored = (np.abs(pixels - [color.blue(), color.green(), color.red()]).max(2) < 40).sum(0)
    assert (colored[: 3 * scale] >= image.height() - 4 * scale).all() and not colored[3 * scale :].any()
