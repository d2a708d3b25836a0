"""Question dialog with a few named answers, a progress dialog for background work, and the question about places.

Dialog for one long task: fields, a status line with progress, and a button that starts and cancels it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QDialog,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from workbench.core.problems import UntrustedPlaces
from workbench.core.project.sources import trust_named
from workbench.session.tasks import Job
from workbench.ui.text.formatting import number, problem_text
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.text_labels import set_width_for_text


class PathField(QWidget):
    """Line for a path with a Browse button.

    mode: "folder", "open" or "save". kinds: files that the Browse button offers, as Qt's file dialog names them; "" for
    zip files. choices: paths that a list offers, with the names that are shown for them; the line also accepts a path.
    """

    chosen = Signal(str)  # path of the Browse button

    def __init__(
        self,
        title: str,
        mode: Literal["folder", "open", "save"],
        path: Path | None = None,
        *,
        placeholder: str = "",
        choices: Mapping[Path, str] | None = None,
        kinds: str = "",
    ) -> None:
        super().__init__()
        self._title, self._mode, self._kinds = title, mode, kinds
        self._choices: dict[str, Path] = {}  # by the shown name
        if choices is None:
            self.line = self.input = QLineEdit()
        else:
            box = self.input = QComboBox(editable=True)
            box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
            self.line = box.lineEdit()
            self.set_choices(choices)
        if path is not None:
            self.line.setText(str(path))
        self.line.setPlaceholderText(placeholder)
        self.input.setAccessibleName(title)
        self.input.setToolTip(title)
        if choices is not None:
            self.line.textChanged.connect(self._show_choice)
            self._show_choice()
        button = QPushButton(self.tr("Browse…"), autoDefault=False, toolTip=title, clicked=self._browse)
        in_row((self.input, 1), button, owner=self, margins=0, spacing=6)

    @property
    def path(self) -> Path | None:
        text = self.line.text().strip()
        return self._choices.get(text, Path(text).expanduser()) if text else None

    def set_choices(self, choices: Mapping[Path, str]) -> None:
        """Offer these paths; the first one is chosen."""
        self._choices = {}
        for choice, name in choices.items():
            self._choices[str(choice) if name in self._choices else name] = choice
        assert isinstance(self.input, QComboBox)
        self.input.clear()
        self.input.addItems(list(self._choices))

    def _show_choice(self) -> None:
        """Show the path of the chosen name in the tooltip."""
        self.input.setToolTip("\n".join(filter(None, (self._title, str(self.path or "")))))

    def _browse(self) -> None:
        current, kinds = str(self.path or Path.home()), self._kinds or self.tr("Zip files (*.zip)")
        if self._mode == "folder":
            present = next((path for path in (Path(current), *Path(current).parents) if path.is_dir()), Path.home())
            chosen = QFileDialog.getExistingDirectory(self, self._title, str(present))
        elif self._mode == "open":
            chosen, _ = QFileDialog.getOpenFileName(self, self._title, current, kinds)
        else:
            chosen, _ = QFileDialog.getSaveFileName(self, self._title, current, kinds)
        if chosen:
            self.line.setText(chosen)
            self.line.setModified(True)
            self.chosen.emit(chosen)


_SIZED = Qt.WidgetAttribute.WA_Resized  # set by QWidget.resize


class JobDialog(QDialog):
    """Base class. Subclasses set `action`, fill `form` and `body`, and implement `begin` and `progress_text`.

    action, cancel_action: text of the button that starts and cancels the job. while_running: effect of closing the
    dialog on a running job.
    """

    while_running: Literal["stay open", "stop", "continue"] = "stay open"

    def __init__(self, job: Job, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_width_for_text(self, 620)
        self.job, self.action, self.cancel_action = job, "", self.tr("Cancel")
        self.fields = QWidget()
        self.fields.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)  # long texts cut no field
        self.form = QFormLayout(self.fields)
        self.form.setContentsMargins(0, 0, 0, 0)
        self.form.setHorizontalSpacing(14)
        self.form.setVerticalSpacing(9)
        self.status = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.status.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.status.hide()
        self.bar = QProgressBar(textVisible=False, accessibleName=self.tr("Progress"))
        self.body = in_column(spacing=12)
        self.body.addStretch(0)  # takes the space that no widget below takes
        row = self._buttons = QHBoxLayout()
        row.addStretch(1)
        self.close_button = QPushButton(self.tr("Close"), autoDefault=False, clicked=self.reject)
        self.start_button = QPushButton(objectName="primary", default=True, clicked=self.start)
        row.addWidget(self.close_button)
        row.addWidget(self.start_button)
        in_column(
            self.fields, self.status, self.bar, (self.body, 1), row, owner=self, margins=(22, 18, 22, 16), spacing=12
        )
        job.state_changed.connect(self.refresh)
        job.failed.connect(self.show_failure)
        job.progressed.connect(self._progressed)

    def showEvent(self, event: QShowEvent) -> None:
        """Let Tab reach the buttons after everything that subclasses added later, and make room for wrapped texts.

        Qt opens dialogs no higher than two thirds of the screen, which would cut fields, and with room for texts that
        are broken at a smaller width.
        """
        layout, width = self.layout(), self.width()
        if layout.hasHeightForWidth():
            smallest, height = layout.totalMinimumHeightForWidth(width), layout.totalHeightForWidth(width)
        else:
            smallest, height = layout.totalMinimumSize().height(), layout.totalSizeHint().height()
        self.resize(width, max(self.height(), smallest) if self.testAttribute(_SIZED) else height)
        buttons = [self._buttons.itemAt(n).widget() for n in range(self._buttons.count())]
        buttons = [button for button in buttons if button is not None]
        each, last = self.nextInFocusChain(), None
        while each is not self:
            # Qt ignores an order that begins at a widget without focus, such as the corner of a table.
            takes_focus = bool(each.focusPolicy() & Qt.FocusPolicy.TabFocus)
            if takes_focus and each not in buttons and self.isAncestorOf(each):
                last = each
            each = each.nextInFocusChain()
        for before, after in pairwise([last, *buttons] if last is not None else buttons):
            self.setTabOrder(before, after)
        super().showEvent(event)

    # --- for subclasses --------------------------------------------------------------------------

    def begin(self) -> None:
        """Start the job."""
        raise NotImplementedError

    def complete(self) -> bool:
        """Return True if the job can be started with the present fields."""
        return True

    def progress_text(self, done: str, total: str) -> str:
        """Return the text of the status line while the job runs."""
        raise NotImplementedError

    def add_field(self, name: str, field: QWidget) -> QLabel:
        """Add a named field to the form and return its label."""
        label = QLabel(name)
        target = field.input if isinstance(field, PathField) else field
        label.setBuddy(target)
        label.setMinimumHeight(target.sizeHint().height())  # centers the label vertically beside its field
        line = field.line if isinstance(field, PathField) else field
        if isinstance(line, QLineEdit):
            line.textChanged.connect(self.refresh)
        self.form.addRow(label, field)
        return label

    def add_options(self, *boxes: QWidget) -> None:
        """Add check boxes side by side below the fields."""
        row = in_row(spacing=22)
        for box in boxes:
            row.addWidget(box)
        row.addStretch(1)
        self.form.addRow("", row)

    def add_button(self, text: str, on_click: Callable[[], object], *, link: bool = False) -> QPushButton:
        """Add a button on the left and return it."""
        button = QPushButton(text, objectName="link" if link else "", autoDefault=False, clicked=lambda: on_click())
        self._buttons.insertWidget(self._buttons.indexOf(self.close_button) - 1, button)
        return button

    def show_status(self, text: str) -> None:
        self.status.setText(text)
        self.status.setVisible(bool(text))

    # --- events ----------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the job, or cancel the running one."""
        if self.job.running:
            self.job.cancel()
            self.start_button.setEnabled(False)
        else:
            self.show_status("")
            self.bar.setRange(0, 0)
            self.begin()

    def refresh(self, *_: object) -> None:
        running = self.job.running
        self.fields.setVisible(self.form.rowCount() > 0)
        self.fields.setEnabled(not running)
        self.close_button.setEnabled(not running or self.while_running != "stay open")
        self.bar.setVisible(running)
        self.start_button.setText(self.cancel_action if running else self.action)
        self.start_button.setEnabled(running or self.complete())

    def show_failure(self, problem: Exception) -> None:
        self.show_status(" ".join(filter(None, problem_text(problem))))

    def done(self, result: int) -> None:
        """Close the dialog, and end its job or not according to `while_running`."""
        if self.while_running == "stop":
            self.job.close()
        if self.while_running == "continue" or not self.job.running:
            super().done(result)

    def keyPressEvent(self, event) -> None:
        """Ignore Enter in a list, which opens the current row and must not start the job too."""
        entered = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if not (entered and isinstance(self.focusWidget(), QAbstractItemView)):
            super().keyPressEvent(event)

    def _progressed(self, done: int, total: int) -> None:
        self.bar.setRange(0, total)
        self.bar.setValue(done)
        self.show_status(self.progress_text(number(done), number(total)))


def open_path(path: Path) -> None:
    """Open a file or folder with the program that the desktop has chosen for it."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.absolute())))


CANCEL = "cancel"
_PLACES = {"apart": 0, "primary": 2}  # order of the buttons by the kind of answer
_WIDTH = 520  # px


@dataclass(frozen=True)
class Answer:
    """One button.

    kind: "primary" is the default, "plain", or "apart": on the opposite side, for an answer that discards work.
    """

    name: str
    text: str
    kind: str = "plain"


class Question(QDialog):
    """Dialog with one question. `answered` carries the name of an answer, or CANCEL for Esc and the close button."""

    answered = Signal(str)

    def __init__(
        self,
        title: str,
        question: str,
        details: Sequence[str],
        answers: Sequence[Answer],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        set_width_for_text(self, _WIDTH)
        self.question = _text(question, "heading")
        self.details = [_text(text, "") for text in details if text]
        self.buttons: dict[str, QPushButton] = {}
        self._answer = CANCEL
        column = in_column(owner=self, margins=(22, 20, 22, 18), spacing=10)
        for label in (self.question, *self.details):
            column.addWidget(label)
        column.addSpacing(6)
        column.addStretch(1)
        column.addLayout(self._row(answers))
        self.finished.connect(lambda _: self.answered.emit(self._answer))

    def showEvent(self, event: QShowEvent) -> None:
        """Fit the height to the texts. The size hint supposes that they wrap at a smaller width."""
        width = max(self.width(), self.minimumWidth())
        self.resize(width, self.layout().totalHeightForWidth(width))
        super().showEvent(event)

    def text(self) -> str:
        return " ".join(label.text() for label in (self.question, *self.details))

    def _row(self, answers: Sequence[Answer]) -> QHBoxLayout:
        row = in_row(spacing=8)
        for answer in sorted(answers, key=lambda answer: _PLACES.get(answer.kind, 1)):
            name = "primary" if answer.kind == "primary" else ""
            button = QPushButton(answer.text, objectName=name, autoDefault=answer.kind == "primary")
            button.setDefault(answer.kind == "primary")
            button.clicked.connect(lambda _=False, name=answer.name: self._choose(name))
            row.addWidget(button)
            if answer.kind == "apart":
                row.addStretch(1)
            self.buttons[answer.name] = button
        if not any(answer.kind == "apart" for answer in answers):
            row.insertStretch(0, 1)
        for answer in answers:
            if answer.kind == "primary":
                self.buttons[answer.name].setFocus()
        return row

    def _choose(self, name: str) -> None:
        self._answer = name
        self.accept() if name != CANCEL else self.reject()


class Waiting(QDialog):
    """Progress dialog for background work. `cancelled` is emitted when the user cancels it."""

    cancelled = Signal()

    def __init__(self, title: str, text: str, parent: QWidget | None = None, *, cancel: str = "") -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        set_width_for_text(self, _WIDTH)
        self.label = _text(text, "heading")
        bar = QProgressBar(textVisible=False)
        bar.setRange(0, 0)
        column = in_column(self.label, bar, owner=self, margins=(22, 20, 22, 18), spacing=14)
        self.cancel = QPushButton(cancel or self.tr("Cancel"), clicked=self.reject)
        column.addWidget(self.cancel, 0, Qt.AlignmentFlag.AlignRight)
        self.rejected.connect(self.cancelled)

    def finish(self) -> None:
        """Close the dialog without emitting `cancelled`."""
        self.accept()


def _text(text: str, name: str) -> QLabel:
    label = QLabel(text, wordWrap=True, objectName=name)
    label.setTextFormat(Qt.TextFormat.PlainText)  # the text may quote a file
    return label


def ask_trust(check: Callable[[], object], then: Callable[[], object], parent: QWidget) -> None:
    """Call `then`; if `check` raises UntrustedPlaces, not before the user has allowed them."""
    try:
        check()
    except UntrustedPlaces as problem:
        SourceQuestion(problem, then, parent).open()
    else:
        then()


class SourceQuestion(Question):
    """Question with the list of the places. then: called after they were allowed."""

    def __init__(self, problem: UntrustedPlaces, then: Callable[[], object], parent: QWidget) -> None:
        path, places = problem.fields["path"], problem.fields["places"]
        trusted = self.tr(
            "Nothing has been read from there. Allow it if you know these folders, or trust who made this."
        )
        remote = self.tr("An address with two slashes is another computer, which learns your user name.")
        super().__init__(
            self.tr("Images outside of the folder"),
            self.tr("{path} reads images from outside of its folder. Allow this?").format(path=path),
            [places, trusted, remote if "//" in places or "\\\\" in places else ""],
            [Answer("allow", self.tr("Allow")), Answer(CANCEL, self.tr("Cancel"), "primary")],
            parent,
        )

        def answer(name: str) -> None:
            if name == "allow":
                trust_named(problem)
                then()

        self.answered.connect(answer)
