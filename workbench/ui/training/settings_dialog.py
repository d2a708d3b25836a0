"""Training settings dialog: the automatic value and reason of each setting, and the user's own choices."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from workbench.core.problems import BadSettings, Problem
from workbench.core.runs.run import Run
from workbench.core.runs.settings_overrides import Choices
from workbench.core.runs.training_settings import TrainingSettings, request
from workbench.session.training.saved_overrides import SavedOverrides
from workbench.ui.text import formatting
from workbench.ui.text import settings_texts as said
from workbench.ui.training.settings_fields import field_for
from workbench.ui.training.settings_page import SettingsPage
from workbench.ui.widgets.theme import ThemeManager

_SOON = 350  # ms from the last change to the next planning of the automatic values


class TrainingSettingsDialog(QDialog):
    """Editable settings of the next training, and read-only settings of the shown run.

    `chosen` carries the user's choices.
    """

    chosen = Signal(object)  # Choices

    def __init__(
        self,
        choices: SavedOverrides,
        model: str,
        asked: dict[str, Any],
        style: ThemeManager,
        *,
        runs: list[tuple[str, str]] = (),
        shown: Run | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """Create the dialog.

        asked: minutes and device. runs: names and titles of the runs that can be started from. shown: run of the
        read-only page, or None.
        """
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Recipe"))
        self.resize(880, 660)
        self._choices, self._model, self._asked, self._style = choices, model, asked, style
        self.choices: Choices = choices.of(model)
        self._settings: TrainingSettings | None = None  # as planned for the present choices
        self._automatic: dict[str, Any] = {}  # last automatic value of each setting
        self.fields = {key: field_for(key, runs) for _, keys in said.groups(model) for key in keys}
        self._soon = QTimer(self, singleShot=True, interval=_SOON, timeout=self._plan)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 16, 0, 14)
        column.setSpacing(10)
        column.addLayout(self._top(shown))
        self.pages = QStackedWidget()
        self.next = SettingsPage(model, style, self.fields)
        self.pages.addWidget(self.next)
        if shown is not None:
            self._add_run(shown)
        column.addWidget(self.pages, 1)
        column.addWidget(QFrame(objectName="line"))
        column.addLayout(self._bottom())
        self.next.edited.connect(self._edited)
        self.next.reset.connect(self._reset)
        choices.planned.connect(self._planned)
        choices.unplanned.connect(self._unplanned)
        self._show_values()
        self._check()
        self._choices.plan(model, {**asked, **self.choices}, anew=True)

    def show_page(self, run: bool) -> None:
        """Show the settings of the shown run, or of the next training."""
        (self.of_run if run else self.of_next).setChecked(True)
        self.pages.setCurrentIndex(1 if run and self.pages.count() > 1 else 0)
        self._refresh()

    def accept(self) -> None:
        if self._wrong() is None:
            super().accept()
            self.chosen.emit(self.choices)

    # --- construction ----------------------------------------------------------------------------

    def _top(self, shown: Run | None) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setContentsMargins(22, 0, 22, 0)
        column.setSpacing(8)
        row = QHBoxLayout()
        row.setSpacing(0)
        text = self.tr("The next {model} training").format(model=formatting.model_name(self._model))
        self.of_next = QPushButton(text, objectName="left", checkable=True, checked=True)
        text = self.tr("The run shown: {name}").format(name=formatting.run_name(shown) if shown is not None else "")
        self.of_run = QPushButton(text, objectName="right", checkable=True)
        self._which = QButtonGroup(self)
        for button in (self.of_next, self.of_run):
            self._which.addButton(button)
            row.addWidget(button)
        row.addStretch(1)
        self.of_next.clicked.connect(lambda: self.show_page(False))
        self.of_run.clicked.connect(lambda: self.show_page(True))
        for button in (self.of_next, self.of_run):
            button.setVisible(shown is not None)
        column.addLayout(row)
        self.says = QLabel(wordWrap=True)
        self.says.setTextFormat(Qt.TextFormat.PlainText)
        column.addWidget(self.says)
        return column

    def _add_run(self, run: Run) -> None:
        try:
            settings = run.settings()
        except Problem as problem:
            self.of_run.setEnabled(False)
            self.of_run.setToolTip(formatting.problem_text(problem)[0])
            return
        page = SettingsPage(settings.model, self._style)
        page.show_settings(settings)
        self.pages.addWidget(page)

    def _bottom(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(22, 2, 22, 0)
        row.setSpacing(8)
        self.all_back = QPushButton(self.tr("Reset all"))
        self.all_back.setToolTip(self.tr("Everything is decided automatically again"))
        self.all_back.setAutoDefault(False)
        self.all_back.clicked.connect(self._reset_all)
        self.count = QLabel(objectName="muted")
        self.cancel = QPushButton(self.tr("Cancel"))
        self.cancel.setAutoDefault(False)
        self.cancel.clicked.connect(self.reject)
        self.keep = QPushButton(self.tr("Save for this project"), objectName="primary")
        self.keep.setDefault(True)
        self.keep.clicked.connect(self.accept)
        for widget in (self.all_back, self.count):
            row.addWidget(widget)
        row.addStretch(1)
        row.addWidget(self.cancel)
        row.addWidget(self.keep)
        return row

    # --- edits -----------------------------------------------------------------------------------

    def _edited(self, key: str) -> None:
        value = self.fields[key].value()
        if value is None and TrainingSettings.model_fields[key].default is not None:
            self.choices.pop(key, None)  # the field was emptied
        else:
            self.choices[key] = value
        self._check()
        self._soon.start()

    def _reset(self, key: str) -> None:
        self.choices.pop(key, None)
        self._show_values(key)
        self._check()
        self._soon.start()

    def _reset_all(self) -> None:
        self.choices.clear()
        self._show_values()
        self._check()
        self._soon.start()

    def _wrong(self) -> BadSettings | None:
        try:
            request(self._model, **{**self._asked, **self.choices})
        except BadSettings as problem:
            return problem
        return None

    def _plan(self) -> None:
        if self._wrong() is None:
            self._choices.plan(self._model, {**self._asked, **self.choices}, anew=False)

    # --- events ----------------------------------------------------------------------------------

    def _planned(self, settings: TrainingSettings) -> None:
        self._settings = settings
        self._automatic.update({key: getattr(settings, key) for key in self.fields if key not in self.choices})
        self._show_values()
        self._check()

    def _unplanned(self, problem: Problem) -> None:
        if isinstance(problem, BadSettings) and problem.fields["key"] in self.fields:
            self._show_error(problem)
        else:
            self._settings = None
            self._refresh(problem)

    # --- display ---------------------------------------------------------------------------------

    def _show_values(self, *keys: str) -> None:
        """Update the given fields, or all of them. A field that is being edited is left alone."""
        for key in keys or self.fields:
            field = self.fields[key]
            if key in self.choices:
                if not (field.widget.hasFocus() and field.value() == self.choices[key]):
                    field.put(self.choices[key])
            else:
                default = TrainingSettings.model_fields[key].default
                field.put(getattr(self._settings, key) if self._settings is not None else default)

    def _check(self) -> None:
        wrong = self._wrong()
        for key in self.fields:
            mine = key in self.choices
            self.next.backs[key].setVisible(mine)
            self.next.say(key, self._by_hand(key) if mine else said.reason(key, self._settings))
        self.keep.setEnabled(wrong is None)
        self.all_back.setEnabled(bool(self.choices))
        count = len(self.choices)
        self.count.setText(self.tr("{n} chosen by hand").format(n=count) if count else self.tr("All automatic"))
        self._refresh()
        if wrong is not None:
            self._show_error(wrong)

    def _by_hand(self, key: str) -> str:
        if key not in self._automatic:
            return self.tr("Chosen by hand.")
        text = self.tr("Chosen by hand; automatic: {value}")
        return text.format(value=said.written(self._automatic[key]) or self.tr("none"))

    def _show_error(self, problem: BadSettings) -> None:
        key = problem.fields["key"]
        if key in self.fields:
            why = formatting.translate_message(str(problem.fields["why"]))
            self.next.say(key, why, wrong=True)
            self.keep.setEnabled(False)
            self.says.setText(
                self.tr("{setting} cannot be {value}: {why}").format(
                    setting=said.name(key), value=said.written(problem.fields["value"]) or "–", why=why
                )
            )

    def _refresh(self, problem: Problem | None = None) -> None:
        of_next = self.pages.currentIndex() == 0
        for widget in (self.all_back, self.count, self.keep):
            widget.setVisible(of_next)
        self.cancel.setText(self.tr("Cancel") if of_next else self.tr("Close"))
        if not of_next:
            self.says.setText(self.tr("How this run was made, and why."))
        elif problem is not None:
            says, advice = formatting.problem_text(problem)
            says = " ".join(filter(None, (says, advice)))
            usual = self.tr("The values below are the usual ones until then.")
            self.says.setText(f"{says} {usual}")
        elif self._settings is None:
            self.says.setText(self.tr("Looking at pictures and labels…"))
        else:
            self.says.setText(
                self.tr("What would be done now, and why. What you change stays for this project until you reset it.")
            )
