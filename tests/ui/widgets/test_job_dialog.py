"""Dialog for one long task: starting by the keyboard, and its end when the dialog is closed."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QListWidget

from tests.ui.layout_faults import cut
from workbench.session.tasks import Job
from workbench.ui.widgets.job_dialog import JobDialog


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
