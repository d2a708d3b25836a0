"""Stage bar of the window: the pages of its stages, and what the workflow learns from the window."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QMenuBar

from workbench.session.workflow_monitor import WorkflowMonitor
from workbench.ui.actions.menus import Actions
from workbench.ui.evaluation.evaluation_navigation import EvaluationNavigation
from workbench.ui.evaluation.evaluation_page import EvaluationPage
from workbench.ui.shell.model_in_use import ModelChip
from workbench.ui.shell.stage_bar import StageBar, StageBarPlacement
from workbench.ui.training.training_panel import TrainingPanel
from workbench.ui.widgets.theme import ThemeManager


def add_stage_bar(
    menu_bar: QMenuBar,
    monitor: WorkflowMonitor,
    actions: Actions,
    style: ThemeManager,
    training: TrainingPanel,
    evaluation: EvaluationPage,
    navigation: EvaluationNavigation,
    chip: ModelChip,
) -> StageBar:
    """Create the stage bar in a menu bar, connect it with the pages of the window, and return it."""

    def show_training() -> None:
        navigation.leave()
        training.heading.setChecked(True)

    pages = {
        "label": navigation.leave,
        "train": show_training,
        "evaluate": navigation.show,
        "export": actions["export_options"].trigger,
    }
    bar = StageBar(monitor, actions, style, pages, chip)
    StageBarPlacement(bar, menu_bar)

    def report_plan() -> None:
        model, minutes, _ = training.controls.values()
        monitor.set_plan(model, minutes)

    def report_evaluation(on: bool) -> None:
        bar.show_evaluation(on)
        if on:
            QTimer.singleShot(0, bar, lambda: monitor.mark_evaluated(evaluation.run))  # the run is shown after that

    training.controls.changed.connect(report_plan)
    training.view.first_steps.clicked.connect(actions["first_steps"].trigger)
    evaluation.training_requested.connect(show_training)
    navigation.switched.connect(report_evaluation)
    report_plan()
    return bar
