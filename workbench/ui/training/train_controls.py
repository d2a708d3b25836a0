"""Controls of the training: a line with model, duration, start button and export, a column with the rest, and the
switch of continuous training.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from workbench.core.runs.events import LabelsAdded
from workbench.core.runs.training_settings import DEFAULT_MINUTES, MAX_MINUTES, MIN_MINUTES
from workbench.session.training.saved_overrides import ContinuousTraining
from workbench.ui.text import formatting
from workbench.ui.widgets.keyboard import set_key_tip
from workbench.ui.widgets.text_labels import ElidedLabel, align_text, set_disabled_reason
from workbench.ui.widgets.theme import ThemeManager

PAUSE = 500  # ms, longer than a person needs to notice that the button has changed
_CLICKS = (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick, QEvent.Type.MouseButtonRelease)


class ClickGuard(QObject):
    """Event filter that discards mouse clicks on some buttons for `PAUSE` after `start`; keys keep their effect."""

    def __init__(self, buttons: Sequence[QAbstractButton], parent: QObject) -> None:
        super().__init__(parent)
        self._buttons, self._running = buttons, {}
        self.timer = QTimer(self, singleShot=True, interval=PAUSE)
        for button in buttons:
            button.installEventFilter(self)

    def follow(self, what: str, running: bool) -> None:
        """Start when something that a click would stop has ended. what: its name."""
        if self._running.get(what, False) and not running:
            self.start()
        self._running[what] = running

    def start(self) -> None:
        """Discard clicks from now on, also one whose button is already pressed."""
        for button in self._buttons:
            button.setDown(False)
        self.timer.start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        return event.type() in _CLICKS and self.timer.isActive()


DEVICES = ("auto", "gpu", "cpu")
_STATES = ("idle", "preparing", "running", "stopping")


class TrainControls(QWidget):
    """Training controls. The surrounding panel decides which are enabled.

    This widget is the column with device and rarely used options. `line` holds the controls that are always shown.
    """

    train_clicked = Signal()
    pause_clicked = Signal()
    export_clicked = Signal()
    choices_clicked = Signal()
    settings_clicked = Signal()
    changed = Signal()

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
        self._style = style
        self._running = self._paused = self._short = False
        self._state, self._overrides = "idle", 0
        self._lines: list[QWidget] = []
        self._build()
        self._update_button()

    def _build(self) -> None:
        self._build_line()
        self.device = QComboBox()
        for name, text in zip(DEVICES, (self.tr("Automatic"), self.tr("GPU"), self.tr("CPU")), strict=True):
            self.device.addItem(text, name)
        self.device.setToolTip(self.tr("Device for the training. Automatic uses the GPU if there is one."))
        self.device.setAccessibleName(self.tr("Device"))
        self.device.currentIndexChanged.connect(lambda _: self.changed.emit())
        self.choices = QPushButton(self.tr("Export options…"))
        tip = self.tr("Choose formats, detection threshold and maximum time per image")
        set_key_tip(self.choices, tip, "export_options")
        self.choices.clicked.connect(self.choices_clicked)
        device = QLabel(self.tr("Device"))
        device.setBuddy(self.device)
        grid = QGridLayout(self)
        grid.setContentsMargins(12, 4, 4, 8)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(7)
        grid.addWidget(device, 0, 0)
        grid.addWidget(self.device, 0, 1)
        grid.addWidget(self.choices, 1, 0, 1, 2)
        grid.setRowStretch(3, 1)
        grid.setColumnStretch(1, 1)
        self.show_state("idle", self.tr("Open or create a project first"))
        self.show_progress(None, "")
        self.show_overrides(0)

    def _build_line(self) -> None:
        self.unet, self.resnet = QPushButton(objectName="left"), QPushButton(objectName="middle")
        self.good = QPushButton(objectName="right")
        self.models = {"unet": self.unet, "resnet": self.resnet, "good": self.good}
        self._models, models = QButtonGroup(self), QHBoxLayout()
        models.setSpacing(0)
        for button, tip in (
            (self.unet, self.tr("Next training: UNet, trained on masks, predicts a class for each pixel")),
            (self.resnet, self.tr("Next training: ResNet, trained on verdicts, predicts a verdict for each image")),
            (self.good, self.tr("Next training: good images only; the model marks what differs from them")),
        ):
            button.setCheckable(True)
            button.setToolTip(tip)
            self._models.addButton(button)
            models.addWidget(button)
        self.next_label = QLabel(self.tr("Next training:"), objectName="muted")
        self.unet.setChecked(True)
        self._models.buttonToggled.connect(self._model_chosen)
        self.minutes = QDoubleSpinBox()
        self.minutes.setRange(MIN_MINUTES, MAX_MINUTES)
        self.minutes.setDecimals(1)
        self.minutes.setSuffix(self.tr(" min"))
        self.minutes.setValue(DEFAULT_MINUTES)
        align_text(self.minutes)
        self.minutes.setToolTip(
            self.tr("Training time. The learning rate is scheduled to reach its final value at this time.")
        )
        self.minutes.setAccessibleName(self.tr("Minutes"))
        self.minutes.valueChanged.connect(lambda _: self.changed.emit())
        self.minutes.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.settings = QPushButton(objectName="icon")
        self.settings.setAccessibleName(self.tr("Training settings"))
        self.settings.clicked.connect(self.settings_clicked)
        self.button = QPushButton()
        self.button.clicked.connect(self.train_clicked)
        self.pause = QPushButton(objectName="icon")
        self.pause.clicked.connect(self.pause_clicked)
        self.export = QPushButton(self.tr("Export model"))
        self.export.clicked.connect(self.export_clicked)
        self.guard = ClickGuard([self.button, self.pause, self.export], self)
        self.bar = QProgressBar(textVisible=False, maximum=1000, minimumWidth=24, maximumWidth=160)
        self.bar.setAccessibleName(self.tr("Progress"))
        self.left = ElidedLabel(as_wide_as_text=True)
        self.left.setObjectName("muted")
        self.line = QWidget()
        row = QHBoxLayout(self.line)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addWidget(self.next_label)
        row.addLayout(models)
        for widget in (self.minutes, self.settings, self.button, self.pause, self.export):
            row.addWidget(widget)
        row.addWidget(self.bar, 1)
        row.addWidget(self.left)
        self.show_long_names(True)

    def show_long_names(self, on: bool) -> None:
        """Show what each kind of model is for, or its name only."""
        self.unet.setText(self.tr("UNet: segmentation") if on else "UNet")
        self.resnet.setText(self.tr("ResNet: classification") if on else "ResNet")
        self.good.setText(self.tr("Good images: anomalies") if on else self.tr("Good images"))

    def add_line(self, line: QWidget) -> None:
        """Add a line of another package below the others, with a control of the training."""
        self._lines.append(line)
        self.layout().addWidget(line, 2, 0, 1, 2)

    @property
    def model(self) -> str:
        return next((model for model, button in self.models.items() if button.isChecked()), "unet")

    def set_model(self, model: str) -> None:
        self.models[model].setChecked(True)

    def _model_chosen(self, *_: object) -> None:
        self._show_minutes()
        self.changed.emit()

    def _show_minutes(self) -> None:
        self.minutes.setVisible(self.model != "good" and not self._running)  # good images take as long as they need

    def values(self) -> tuple[str, float, str]:
        """Return model, minutes and device."""
        return self.model, self.minutes.value(), self.device.currentData()

    def set_values(self, model: str, minutes: float, device: str) -> None:
        self.set_model(model)
        self.minutes.setValue(minutes)
        self.device.setCurrentIndex(max(0, self.device.findData(device)))

    def show_state(
        self, state: str, reason: str, *, paused: bool = False, can_pause: bool = False, watched: bool = False
    ) -> None:
        """Update the controls. state: one of _STATES. reason: why training can neither start nor stop, or "".

        watched: the training is that of another window, so that it is shown without controls.
        """
        self.guard.follow("training", state != "idle")
        self._state, self._running, self._paused = state, state != "idle", paused
        for widget in (self.button, *self._lines):
            widget.setVisible(not watched)
        self.pause.setVisible(state in ("running", "stopping") and not watched)
        self.pause.setEnabled(can_pause)
        name = self.tr("Resume training") if paused else self.tr("Pause training")
        set_key_tip(self.pause, name, "pause")
        self.pause.setAccessibleName(name)
        self._show_text()
        stop = self.tr("Stop") if self.model == "good" else self.tr("Stop training and keep the best model")
        tip = stop if self._running else self.tr("Start training")
        set_key_tip(self.button, tip, "train")
        set_disabled_reason(self.button, reason)
        self.button.setEnabled(not reason and state != "stopping")
        self.device.setEnabled(not self._running)
        for widget in (self.next_label, *self.models.values(), self.settings):
            widget.setVisible(not self._running)
        self._show_minutes()
        self._update_button()

    def show_short_texts(self, on: bool) -> None:
        """Show "Stop" on the button of a running training, or what it does in full."""
        self._short = on
        self._show_text()

    def _show_text(self) -> None:
        stop = self.tr("Stop") if self._short or self.model == "good" else self.tr("Stop and keep best model")
        texts = self.tr("Train"), self.tr("Cancel"), stop, self.tr("Stopping…")
        self.button.setText(texts[_STATES.index(self._state)])

    def show_overrides(self, count: int) -> None:
        """Show the number of training settings that the user changed."""
        tip = self.tr("Training settings with the reason for each value")
        if count:
            tip = self.tr("Training settings: {n} changed manually").format(n=count)
        set_key_tip(self.settings, tip, "training_settings")
        self._overrides = count
        self.settings.setIcon(self._style.icon("tune", "accent" if count else "text"))

    def show_progress(self, share: float | None, text: str, *short: str) -> None:
        """Show a progress of 0..1; None hides the bar. short: texts for less space, ever shorter."""
        self.bar.setVisible(share is not None)
        self.left.setVisible(bool(text))
        self.left.set_text(text, short=short)
        if share is not None:
            # `setValue` paints the bar and all pending updates synchronously unless updates are disabled.
            self.bar.setUpdatesEnabled(False)
            self.bar.setValue(round(1000 * share))
            self.bar.setUpdatesEnabled(True)

    def show_export(self, possible: bool, busy: bool, model: str) -> None:
        """Update the export button. model: name of the model in use, "" without one."""
        self.guard.follow("export", busy)
        self.export.setEnabled(possible or busy)
        reason = "" if possible else self.tr("The project is read-only") if model else self.tr("Train a model first")
        set_disabled_reason(self.choices, self.tr("The model is being exported") if busy else reason)
        name = self.tr("Export {model}").format(model=model) if model else self.tr("Export model")
        self.export.setText(self.tr("Cancel export") if busy else name)
        if busy:
            tip = self.tr("Cancel the export and delete incomplete files")
        elif possible:
            tip = self.tr("Export a folder that runs without Defect Workbench and gives the same results")
        else:
            tip = reason
        set_key_tip(self.export, tip, "" if busy else "export")

    def _update_button(self) -> None:
        name = "" if self._running else "accent"  # to stop is harmless: the best model is kept
        if self.button.objectName() != name:
            self.button.setObjectName(name)
            self.button.style().unpolish(self.button)
            self.button.style().polish(self.button)
        icon, role = ("stop", "text") if self._running else ("train", "accent")
        self.button.setIcon(self._style.icon(icon, role))
        self.pause.setIcon(self._style.icon("train" if self._paused else "pause"))
        self.export.setIcon(self._style.icon("export"))
        self.show_overrides(self._overrides)


class ContinuousSwitch(QWidget):
    """Switch of continuous training at the left end of the training panel, above the number of added labels."""

    def __init__(self, continuous: ContinuousTraining) -> None:
        super().__init__()
        self._continuous = continuous
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        self.check = QCheckBox(self.tr("Continuous training"))
        tip = self.tr(
            "After the time limit, training continues with new labels until you stop it. You can export the "
            "best model at any time."
        )
        set_key_tip(self.check, tip, "continuous_training")
        self.check.clicked.connect(continuous.switch)
        self.status = QLabel(objectName="muted", textFormat=Qt.TextFormat.PlainText)
        column.addWidget(self.check)
        column.addWidget(self.status)
        continuous.changed.connect(self._refresh)
        self._refresh()

    def _refresh(self) -> None:
        continuous = self._continuous
        self.check.setChecked(continuous.on)
        counts = continuous.added
        added, skipped = counts["new"] + counts["corrected"] + counts["gone"], counts["left out"]
        text = self.tr("1 label added") if added == 1 else self.tr("{n} labels added").format(n=added)
        parts = [text if added else "", self.tr("{n} skipped").format(n=skipped) if skipped else ""]
        self.status.setText(" · ".join(filter(None, parts)))
        self.status.setVisible(any(parts))
        newest = continuous.newest
        tip = "" if newest is None else f"{newest.picture}\n{self._effect(newest)}"
        set_key_tip(self.status, tip, "continuous_training")

    def _effect(self, newest: LabelsAdded) -> str:
        return {
            "new": self.tr("New image: used for training from this point"),
            "corrected": self.tr("Label changed: used for training from this point"),
            "gone": self.tr("Label removed: no longer used for training"),
        }.get(newest.how) or formatting.translate_message(newest.why)
