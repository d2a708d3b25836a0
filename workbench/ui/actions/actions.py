"""Commands as Qt actions. The enabled and checked states of all actions are updated in one place."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeySequence

from workbench.ui.actions.command_table import Command, CommandContext
from workbench.ui.actions.menus import commands, menu_tables
from workbench.ui.shortcuts import key_sequences, key_text, with_key
from workbench.ui.text.formatting import plain
from workbench.ui.widgets.theme import ThemeManager


class DisabledKeys(QAction):
    """Action with the shortcuts of all disabled commands, which Qt would ignore."""

    pressed = Signal(QKeySequence)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Shortcut:
            self.pressed.emit(event.key())
            return True
        return super().event(event)


class Actions(QObject):
    """QActions by command id, one for each `Command`. `refresh` schedules an update of all states."""

    refused = Signal(str, str)  # name of a disabled command whose key was pressed, reason why it is disabled

    def __init__(self, context: CommandContext, style: ThemeManager, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.context, self._style = context, style
        self.menus = menu_tables()
        self.commands = {command.id: command for command in commands(self.menus)}
        self._groups: dict[str, QActionGroup] = {}
        self._actions = {command.id: self._create(command) for command in self.commands.values()}
        self.disabled_keys = DisabledKeys(self, autoRepeat=False)
        self.disabled_keys.pressed.connect(self._refuse)
        self._refresh_timer = QTimer(self, singleShot=True, interval=0, timeout=self._update_states)
        for signal in context.state_signals():
            signal.connect(self.refresh)
        self._update_states()

    def __getitem__(self, id: str) -> QAction:
        return self._actions[id]

    def all(self) -> Iterable[QAction]:
        return self._actions.values()

    def reason(self, id: str) -> str:
        """Return the reason why a command cannot be run now, or ""."""
        return self.commands[id].reason(self.context)

    def reserved(self) -> list[QKeySequence]:
        """Return the shortcuts of the commands that change the current image's label or open another image."""
        return [keys for id, command in self.commands.items() if command.changes_image for keys in key_sequences(id)]

    def refresh(self, *_: object) -> None:
        """Schedule one update of all actions; calls until then are merged."""
        if not self._refresh_timer.isActive():
            self._refresh_timer.start()

    def _update_states(self) -> None:
        for command in self.commands.values():
            action = self._actions[command.id]
            action.setEnabled(not command.reason(self.context))
            if command.checked is not None:
                action.setChecked(bool(command.checked(self.context)))
            if command.name is not None:
                name = command.name(self.context)
                action.setText(name.replace("&", "&&") or command.text)
                action.setVisible(bool(name))
        self._update_disabled_keys()

    def _update_disabled_keys(self) -> None:
        keys = [keys for action in self.all() if not action.isEnabled() for keys in action.shortcuts()]
        if keys != self.disabled_keys.shortcuts():
            self.disabled_keys.setShortcuts(keys)

    def _refuse(self, keys: QKeySequence) -> None:
        id = next((id for id, action in self._actions.items() if keys in action.shortcuts()), None)
        reason = self.reason(id) if id is not None else ""
        if reason:
            self.refused.emit(plain(self._actions[id].text()).rstrip("…"), reason)

    def _create(self, command: Command) -> QAction:
        action = QAction(command.text, self)
        if command.icon:
            action.setIcon(self._style.icon(command.icon))
        action.setObjectName(command.id)
        self._set_keys(command, action)
        action.setAutoRepeat(command.auto_repeat)
        if command.checked is not None:
            action.setCheckable(True)
        if command.group:
            group = self._groups.setdefault(command.group, QActionGroup(self))
            group.addAction(action)
        # `triggered` has toggled a checkable action already; `refresh` restores the state that `checked` returns.
        action.triggered.connect(lambda: (command.run(self.context), self.refresh()))
        return action

    def update_shortcuts(self) -> None:
        """Update the shortcuts of all actions, and the tooltips that quote them, after `change_shortcuts`."""
        for command in self.commands.values():
            self._set_keys(command, self._actions[command.id])
        self._update_disabled_keys()

    def _set_keys(self, command: Command, action: QAction) -> None:
        tip = command.tip or plain(command.text).rstrip("…")
        action.setShortcuts(key_sequences(command.id))
        action.setToolTip(
            with_key(tip.format(**{name: key_text(id) for name, id in command.tip_keys.items()}), command.id)
        )
