"""Views of dialogs, settings, messages and menus; see `screenshot_views`."""

from __future__ import annotations

from functools import partial

from screenshot_details import DETAIL_VIEWS, HARMLESS_DETAILS
from screenshot_results import RESULT_VIEWS
from screenshot_stage import Stage
from screenshot_views import (
    PAGE_VIEWS,
    View,
    export_options,
    export_report,
    image_menu,
    run_settings,
    training_settings,
)

from workbench.core.problems import CannotWrite
from workbench.session.error_log import report_error
from workbench.ui.dialogs.preferences_dialog import PAGES


def settings(page: str, stage: Stage) -> None:
    stage.follow("unet")
    stage.window.dialogs.show_settings(page)
    stage.pause(0.5)


def command_palette(text: str, stage: Stage) -> None:
    stage.open_project()
    stage.run("palette")
    stage.window.dialogs.palette.field.setText(text)
    stage.pause(0.3)


def dialog(command: str, seconds: float, stage: Stage) -> None:
    stage.follow("unet")
    stage.run(command)
    stage.pause(seconds)


def check_labels(stage: Stage) -> None:
    stage.follow("unet")
    stage.run("check_labels")
    stage.wait(lambda: stage.services.project_check.result is not None)


def statistics(stage: Stage) -> None:
    stage.follow("unet")
    stage.run("statistics")
    stage.wait(lambda: stage.services.statistics.result is not None)


def menu(number: int, stage: Stage) -> None:
    """Open menu of the menu bar."""
    stage.follow("unet")
    bar = stage.window.menuBar()
    action = bar.actions()[number]
    action.menu().popup(bar.mapToGlobal(bar.actionGeometry(action).bottomLeft()))
    stage.pause(0.3)


def missing_folder(stage: Stage) -> None:
    """The folder of the open project is moved away, and an image is marked as done."""
    stage.open_copy("moving", labels=True)
    assert stage.session.project is not None
    root = stage.session.project.root
    moved = root.with_name("moved")
    root.rename(moved)
    stage.cleanup.append(lambda: moved.rename(root))
    stage.session.folder.check()
    stage.run("done_next")
    stage.pause(1)


def failed_save(stage: Stage) -> None:
    stage.open_project()
    stage.window.messages.problem(CannotWrite(path="masks/scratch-003.png", why="No space left on device"))
    stage.pause(0.5)


def unexpected_error(stage: Stage) -> None:
    stage.open_project()
    try:
        raise ZeroDivisionError("example of an unexpected error")
    except ZeroDivisionError as error:
        report_error(error)
    stage.pause(0.5)
    stage.press_message_button(0)
    stage.pause(0.3)


# Commands that open a dialog -> seconds until its content is complete.
_DIALOGS = {
    "export_labels": 1,
    "sources": 1,
    "part_rule": 1.5,
    "merge_project": 0.5,
    "pack": 0.5,
    "check_gpu": 4,
    "predict_folder": 0.5,
    "adopt_model": 0.5,
    "guide": 1,
    "keys": 0.5,
    "about": 0.5,
}
_OPENED: dict[str, View] = {name: partial(dialog, name, seconds) for name, seconds in _DIALOGS.items()}
_OPENED |= {f"settings_{page}": partial(settings, page) for page in PAGES}
_OPENED |= {f"menu_{number}": partial(menu, number) for number in range(7)}
_OPENED |= {
    view.__name__: view
    for view in (check_labels, statistics, image_menu, training_settings, run_settings, export_options, export_report)
}
_MESSAGES: tuple[View, ...] = (missing_folder, failed_save, unexpected_error)
VIEWS: dict[str, View] = PAGE_VIEWS | {view.__name__: view for view in _MESSAGES} | DETAIL_VIEWS | RESULT_VIEWS
VIEWS |= {"palette": partial(command_palette, ""), "palette_search": partial(command_palette, "ex")} | _OPENED
HARMLESS = frozenset({*_OPENED, *HARMLESS_DETAILS})  # views that leave the window as it was
