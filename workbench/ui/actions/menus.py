"""Layout of menus and tool bars: tables of command ids. "-" is a separator, a pair is a submenu."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QMenuBar

from workbench.core.resources import LANGUAGES
from workbench.ui.canvas.tools.tool_registry import TOOLS


class ActionTable(Protocol):
    """Mapping from command id to action."""

    def __getitem__(self, id: str) -> QAction: ...


Table = tuple["str | tuple[str, Table]", ...]


def _tools_of(menu: str) -> Table:
    return tuple(name for name, spec in TOOLS.items() if spec.menu == menu)


def _tool_buttons() -> Table:
    """Return the tools in the order of the registry; tools with the same `button` form a group."""
    groups: dict[str, list[str]] = {}
    for name, spec in TOOLS.items():
        groups.setdefault(spec.button or name, []).append(name)
    return tuple(id if names == [id] else (id, tuple(names)) for id, names in groups.items())


CLASSES: Table = tuple(f"class_{n}" for n in range(1, 10))
VERDICTS: Table = tuple(f"verdict_{n}" for n in range(1, 10))
SPLITS: Table = ("use_any", "-", "use_train", "use_val", "use_test")
VERDICTS_NEXT: Table = tuple(f"verdict_next_{n}" for n in range(1, 10))

PREDICTION_DISPLAY: Table = (
    "look_outline",
    "look_filled",
    "look_heat",
    "look_doubt",
    "-",
    "next_look",
    "look_back",
    "look_forward",
    "own_thresholds",
)
SUGGESTIONS: Table = (
    "proposals",
    "-",
    "accept_all",
    "reject_all",
    "bring_back",
    "-",
    "show_proposals",
    "toward_labels",
    "toward_proposals",
)

MENUS: dict[str, Table] = {
    "project": (
        "new_project",
        "new_from_folder",
        "open_project",
        "@recent",
        "make_sample",
        "-",
        "add_pictures",
        "add_folder",
        "sources",
        "reload",
        "-",
        "import_labels",
        "export_labels",
        "-",
        "check_labels",
        "statistics",
        "-",
        "merge_project",
        "pack",
        "unpack",
        "-",
        "save",
        "show_folder",
        "close_project",
        "-",
        "quit",
    ),
    "edit": ("undo", "redo", "history", "-", "copy_previous", "-", "find", "palette", "-", "settings"),
    "label": (
        ("brushes", _tools_of("brushes")),
        ("outlines", _tools_of("outlines")),
        ("smart", _tools_of("smart")),
        ("areas", (*_tools_of("areas"), "-", "edit_outline")),
        "-",
        "smaller",
        "bigger",
        "-",
        "pick",
        "keep",
        "explicit",
        "-",
        ("classes", CLASSES),
        "add_class",
        ("proposing", SUGGESTIONS),
        "-",
        "spots",
        "next_spot",
        "previous_spot",
    ),
    "picture": (
        "done_next",
        "mark_done",
        "not_done",
        "-",
        "next",
        "previous",
        "next_unlabelled",
        "previous_unlabelled",
        "next_open",
        "next_broken",
        "next_page",
        "previous_page",
        "-",
        "label_next",
        "label_errors",
        "take_model",
        "keep_label",
        "next_doubt",
        "-",
        ("verdicts", VERDICTS),
        ("verdicts_next", VERDICTS_NEXT),
        "add_verdict",
        ("use", SPLITS),
        "-",
        "show_file",
        "copy_path",
        "remove_image",
    ),
    "view": (
        "fit",
        "actual",
        "zoom_in",
        "zoom_out",
        "next_region",
        "previous_region",
        "-",
        "ruler",
        "scale",
        "minimap",
        ("display", ("stretch", "invert", "difference", "good_sample", "-", "reset_display")),
        "-",
        "labels",
        "predictions",
        ("prediction_display", PREDICTION_DISPLAY),
        "-",
        "sheet",
        "panel_pictures",
        "panel_side",
        "panel_training",
        "tool_names",
        "next_panel",
        "previous_panel",
        "-",
        ("theme", ("theme_system", "theme_dark", "theme_light")),
        ("language", ("language_system", *(f"language_{code}" for code in LANGUAGES))),
        "full_screen",
    ),
    "train": (
        "train",
        "pause",
        "keep_learning",
        "learn_on",
        "-",
        "recipe",
        "run_recipe",
        "-",
        "review",
        "compare_evaluations",
        "save_evaluation_report",
        "-",
        "predict",
        "predict_folder",
        "propose_all",
        "-",
        ("curves", ("whole_run", "compare_runs", "-", "save_curves_picture", "save_curves_table")),
        "-",
        "adopt_model",
        "export",
        "export_choices",
    ),
    "help": ("first_steps", "tour", "guide", "keys", "check_gpu", "show_log", "about"),
}

RUN_MENU: Table = ("review", "compare_evaluations", "run_recipe", "export")
TOOL_STRIP: Table = (*_tool_buttons(), "-", "keep", "ruler")
NAVIGATION: Table = ("previous", "next", "next_unlabelled")
HISTORY: Table = ("undo", "redo")
OVERLAYS: Table = ("labels", "predictions", "show_proposals", "-", "fit", "actual")


def titles() -> dict[str, str]:
    """Return the translated titles of menus and submenus."""
    return {
        "project": QCoreApplication.translate("menus", "&Project"),
        "edit": QCoreApplication.translate("menus", "&Edit"),
        "label": QCoreApplication.translate("menus", "&Label"),
        "picture": QCoreApplication.translate("menus", "&Image"),
        "view": QCoreApplication.translate("menus", "&View"),
        "train": QCoreApplication.translate("menus", "&Train"),
        "help": QCoreApplication.translate("menus", "&Help"),
        "curves": QCoreApplication.translate("menus", "C&urves"),
        "proposing": QCoreApplication.translate("menus", "Su&ggestions"),
        "classes": QCoreApplication.translate("menus", "Select &class"),
        "brushes": QCoreApplication.translate("menus", "&Brushes"),
        "outlines": QCoreApplication.translate("menus", "&Outlines"),
        "smart": QCoreApplication.translate("menus", "&Assisted"),
        "areas": QCoreApplication.translate("menus", "&Regions"),
        "display": QCoreApplication.translate("menus", "&Display"),
        "verdicts": QCoreApplication.translate("menus", "&Verdict"),
        "use": QCoreApplication.translate("menus", "Data &split"),
        "verdicts_next": QCoreApplication.translate("menus", "Set verdict &and go to next"),
        "prediction_display": QCoreApplication.translate("menus", "Prediction displa&y"),
        "theme": QCoreApplication.translate("menus", "&Theme"),
        "language": QCoreApplication.translate("menus", "Lan&guage"),
    }


def ids(table: Table) -> list[str]:
    """Return all command ids of a table, including those of submenus."""
    commands: list[str] = []
    for entry in table:
        if isinstance(entry, tuple):
            commands += ids(entry[1])
        elif entry != "-" and not entry.startswith("@"):
            commands.append(entry)
    return commands


def fill_menu_bar(bar: QMenuBar, actions: ActionTable, recent: QMenu, on_show: Callable[[], None]) -> None:
    """Add the menus. on_show: bound method that is called before a menu is shown and calls `enable_submenus`."""
    names = titles()
    for name, table in MENUS.items():
        menu = bar.addMenu(names[name])
        _fill(menu, table, actions, names, recent)
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


def _fill(menu: QMenu, table: Table, actions: ActionTable, names: dict[str, str], recent: QMenu) -> None:
    menu.setToolTipsVisible(True)
    for entry in table:
        if isinstance(entry, tuple):
            submenu = menu.addMenu(names[entry[0]])
            _fill(submenu, entry[1], actions, names, recent)
        elif entry == "-":
            menu.addSeparator()
        elif entry == "@recent":
            menu.addMenu(recent)
        else:
            menu.addAction(actions[entry])
