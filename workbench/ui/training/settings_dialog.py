"""Training settings dialog: the automatic value and reason of each setting, and the user's own choices."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QCoreApplication, Qt, QTimer, Signal
from PySide6.QtWidgets import QButtonGroup, QDialog, QFrame, QHBoxLayout, QLabel, QPushButton, QStackedWidget, QWidget

from workbench.core.problems import BadSettings, Problem
from workbench.core.runs.run import Run
from workbench.core.runs.training_settings import Choices, TrainingSettings, request
from workbench.session.training.saved_overrides import SavedOverrides
from workbench.ui.text import formatting, settings_texts
from workbench.ui.training.settings_page import SettingsPage, field_for
from workbench.ui.widgets.box_layouts import in_column, in_row
from workbench.ui.widgets.text_labels import resize_for_text
from workbench.ui.widgets.theme import ThemeManager

_DELAY = 350  # ms from the last change to the next planning of the automatic values


class SettingsHeader(QWidget):
    """Choice between the settings of the next training and of the shown run, and a status text."""

    page_chosen = Signal(bool)  # True: the shown run

    def __init__(self, model: str, shown: Run | None) -> None:
        super().__init__()
        text = self.tr("Next {model} training").format(model=formatting.model_name(model))
        self.of_next = QPushButton(text, objectName="left", checkable=True, checked=True)
        text = self.tr("Shown run: {name}").format(name=formatting.run_name(shown) if shown is not None else "")
        self.of_run = QPushButton(text, objectName="right", checkable=True)
        self._tabs = QButtonGroup(self)
        for button in (self.of_next, self.of_run):
            self._tabs.addButton(button)
            button.clicked.connect(lambda _=False, button=button: self.page_chosen.emit(button is self.of_run))
            button.setHidden(shown is None)
        self.status = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        row = in_row(self.of_next, self.of_run, 1, spacing=0)
        in_column(row, self.status, owner=self, margins=(22, 0, 22, 0), spacing=8)


class TrainingSettingsDialog(QDialog):
    """Editable settings of the next training, and read-only settings of the shown run.

    `chosen` carries the user's choices.
    """

    chosen = Signal(object)  # Choices

    def __init__(
        self,
        overrides: SavedOverrides,
        model: str,
        limits: dict[str, Any],
        style: ThemeManager,
        *,
        runs: list[tuple[str, str]] = (),
        shown: Run | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """Create the dialog.

        limits: minutes and device. runs: names and titles of the runs offered as initial weights. shown: run of the
        read-only page, or None.
        """
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Training settings"))
        resize_for_text(self, 880, 660)
        self._overrides, self._model, self._limits, self._style = overrides, model, limits, style
        self.choices: Choices = overrides.of(model)  # changed by the user
        self.settings: TrainingSettings | None = None  # as planned with the changed values
        self._automatic: dict[str, Any] = {}  # last automatic value of each setting
        groups = settings_texts.groups(model, self.choices)
        self.fields = {key: field_for(key, runs, self._model) for _, keys in groups for key in keys}
        self._plan_timer = QTimer(self, singleShot=True, interval=_DELAY, timeout=self._plan)
        self.header = SettingsHeader(model, shown)
        self.header.page_chosen.connect(self.show_page)
        self.of_run, self.status = self.header.of_run, self.header.status
        self.pages = QStackedWidget()
        self.page = SettingsPage(model, style, self.fields, changed=set(self.choices))
        self.pages.addWidget(self.page)
        if shown is not None:
            self._add_run(shown)
        items = self.header, (self.pages, 1), QFrame(objectName="line"), self._bottom()
        in_column(*items, owner=self, margins=(0, 16, 0, 14), spacing=10)
        self.page.edited.connect(self._edited)
        self.page.reset_clicked.connect(self._reset)
        overrides.planned.connect(self._planned)
        overrides.unplanned.connect(self._planning_failed)
        self._show_values()
        self._check()
        self._overrides.plan(model, {**limits, **self.choices}, replanned=True)

    def show_page(self, run: bool) -> None:
        """Show the settings of the shown run, or of the next training."""
        (self.of_run if run else self.header.of_next).setChecked(True)
        self.pages.setCurrentIndex(1 if run and self.pages.count() > 1 else 0)
        self._refresh()

    def accept(self) -> None:
        if _settings_error(self._model, {**self._limits, **self.choices}) is None:
            super().accept()
            self.chosen.emit(self.choices)

    # --- construction ----------------------------------------------------------------------------

    def _add_run(self, run: Run) -> None:
        try:
            settings = run.settings()
        except Problem as problem:
            self.of_run.setEnabled(False)
            self.of_run.setToolTip(formatting.problem_text(problem)[0])
            return
        changed = {key for key, why in settings.reasons.items() if getattr(why, "id", "") == "plan.manual"}
        page = SettingsPage(settings.model, self._style, changed=changed)
        page.show_settings(settings)
        self.pages.addWidget(page)

    def _bottom(self) -> QHBoxLayout:
        self.reset_all = QPushButton(self.tr("Reset all"))
        self.reset_all.setToolTip(self.tr("Reset all settings to automatic values"))
        self.reset_all.setAutoDefault(False)
        self.reset_all.clicked.connect(self._reset_everything)
        self.count = QLabel(objectName="muted")
        self.cancel = QPushButton(self.tr("Cancel"))
        self.cancel.setAutoDefault(False)
        self.cancel.clicked.connect(self.reject)
        self.save = QPushButton(self.tr("Save for this project"), objectName="primary")
        self.save.setDefault(True)
        self.save.clicked.connect(self.accept)
        return in_row(self.reset_all, self.count, 1, self.cancel, self.save, margins=(22, 2, 22, 0), spacing=8)

    # --- edits -----------------------------------------------------------------------------------

    def _edited(self, key: str) -> None:
        value = self.fields[key].value()
        if value is None and TrainingSettings.model_fields[key].default is not None:
            self.choices.pop(key, None)  # the field was emptied
        else:
            self.choices[key] = value
        self._check()
        self._plan_timer.start()

    def _reset(self, key: str) -> None:
        self.choices.pop(key, None)
        self._show_values(key)
        self._check()
        self._plan_timer.start()

    def _reset_everything(self) -> None:
        self.choices.clear()
        self._show_values()
        self._check()
        self._plan_timer.start()

    def _plan(self) -> None:
        if _settings_error(self._model, {**self._limits, **self.choices}) is None:
            self._overrides.plan(self._model, {**self._limits, **self.choices}, replanned=False)

    # --- events ----------------------------------------------------------------------------------

    def _planned(self, settings: TrainingSettings) -> None:
        self.settings = settings
        self._automatic.update({key: getattr(settings, key) for key in self.fields if key not in self.choices})
        self._show_values()
        self._check()

    def _planning_failed(self, problem: Problem) -> None:
        if isinstance(problem, BadSettings) and problem.fields["key"] in self.fields:
            self._show_error(problem)
        else:
            self.settings = None
            self._refresh(problem)

    # --- display ---------------------------------------------------------------------------------

    def _show_values(self, *keys: str) -> None:
        self.page.show_values(self.choices, self.settings, *keys)

    def _check(self) -> None:
        error = _settings_error(self._model, {**self._limits, **self.choices})
        for key in self.fields:
            changed = key in self.choices
            reason = _changed_text(key, self._automatic) if changed else settings_texts.reason(key, self.settings)
            self.page.resets[key].setVisible(changed)
            self.page.set_reason(key, reason)
        if "encoder" in self.fields:
            self.page.show_rows_for(self.fields["encoder"].value(), also=self.choices)
        self.save.setEnabled(error is None)
        self.reset_all.setEnabled(bool(self.choices))
        count = len(self.choices)
        self.count.setText(self.tr("{n} changed manually").format(n=count) if count else self.tr("All automatic"))
        self._refresh()
        if error is not None:
            self._show_error(error)

    def _show_error(self, problem: BadSettings) -> None:
        key = problem.fields["key"]
        if key in self.fields:
            why = formatting.translate_message(str(problem.fields["why"]))
            self.page.set_reason(key, why, wrong=True)
            self.save.setEnabled(False)
            self.status.setText(
                self.tr("{setting} cannot be {value}: {why}").format(
                    setting=settings_texts.name(key),
                    value=settings_texts.written(problem.fields["value"]) or "–",
                    why=why,
                )
            )

    def _refresh(self, problem: Problem | None = None) -> None:
        of_next = self.pages.currentIndex() == 0
        for widget in (self.reset_all, self.count, self.save):
            widget.setVisible(of_next)
        self.cancel.setText(self.tr("Cancel") if of_next else self.tr("Close"))
        if not of_next:
            self.status.setText(self.tr("Settings of this run with the reason for each value"))
        elif problem is not None:
            defaults = self.tr("Until then, default values are shown below.")
            self.status.setText(" ".join(filter(None, (*formatting.problem_text(problem), defaults))))
        elif self.settings is None:
            self.status.setText(self.tr("Analyzing images and labels…"))
        else:
            self.status.setText(
                self.tr(
                    "Settings of the next training with the reason for each value. Changes are saved for this project."
                )
            )


def _settings_error(model: str, values: dict[str, Any]) -> BadSettings | None:
    """Return the first error in values of training settings."""
    try:
        request(model, **values)
    except BadSettings as problem:
        return problem
    return None


def _changed_text(key: str, automatic: dict[str, Any]) -> str:
    """Return the text on a value that the user changed, with the automatic value if it is known."""
    if key not in automatic:
        return QCoreApplication.translate("TrainingSettingsDialog", "Changed manually.")
    none = QCoreApplication.translate("TrainingSettingsDialog", "None")
    text = QCoreApplication.translate("TrainingSettingsDialog", "Changed manually. Automatic value: {value}")
    return text.format(value=settings_texts.written(automatic[key]) or none)
