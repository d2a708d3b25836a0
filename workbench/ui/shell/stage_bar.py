"""Stage bar in the menu bar: the stages of a project beside the menus, the model in use, the next step as a button at
the right end; the pages of the stages, and what the workflow learns from the window.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QMenuBar, QPushButton, QWidget
from shiboken6 import isValid

from workbench.core.text_patterns import fill
from workbench.session.next_step import ENOUGH, STAGES, NextStep, Stage, Workflow
from workbench.session.workflow_monitor import WorkflowMonitor
from workbench.ui.actions.menus import Actions
from workbench.ui.evaluation.evaluation_navigation import EvaluationNavigation
from workbench.ui.evaluation.evaluation_page import EvaluationPage
from workbench.ui.shell.model_in_use import ModelChip
from workbench.ui.shortcuts import key_text, with_key
from workbench.ui.text.formatting import number
from workbench.ui.text.run_texts import remark_text
from workbench.ui.training.training_panel import TrainingPanel
from workbench.ui.widgets.text_labels import IconLabel, set_disabled_reason
from workbench.ui.widgets.theme import ThemeManager

_GAP = 16  # px between the last menu and the bar
# Levels of simplification: text of the chip, names of all stages, text of the counts, answer about good images
_LEVELS = (
    (0, True, 0, True),
    (1, True, 0, True),
    (1, False, 0, True),
    (1, False, 1, True),
    (2, False, 1, True),
    (3, False, 1, True),
    (3, False, 1, False),
    (4, False, 1, False),
    (5, False, 1, False),
    (6, False, 1, False),
    (6, False, 2, False),
)
_ICONS: dict[Stage, str] = {"label": "brush", "train": "train", "evaluate": "evaluation", "export": "export"}


class StageBar(QWidget):
    """Row of the stages with the model in use and the next step. pages: functions that show the page of each stage;
    that of *Label* returns whether an image that is not marked as done appears with it.

    `explained` carries the reason of the step that the user has just run.
    """

    explained = Signal(str)

    def __init__(
        self,
        monitor: WorkflowMonitor,
        actions: Actions,
        style: ThemeManager,
        pages: Mapping[Stage, Callable[[], object]],
        chip: ModelChip,
    ) -> None:
        super().__init__(objectName="stages")
        self._monitor, self._actions, self._style, self._pages = monitor, actions, style, pages
        self.chip = chip
        self._in_evaluation, self._width = False, 0  # px, room for the bar
        self._fitted: object = None  # what the texts were fitted to
        self._action: QAction | None = None  # of the next step
        names, tips = _stage_names(), _stage_tips()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 6, 0)
        row.setSpacing(0)
        self.stages: dict[Stage, QPushButton] = {}
        for stage in STAGES:
            if self.stages:
                row.addWidget(IconLabel(style.icon("chevron-right", "disabled"), 12))
            button = QPushButton(names[stage], objectName="stage", checkable=True)
            button.setToolTip(tips[stage])
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(lambda _=False, stage=stage: self._show_page(stage))
            button.setAccessibleName(names[stage])
            self.stages[stage] = button
            row.addWidget(button)
        row.addSpacing(8)
        row.addWidget(chip)
        row.addStretch(1)  # the text of the next step does not move the stages
        self.answer = QPushButton(self.tr("There are no good images"), objectName="link")
        self.answer.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.answer.clicked.connect(actions["no_good_images"].trigger)
        row.addWidget(self.answer)
        row.addSpacing(6)
        self.next = QPushButton(objectName="next", icon=style.icon("next", "accent_text"))
        self.next.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.next.setAccessibleName(self.tr("Next step"))
        self.next.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # the arrow follows the text
        self.next.clicked.connect(self._run_step)
        row.addWidget(self.next)
        monitor.changed.connect(self.refresh)
        self.refresh()

    def show_evaluation(self, on: bool) -> None:
        """Set whether the evaluation is shown, which then is the current stage."""
        self._in_evaluation = on
        self.refresh()

    def fit(self, width: int) -> None:
        """Fit the texts to a width: the numbers of images and the words of the chip remain longest."""
        self._width = width
        hints = [button.sizeHint().width() for button in (self.next, self.answer)]
        checked = [button.isChecked() for button in self.stages.values()]
        content = width, *self._texts(0).values(), *checked, self._asks_for_good(), *hints
        if content == self._fitted:  # the widths of hidden texts are estimates: fitting again could alternate forever
            return
        self._fitted = content
        levels = range(len(_LEVELS))
        level = next((level for level in levels if self._width_at(level) <= width), levels[-1])
        for button, text in self._texts(level).items():
            button.setText(text.replace("&", "&&"))
        self.answer.setVisible(self._asks_for_good() and _LEVELS[level][3])

    def _texts(self, level: int) -> dict[QPushButton, str]:
        """Return the texts of the buttons at a level of simplification."""
        chip, all_names, counts, _ = _LEVELS[level]
        workflow, names = self._monitor.workflow, _stage_names()
        if workflow is not None and workflow.good is not None and counts < 2 and self.stages["label"].isChecked():
            patterns = (
                self.tr("Label: {defective} defective, {good} good"),
                self.tr("{defective} defective, {good} good"),
            )
            numbers = {"defective": number(workflow.defective or 0), "good": number(workflow.good)}
            names["label"] = patterns[counts].format(**numbers)
        texts = {button: names[stage] for stage, button in self.stages.items() if all_names or button.isChecked()}
        return {**dict.fromkeys(self.stages.values(), ""), **texts, self.chip: self.chip.texts[chip]}

    def _width_at(self, level: int) -> int:
        """Return the width that the content needs at a level of simplification."""
        advance, texts = self.fontMetrics().horizontalAdvance, self._texts(level)
        change = sum(advance(text) - advance(b.text()) for b, text in texts.items() if not b.isHidden())
        link = self.answer.sizeHint().width() + self.layout().spacing()
        if self._asks_for_good() and _LEVELS[level][3]:
            change += link if self.answer.isHidden() else 0
        elif not self.answer.isHidden():
            change -= link
        usual = step_text(NextStep(stage="label", id="label_next"))  # there is room for it: a short one changes nothing
        used, reserved = map(self.next.fontMetrics().horizontalAdvance, (self.next.text(), usual))
        return self.sizeHint().width() + change + max(0, reserved - used)

    def _asks_for_good(self) -> bool:
        workflow = self._monitor.workflow
        return workflow is not None and workflow.step.id in ("separate", "label_good", "add_good")

    def refresh(self) -> None:
        """Show the present workflow."""
        workflow = self._monitor.workflow
        self.setVisible(workflow is not None)
        if workflow is None:
            self._follow_action("")
            return
        self._show_stages(workflow)
        step = workflow.step
        self.next.setText(step_text(step).replace("&", "&&"))
        reason = remark_text(step.reason) if step.reason is not None else ""
        tip = _step_tip(step) or (self._actions[step.command].toolTip() if step.command else "")
        self.next.setToolTip("\n".join(filter(None, (reason, tip))))
        self._follow_action(step.command)
        self.next.setAccessibleName(self.tr("Next step: {step}").format(step=step_text(step)))
        self.fit(self._width)
        self.updateGeometry()

    def _show_stages(self, workflow: Workflow) -> None:
        current = "evaluate" if self._in_evaluation else workflow.step.stage
        for stage, button in self.stages.items():
            done = stage in workflow.completed and stage != current
            button.setChecked(stage == current)
            role = "accent" if stage == current else "success" if done else "muted"
            button.setIcon(self._style.icon("success" if done else _ICONS[stage], role))

    def _follow_action(self, command: str) -> None:
        """Enable the button of the next step as the command is enabled."""
        if self._action is not None:
            self._action.enabledChanged.disconnect(self._update_enabled)
        self._action = self._actions[command] if command else None
        if self._action is not None:
            self._action.enabledChanged.connect(self._update_enabled)
        self._update_enabled()

    def _update_enabled(self, *_: object) -> None:
        """Enable the button, or add the reason of its command to its tooltip. Steps without a command explain it."""
        set_disabled_reason(self.next, "" if self._action is None else self._actions.reason(self._action.objectName()))
        self.next.setEnabled(self._action is not None and self._action.isEnabled())

    def _run_step(self) -> None:
        workflow = self._monitor.workflow
        if workflow is None or self._action is None:
            return
        unfinished = workflow.step.stage in ("label", "train") and self._pages["label"]()
        if workflow.step.reason is not None and workflow.step.command != "export":  # its question states it
            self.explained.emit(remark_text(workflow.step.reason))  # a command that cannot go says more
        if workflow.step.command == "evaluation":  # the command would leave the evaluation of another run
            self._pages["evaluate"]()
        elif not unfinished or workflow.step.command != "next_open":  # that image is the next one to label
            self._action.trigger()

    def _show_page(self, stage: Stage) -> None:
        self._pages[stage]()
        self.refresh()


class StageBarPlacement(QObject):
    """Placement of a stage bar in a menu bar, from the menus to the right end."""

    def __init__(self, bar: StageBar, menu_bar: QMenuBar) -> None:
        super().__init__(menu_bar)
        self._bar, self._menu_bar = bar, menu_bar
        menu_bar.setNativeMenuBar(False)  # a menu bar outside the window has no room for the stages
        bar.setParent(menu_bar)
        for widget in (bar, menu_bar):
            widget.installEventFilter(self)
        self.place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isValid(self._menu_bar):  # the window ends
            return False
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest, QEvent.Type.Show) and (
            watched is self._menu_bar or event.type() == QEvent.Type.LayoutRequest
        ):
            self.place()
        return False

    def place(self) -> None:
        """Give the bar the room beside the menus."""
        menus = self._menu_bar
        actions = menus.actions()
        left = max((menus.actionGeometry(action).right() for action in actions), default=0) + _GAP
        room = menus.width() - left
        self._bar.fit(room)
        self._bar.setGeometry(QRect(left, 0, room, menus.height() - 1))


def step_text(step: NextStep) -> str:
    """Return the text of the button of a step: a command, with a number where there is one."""
    n = step.count
    pattern = {
        "add_images": QCoreApplication.translate("StageBar", "Add images"),
        "add_defects": QCoreApplication.translate("StageBar", "Add images with defects"),
        "add_class": QCoreApplication.translate("StageBar", "Add a class"),
        "mark_current": QCoreApplication.translate("StageBar", "Mark this image as done"),
        "label_defects": (
            QCoreApplication.translate("StageBar", "Label 1 more image with defects")
            if n == 1
            else QCoreApplication.translate("StageBar", "Label {n} more images with defects")
            if step.more
            else QCoreApplication.translate("StageBar", "Label {n} images with defects")
        ),
        "separate": QCoreApplication.translate("StageBar", "Separate good and defective"),
        "label_good": (
            QCoreApplication.translate("StageBar", "Mark 1 more good image as done")
            if n == 1
            else QCoreApplication.translate("StageBar", "Mark {n} more good images as done")
            if step.more
            else QCoreApplication.translate("StageBar", "Mark {n} good images as done")
        ),
        "add_good": QCoreApplication.translate("StageBar", "Add good images"),
        "add_verdict": QCoreApplication.translate("StageBar", "Add a verdict"),
        "assign_verdicts": (
            QCoreApplication.translate("StageBar", "Set the verdict of 1 more image")
            if n == 1
            else QCoreApplication.translate("StageBar", "Set the verdict of {n} more images")
            if step.more
            else QCoreApplication.translate("StageBar", "Set the verdict of {n} images")
        ),
        "second_verdict": QCoreApplication.translate("StageBar", "Set another verdict for 2 images"),
        "train": (
            QCoreApplication.translate("StageBar", "Train 1 minute")
            if n == 1
            else QCoreApplication.translate("StageBar", "Train {n} minutes")
        ),
        "training": QCoreApplication.translate("StageBar", "Continue labeling"),
        "all_done": QCoreApplication.translate("StageBar", "Training (all images done)"),
        "training_read_only": QCoreApplication.translate("StageBar", "Training (read-only project)"),
        "train_again": (
            QCoreApplication.translate("StageBar", "Train again")
            if step.reason is not None  # more than the new labels are a reason
            else QCoreApplication.translate("StageBar", "Train with {n} new {n:label|labels}")
        ),
        "missed": (
            QCoreApplication.translate("StageBar", "Look at 1 missed defect")
            if n == 1
            else QCoreApplication.translate("StageBar", "Look at {n} missed defects")
        ),
        "false_alarms": (
            QCoreApplication.translate("StageBar", "Look at 1 false alarm")
            if n == 1
            else QCoreApplication.translate("StageBar", "Look at {n} false alarms")
        ),
        "wrong_verdicts": (
            QCoreApplication.translate("StageBar", "Look at 1 wrong verdict")
            if n == 1
            else QCoreApplication.translate("StageBar", "Look at {n} wrong verdicts")
        ),
        "evaluate": QCoreApplication.translate("StageBar", "Evaluate the model"),
        "label_next": QCoreApplication.translate("StageBar", "Label recommended images"),
        "export": QCoreApplication.translate("StageBar", "Export the model"),
        "exporting": QCoreApplication.translate("StageBar", "Exporting…"),
        "reading": QCoreApplication.translate("StageBar", "Reading images…"),
        "predict": QCoreApplication.translate("StageBar", "Predict new images"),
        "read_only": QCoreApplication.translate("StageBar", "Read-only project"),
    }[step.id]
    return fill(pattern, n=number(n, 0 if n == int(n) else 1))


def _step_tip(step: NextStep) -> str:
    """Return an explanation of a step; "" if the tooltip of its command is sufficient."""
    if step.id == "label_defects":
        text = QCoreApplication.translate(
            "StageBar",
            "Paint the defects of an image, then click Done ({key}). Images without defects are marked as done without "
            "painting. From {n} images with defects on, some are used to measure the model. "
            "Click to open the next image.",
        )
        return text.format(key=key_text("done_next"), n=ENOUGH)
    if step.id == "label_good":
        text = QCoreApplication.translate(
            "StageBar",
            "Good images teach the model what is normal; some of them measure its false alarms. Click to show all "
            "images as thumbnails: {key} marks the selected ones as good.",
        )
        return text.format(key=key_text("good_image"))
    if step.id in ("assign_verdicts", "second_verdict"):
        text = QCoreApplication.translate(
            "StageBar",
            "Set a verdict in the panel on the right. With {n} images and two verdicts, some images are used to "
            "measure the model. Click to open the next image.",
        )
        return text.format(n=ENOUGH)
    return {
        "training": QCoreApplication.translate(
            "StageBar",
            "The training is running. New labels are used in it. Click to open the next image that is not done.",
        ),
        "all_done": QCoreApplication.translate(
            "StageBar", "The training is running. All images are marked as done, so there is nothing left to label."
        ),
        "training_read_only": QCoreApplication.translate(
            "StageBar", "The training is running. The project is read-only in this window, so no image can be labeled."
        ),
        "add_defects": QCoreApplication.translate(
            "StageBar",
            "All images are good images. A model that finds defects learns from images with defects: add some, and "
            "label them.",
        ),
        "exporting": QCoreApplication.translate("StageBar", "The model is being exported."),
        "reading": QCoreApplication.translate("StageBar", "The labels of the images are being read."),
        "label_next": QCoreApplication.translate("StageBar", "Label the images that would improve the model most."),
        "add_good": QCoreApplication.translate(
            "StageBar", "Add images of good parts, and mark them as done without painting."
        ),
        "read_only": QCoreApplication.translate("StageBar", "The project is read-only in this window."),
    }.get(step.id, "")


def _stage_names() -> dict[Stage, str]:
    return {
        "label": QCoreApplication.translate("StageBar", "Label"),
        "train": QCoreApplication.translate("StageBar", "Train"),
        "evaluate": QCoreApplication.translate("StageBar", "Evaluate"),
        "export": QCoreApplication.translate("StageBar", "Export"),
    }


def _stage_tips() -> dict[Stage, str]:
    return {
        "label": QCoreApplication.translate("StageBar", "Show the current image"),
        "train": QCoreApplication.translate("StageBar", "Show the training panel"),
        "evaluate": with_key(QCoreApplication.translate("StageBar", "Show the evaluation of the model"), "evaluation"),
        "export": with_key(QCoreApplication.translate("StageBar", "Choose the export options"), "export_options"),
    }


# --- pages of the stages --------------------------------------------------------------------------


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
