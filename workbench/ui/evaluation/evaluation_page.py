"""Evaluation page in the center of the window: choice of run and split, and the evaluation for the kind of model."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from workbench.core.geometry.drawing import NOTHING
from workbench.core.problems import Problem
from workbench.core.runs.run import Run, list_runs
from workbench.session.run_evaluation import RunEvaluation
from workbench.session.session import Session
from workbench.ui.evaluation.segmentation_evaluation import SegmentationEvaluation
from workbench.ui.evaluation.verdict_evaluation_page import VerdictEvaluationPage
from workbench.ui.shortcuts import key_sequences, with_key
from workbench.ui.text import formatting
from workbench.ui.widgets.theme import ThemeManager

# Commands that would change the image behind the page.
_HIDDEN_WORK = ("undo", "redo", "copy_previous", "accept_all", *(f"verdict_{n}" for n in range(1, 10)))


class EvaluationPage(QWidget):
    """Evaluation page. `left`: the user returns to the image. `chosen`: an image and the region to show."""

    left = Signal()
    chosen = Signal(str, object)  # key, Rect

    def __init__(self, session: Session, room: RunEvaluation, style: ThemeManager) -> None:
        super().__init__()
        self.setObjectName("review")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._session, self._room, self._style = session, room, style
        self.masks = SegmentationEvaluation(room, style)
        self.verdicts = VerdictEvaluationPage(session, style)
        self.kinds = QStackedWidget()
        self.kinds.addWidget(self.masks)
        self.kinds.addWidget(self.verdicts)
        self.run: Run | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._head())
        column.addWidget(self.kinds, 1)
        self.masks.chosen.connect(self.chosen)
        self.verdicts.image_wanted.connect(lambda key: self.chosen.emit(key, NOTHING))
        self.masks.waiting.left.connect(self.left)
        room.changed.connect(self._changed)
        session.project_closed.connect(self._closed)
        style.changed.connect(self._restyle)
        self._restyle()
        self._changed()

    def _head(self) -> QWidget:
        head = QWidget(objectName="header")
        head.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        row = QHBoxLayout(head)
        row.setContentsMargins(16, 7, 10, 7)
        row.setSpacing(10)
        row.addWidget(QLabel(self.tr("Review"), objectName="heading"))
        self.runs = QComboBox()
        self.runs.setAccessibleName(self.tr("Run"))
        self.runs.setToolTip(self.tr("Which run is reviewed"))
        self.runs.setMinimumWidth(210)
        self.runs.activated.connect(self._run_chosen)
        row.addWidget(self.runs)
        self._split = QButtonGroup(self)
        self.splits: dict[str, QPushButton] = {}
        sides = QHBoxLayout()
        sides.setSpacing(0)
        for name, side in (("val", "left"), ("test", "right")):
            button = QPushButton(checkable=True, objectName=side)
            button.clicked.connect(lambda _=False, name=name: self._room.choose_split(name))
            self._split.addButton(button)
            self.splits[name] = button
            sides.addWidget(button)
        self.splits["val"].setToolTip(self.tr("Held out from learning; thresholds are chosen on these"))
        self.splits["test"].setToolTip(self.tr("Not used for training or any choice. These metrics are unbiased."))
        row.addLayout(sides)
        row.addStretch(1)
        self.again = QPushButton(self.tr("Count anew"))
        self.again.setToolTip(self.tr("Recalculate after label changes; predictions are reused"))
        self.again.clicked.connect(self._again)
        self.back = QPushButton(self.tr("Back to the image"))
        self.back.setToolTip(with_key(self.tr("Back to the image"), "cancel"))
        self.back.clicked.connect(self.left)
        row.addWidget(self.again)
        row.addWidget(self.back)
        return head

    # --- commands ---------------------------------------------------------------------------------

    def show_run(self, run: Run | None) -> None:
        """Evaluate this run, unless it is shown already."""
        self._list_runs(run)
        if run is None:
            return
        unset = self.kinds.currentWidget() is self.masks and self._room.stage in ("none", "broken")
        if self.run is None or run.root != self.run.root or unset:
            self.run = run
            self._open(run)
        elif self._room.stale:
            self._room.refresh()
        self.masks.gallery.setFocus()

    def _open(self, run: Run) -> None:
        if _model(run) == "resnet":
            self._room.close()
            self.kinds.setCurrentWidget(self.verdicts)
            self.verdicts.show_run(run)
        else:
            self.kinds.setCurrentWidget(self.masks)
            self._room.open(run)

    def _again(self) -> None:
        if self.run is not None:
            self._room.refresh()

    def _run_chosen(self, index: int) -> None:
        project = self._session.project
        if project is not None:
            self.show_run(Run(project.root / "runs" / self.runs.itemData(index)))

    def _list_runs(self, shown: Run | None) -> None:
        project = self._session.project
        self.runs.clear()
        for run in list_runs(project.root)[::-1] if project is not None else []:
            if _reviewable(run):
                self.runs.addItem(formatting.run_name(run), run.name)
        self.runs.setCurrentIndex(self.runs.findData(shown.name) if shown is not None else -1)
        self.runs.setVisible(self.runs.count() > 0)

    # --- events -----------------------------------------------------------------------------------

    def _changed(self) -> None:
        room = self._room
        texts = {"val": self.tr("Validation  {n}"), "test": self.tr("Test  {n}")}
        for name, button in self.splits.items():
            button.setVisible(bool(room.splits))
            button.setEnabled(name in room.splits)
            button.setText(texts[name].format(n=formatting.number(room.splits.get(name, 0))))
            button.setChecked(name == room.split)
        self.again.setVisible(room.stage == "ready")

    def _closed(self) -> None:
        self.run = None
        self.left.emit()

    def _restyle(self) -> None:
        self.back.setIcon(self._style.theme.icon("close", "muted"))
        self.again.setIcon(self._style.theme.icon("refresh", "muted"))

    def event(self, event: QEvent) -> bool:
        # Shortcuts that paint, judge or undo would change an image that is not visible.
        if event.type() == QEvent.Type.ShortcutOverride and _acts_on_the_image(event):
            event.accept()
            return True
        if event.type() == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Escape:
            self.left.emit()
            return True
        return super().event(event)

    def end(self) -> None:
        self.masks.end()
        self.verdicts.end()


def _acts_on_the_image(event: QKeyEvent) -> bool:
    pressed = event.keyCombination().toCombined() & ~Qt.KeyboardModifier.KeypadModifier.value
    if event.modifiers() & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier):
        return any(keys[0].toCombined() == pressed for id in _HIDDEN_WORK for keys in key_sequences(id))
    return not Qt.Key.Key_F1 <= event.key() <= Qt.Key.Key_F35


def _model(run: Run) -> str:
    try:
        return run.settings().model
    except Problem:
        return ""


def _reviewable(run: Run) -> bool:
    try:
        return run.usable
    except (OSError, Problem):
        return False
