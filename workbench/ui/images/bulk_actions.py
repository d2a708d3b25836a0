"""Buttons and menu for the status, the data split and the verdict of several images at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QMenu, QPushButton, QWidget

from workbench.core.project.annotation import Split, Status
from workbench.session.session import Session
from workbench.ui.widgets.keyboard import set_key_tip

_MAX_VERDICTS = 6  # verdicts with a button


class SplitMenu(QMenu):
    """Menu that calls `choose` with a data split, None for automatic assignment."""

    def __init__(self, choose: Callable[[Split | None], None], parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Data split"), parent)
        splits: tuple[tuple[Split | None, str], ...] = (
            (None, self.tr("Automatic")),
            ("train", self.tr("Training set")),
            ("val", self.tr("Validation set")),
            ("test", self.tr("Test set")),
        )
        for split, text in splits:
            self.addAction(text, partial(choose, split))


class BulkActions(QWidget):
    """Row of buttons, or two. Each click changes all images that `selected` returns, as one undo step."""

    def __init__(self, session: Session, selected: Callable[[], list[str]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._selected = session, selected
        self.done_button, self.not_done_button = QPushButton(self.tr("Done")), QPushButton(self.tr("Not done"))
        self.done_button.setToolTip(self.tr("Mark the selected images as done"))
        self.not_done_button.setToolTip(self.tr("Mark the selected images as not done"))
        self.done_button.clicked.connect(lambda: self.set_status("done"))
        self.not_done_button.clicked.connect(lambda: self.set_status("started"))
        self.split_button = QPushButton(self.tr("Data split"))
        self.split_button.setToolTip(self.tr("Data split of the selected images and of their groups"))
        self.split_button.setMenu(SplitMenu(self.set_split, self))
        self.verdict_buttons: dict[str, QPushButton] = {}  # by verdict, "" for none
        self._rows = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._status_row, self._verdict_row = QHBoxLayout(), QHBoxLayout()
        for layout in (self._rows, self._status_row, self._verdict_row):
            layout.setSpacing(6)
        for row in (self._status_row, self._verdict_row):
            self._rows.addLayout(row)
            self._rows.setAlignment(row, Qt.AlignmentFlag.AlignLeft)
        for button in (self.done_button, self.not_done_button, self.split_button):
            self._status_row.addWidget(button)
        for signal in (session.project_opened, session.project_closed, session.classes_changed):
            signal.connect(self._list_verdicts)
        self._list_verdicts()

    def row_width(self) -> int:
        """Return the width of all buttons in one row."""
        return self._status_row.sizeHint().width() + self._rows.spacing() + self._verdict_row.sizeHint().width()

    def fit(self, width: int) -> None:
        """Place the verdicts below the other buttons if one row is wider than `width` in pixels."""
        directions = QBoxLayout.Direction
        direction = directions.LeftToRight if self.row_width() <= width else directions.TopToBottom
        if direction != self._rows.direction():
            self._rows.setDirection(direction)

    def set_status(self, status: Status) -> None:
        self._session.verdict_steps.set_statuses(self._selected(), status)

    def set_split(self, split: Split | None) -> None:
        self._session.verdict_steps.set_pins(self._selected(), split)

    def set_verdict(self, verdict: str | None) -> None:
        """Set or remove the verdict."""
        self._session.verdict_steps.set_verdicts(self._selected(), verdict)

    def _list_verdicts(self) -> None:
        project = self._session.project
        names = list(project.file.verdicts)[:_MAX_VERDICTS] if project else []
        entries = [*names, ""] if names else []
        if list(self.verdict_buttons) == entries:
            return
        for button in self.verdict_buttons.values():
            self._verdict_row.removeWidget(button)
            button.deleteLater()
        self.verdict_buttons = {}
        for i, name in enumerate(entries):
            button = QPushButton(name.replace("&", "&&") or self.tr("No verdict"))
            if name:
                tip = self.tr("Set the verdict of the selected images: {name}").format(name=name)
                set_key_tip(button, tip, f"verdict_next_{i + 1}")
            else:
                button.setToolTip(self.tr("Remove the verdicts of the selected images"))
            button.clicked.connect(partial(self.set_verdict, name or None))
            self.verdict_buttons[name] = button
            self._verdict_row.addWidget(button)
