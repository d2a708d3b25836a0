"""Menu bar and tool bars, from the command table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QMenuBar

from workbench.ui.actions.command_table import Command, MenuTable, RecentProjectsPlace, Submenu
from workbench.ui.actions.edit_menu import EditMenu, HelpMenu
from workbench.ui.actions.image_menu import ImageMenu
from workbench.ui.actions.label_menu import LabelMenu
from workbench.ui.actions.project_menu import ProjectMenu
from workbench.ui.actions.train_menu import TrainMenu
from workbench.ui.actions.view_menu import ViewMenu
from workbench.ui.canvas.tools.tool_registry import TOOLS

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
