"""Menu bar and tool bars, from the command table.

Commands as Qt actions. The enabled and checked states of all actions are updated in one place.

Context menus of images: in the image list, in the thumbnail view and on the canvas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Protocol

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from workbench.ui.actions.command_table import Command, CommandContext, MenuTable, RecentProjectsPlace, Submenu
from workbench.ui.actions.image_menu import ImageMenu, copy_paths, show_in_folder
from workbench.ui.actions.label_menu import LabelMenu, TrainMenu
from workbench.ui.actions.project_menu import EditMenu, HelpMenu, ProjectMenu
from workbench.ui.actions.view_menu import ViewMenu
from workbench.ui.canvas.tools.tool_registry import TOOLS
from workbench.ui.images.thumbnail_view import SplitMenu
from workbench.ui.shortcuts import key_sequences, key_text, with_key
from workbench.ui.text.formatting import plain
from workbench.ui.widgets.theme import ThemeManager


class ImageMenus(QObject):
    """Context menus of images, shown on request."""

    def __init__(self, context: CommandContext, actions: Actions, parent: QWidget) -> None:
        super().__init__(parent)
        self._context, self._actions, self._parent = context, actions, parent
        context.images.menu_requested.connect(self.show_menu)
        context.canvas.image_menu_requested.connect(self._show_current)

    def _show_current(self, position: QPoint) -> None:
        key = self._context.session.key
        if key is not None:
            self.show_menu([key], position)

    def show_menu(self, keys: Sequence[str], position: QPoint) -> None:
        """Show the menu of some images at a position on the screen."""
        menu = ImageContextMenu(self._context, self._actions, list(keys), self._parent)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(position)


class ImageContextMenu(QMenu):
    """Menu of one or several images. Its entries act on these images, whichever one is open."""

    def __init__(self, context: CommandContext, actions: Actions, keys: list[str], parent: QWidget) -> None:
        super().__init__(parent)
        self.keys = keys
        session, steps = context.session, context.session.verdict_steps
        rows = [session.rows[key] for key in keys if key in session.rows]
        readable, writable = any(not row.broken for row in rows), session.writable
        if keys != [session.key] or context.images.browsing:
            self.addAction(self.tr("Open"), partial(context.images.open, keys[0])).setEnabled(len(keys) == 1)
            self.addSeparator()
        done = self.addAction(self.tr("Mark as done"), partial(steps.set_statuses, keys, "done"))
        done.setEnabled(writable and readable and any(row.status != "done" for row in rows))
        not_done = self.addAction(self.tr("Mark as not done"), partial(steps.set_statuses, keys, "started"))
        not_done.setEnabled(writable and any(row.status == "done" for row in rows))
        verdicts = self.addMenu(self.tr("Verdict"))
        present = {row.verdict for row in rows}
        names = list(session.project.file.verdicts) if session.project is not None else []
        for number, name in enumerate((*names, None), 1):
            text = self.tr("No verdict") if name is None else name.replace("&", "&&")
            if name is not None and keys == [session.key] and not context.images.browsing:
                text += "\t" + key_text(f"verdict_{number}")
            action = verdicts.addAction(text, partial(steps.set_verdicts, keys, name))
            action.setCheckable(True)
            action.setChecked(present == {name})
        verdicts.setEnabled(writable and bool(names))
        splits = SplitMenu(partial(steps.set_pins, keys), self)
        splits.setEnabled(writable)
        self.addMenu(splits)
        self.addSeparator()
        if keys == [session.key]:
            reference = self.addAction(plain(actions["reference_image"].text()), actions["reference_image"].trigger)
            reference.setEnabled(actions["reference_image"].isEnabled())
        self.addAction(self.tr("Show in folder"), partial(show_in_folder, context, keys))
        self.addAction(self.tr("Copy path"), partial(copy_paths, context, keys))
        self.addSeparator()
        remove = self.addAction(self.tr("Remove from project…"), partial(context.sources.remove_images, keys))
        remove.setEnabled(writable)


MENUS: tuple[type[MenuTable], ...] = (ProjectMenu, EditMenu, LabelMenu, ImageMenu, ViewMenu, TrainMenu, HelpMenu)


def menu_tables() -> list[Submenu]:
    """Return the menus of the bar with all commands, in the language of the window."""
    return [table().menu() for table in MENUS]


def commands(menus: list[Submenu]) -> Iterator[Command]:
    """Yield all commands of menus."""
    for menu in menus:
        yield from menu.commands()


def default_shortcuts() -> dict[str, str]:
    """Return the default shortcuts by command id, see `shortcuts.install_shortcuts`."""
    return {command.id: command.keys for command in commands(menu_tables()) if command.keys}


class ActionTable(Protocol):
    """Mapping from command id to action."""

    def __getitem__(self, id: str) -> QAction: ...


# Command ids of a tool bar. "-" is a separator, a pair is a group with a name and its tools.
Bar = tuple["str | tuple[str, tuple[str, ...]]", ...]


def _tool_buttons() -> Bar:
    """Return the tools in the order of the registry; tools with the same `button` form a group."""
    groups: dict[str, list[str]] = {}
    for name, spec in TOOLS.items():
        groups.setdefault(spec.button or name, []).append(name)
    return tuple(id if names == [id] else (id, tuple(names)) for id, names in groups.items())


RUN_MENU = ("compare_runs", "run_settings", "continue_training")
TOOL_STRIP: Bar = (*_tool_buttons(), "-", "keep", "ruler")
NAVIGATION: Bar = ("previous", "next", "next_unlabeled")
HISTORY: Bar = ("undo", "redo")
OVERLAYS: Bar = ("labels", "predictions", "show_suggestions", "-", "fit", "actual")


def ids(bar: Bar) -> list[str]:
    """Return all command ids of a tool bar, including those of groups."""
    listed: list[str] = []
    for entry in bar:
        listed += entry[1] if isinstance(entry, tuple) else () if entry == "-" else (entry,)
    return listed


def fill_menu_bar(
    bar: QMenuBar, menus: list[Submenu], actions: ActionTable, recent: QMenu, on_show: Callable[[], None]
) -> None:
    """Add the menus. on_show: bound method that is called before a menu is shown and calls `enable_submenus`."""
    for table in menus:
        menu = bar.addMenu(table.title)
        _fill(menu, table, actions, recent)
        menu.aboutToShow.connect(on_show)


def enable_submenus(bar: QMenuBar) -> None:
    """Disable the submenus without entries: those of some depend on the project.

    The menus are taken from the bar each time, because PySide may invalidate the Python objects of menus.
    """
    for top in bar.actions():
        for action in top.menu().actions():
            submenu = action.menu()
            if isinstance(submenu, QMenu):
                submenu.setEnabled(not submenu.isEmpty())


def _fill(menu: QMenu, table: Submenu, actions: ActionTable, recent: QMenu) -> None:
    menu.setToolTipsVisible(True)
    for entry in table.entries:
        if isinstance(entry, Submenu):
            _fill(menu.addMenu(entry.title), entry, actions, recent)
        elif isinstance(entry, RecentProjectsPlace):
            menu.addMenu(recent)
        elif isinstance(entry, Command):
            menu.addAction(actions[entry.id])
        else:
            menu.addSeparator()


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
