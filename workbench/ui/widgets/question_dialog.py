"""Question dialog with a few named answers, a progress dialog for background work, and the question about places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QProgressBar, QPushButton, QWidget

from workbench.core.problems import UntrustedPlaces
from workbench.core.project.source_trust import trust_named
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.screen_fit import set_width_for_text

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
