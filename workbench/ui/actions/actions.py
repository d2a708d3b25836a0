"""Commands as Qt actions. The enabled and checked states of all actions are updated in one place."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QAction, QActionGroup, QKeySequence

from workbench.ui.actions.command_table import Command, CommandContext
from workbench.ui.actions.edit_commands import EditCommands
from workbench.ui.actions.file_commands import FileCommands
from workbench.ui.actions.help_commands import HelpCommands
from workbench.ui.actions.image_commands import ImageCommands, PageCommands
from workbench.ui.actions.inspection_commands import InspectionCommands
from workbench.ui.actions.prediction_commands import PredictionCommands
from workbench.ui.actions.suggestion_commands import LabelNextCommands, SuggestionCommands
from workbench.ui.actions.tool_commands import ToolCommands
from workbench.ui.actions.training_commands import LiveTrainingCommands, TrainingCommands, TrainingSettingsCommands
from workbench.ui.actions.view_commands import EvaluationCommands, ViewCommands
from workbench.ui.text.formatting import plain
from workbench.ui.widgets.theme import ThemeManager

TABLES = (
    FileCommands,
    EditCommands,
    ToolCommands,
    ImageCommands,
    ViewCommands,
    InspectionCommands,
    TrainingCommands,
    SuggestionCommands,
    LiveTrainingCommands,
    LabelNextCommands,
    EvaluationCommands,
    TrainingSettingsCommands,
    PredictionCommands,
    PageCommands,
)


class Actions(QObject):
    """QActions by command id, one for each `Row`. `refresh` schedules an update of all states."""

    def __init__(self, parts: CommandContext, style: ThemeManager, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._style = style
        help = HelpCommands(self)
        self.keys_wanted = help.keys_wanted
        rows = [row for table in (*(kind(self) for kind in TABLES), help) for row in table.all(parts)]
        self.rows = {row.id: row for row in rows}
        self._groups: dict[str, QActionGroup] = {}
        self._actions = {row.id: self._make(row) for row in self.rows.values()}
        self._soon = QTimer(self, singleShot=True, interval=0, timeout=self._ask)
        style.changed.connect(self._draw)
        self._draw()
        self._ask()

    def __getitem__(self, id: str) -> QAction:
        return self._actions[id]

    def all(self) -> Iterable[QAction]:
        return self._actions.values()

    def reserved(self) -> list[QKeySequence]:
        """Return the shortcuts of the commands that change the open image's label or open another image."""
        return [keys for row in self.rows.values() if row.touches_image for keys in self[row.id].shortcuts()]

    def refresh(self, *_: object) -> None:
        """Schedule one update of all actions; calls until then are merged."""
        if not self._soon.isActive():
            self._soon.start()

    def _ask(self) -> None:
        for row in self.rows.values():
            action = self._actions[row.id]
            action.setEnabled(row.when is None or bool(row.when()))
            if row.on is not None:
                action.setChecked(bool(row.on()))

    def _make(self, row: Command) -> QAction:
        action = QAction(row.text, self)
        action.setObjectName(row.id)
        if row.keys:
            action.setShortcuts([QKeySequence(keys) for keys in row.keys.split("; ")])
        action.setAutoRepeat(row.repeats)
        said = plain(row.text).rstrip("…")
        key = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        action.setToolTip((row.tip or said) + (f" ({key})" if key else ""))
        if row.on is not None:
            action.setCheckable(True)
        if row.group:
            group = self._groups.setdefault(row.group, QActionGroup(self))
            group.addAction(action)
        # `triggered` has toggled a checkable action already; `refresh` restores the state that `row.on` reports.
        action.triggered.connect(lambda: (row.call(), self.refresh()))
        return action

    def _draw(self) -> None:
        for row in self.rows.values():
            if row.icon:
                self._actions[row.id].setIcon(self._style.theme.icon(row.icon))
