"""Page with the training settings in groups: value and reason of each, read-only or editable."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QScrollArea, QToolButton, QWidget

from workbench.core.runs.training_settings import TrainingSettings
from workbench.ui.text import settings_texts
from workbench.ui.training.settings_fields import Field
from workbench.ui.widgets.theme import ThemeManager

_NAME_WIDTH, _FIELD_WIDTH = 150, 230  # px, minimum column widths


class SettingsPage(QScrollArea):
    """One row per setting: name, value, button that resets it to automatic, reason.

    With `fields` the values are editable.
    """

    edited = Signal(str)
    reset_clicked = Signal(str)

    def __init__(
        self,
        model: str,
        style: ThemeManager,
        fields: dict[str, Field] | None = None,
        *,
        changed: Container[str] = (),
    ) -> None:
        """Create the page. changed: settings whose values the user has changed."""
        super().__init__(widgetResizable=True, frameShape=QFrame.Shape.NoFrame, objectName="side")
        self.setAccessibleName(self.tr("Training settings"))
        self._fields, self._model = fields, model
        self._rows: dict[str, list[QWidget]] = {}
        self.values: dict[str, QLabel] = {}
        self.reasons: dict[str, QLabel] = {}
        self.resets: dict[str, QToolButton] = {}
        body = QWidget(objectName="sideBody")
        grid = QGridLayout(body)
        grid.setContentsMargins(22, 4, 18, 14)
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(6)
        grid.setColumnMinimumWidth(0, _NAME_WIDTH)
        grid.setColumnMinimumWidth(1, _FIELD_WIDTH)
        grid.setColumnStretch(3, 1)
        row = 0
        limits = [] if fields is not None else [(self.tr("Training"), ["minutes", "device"])]
        for title, keys in [*limits, *settings_texts.groups(model, changed)]:
            heading = QLabel(title, objectName="heading")
            heading.setContentsMargins(0, 12 if row else 4, 0, 2)
            grid.addWidget(heading, row, 0, 1, 4)
            for row, key in enumerate(keys, start=row + 1):  # noqa: B020  rows continue after the previous group
                self._add(grid, row, key, style)
            row += 1
        grid.setRowStretch(row, 1)
        self.setWidget(body)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def _add(self, grid: QGridLayout, row: int, key: str, style: ThemeManager) -> None:
        top = Qt.AlignmentFlag.AlignTop
        title = QLabel(settings_texts.name(key))
        title.setToolTip(settings_texts.purpose(key))
        title.setContentsMargins(0, 6, 0, 0)
        grid.addWidget(title, row, 0, top)
        reason = self.reasons[key] = QLabel(objectName="muted", wordWrap=True)
        reason.setTextFormat(Qt.TextFormat.PlainText)
        reason.setContentsMargins(0, 6, 0, 0)
        grid.addWidget(reason, row, 3, top)
        if self._fields is None:
            value = self.values[key] = QLabel(wordWrap=True)
            value.setTextFormat(Qt.TextFormat.PlainText)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            value.setContentsMargins(0, 6, 0, 0)
            value.setMinimumHeight(title.sizeHint().height())  # lines of Chinese texts are higher than those of numbers
            grid.addWidget(value, row, 1, top)
            self._rows[key] = [title, value, reason]
            return
        field = self._fields[key]
        field.setMinimumHeight(title.sizeHint().height())  # centers a check box beside large texts
        field.widget.setAccessibleName(settings_texts.name(key))
        field.widget.setAccessibleDescription(settings_texts.purpose(key))
        field.setToolTip(settings_texts.purpose(key))
        field.edited.connect(lambda: self.edited.emit(key))
        grid.addWidget(field, row, 1, top)
        reset = self.resets[key] = QToolButton()
        reset.setIcon(style.icon("undo", "accent"))
        reset.setToolTip(self.tr("Reset to automatic"))
        reset.setAccessibleName(self.tr("{setting}: reset to automatic").format(setting=settings_texts.name(key)))
        reset.clicked.connect(lambda: self.reset_clicked.emit(key))
        _retain_size(reset, True)
        grid.addWidget(reset, row, 2, top)
        self._rows[key] = [title, field, reason]

    def show_rows_for(self, encoder: str, *, also: Container[str] = ()) -> None:
        """Hide the settings that have no effect with an encoder, except those in `also`."""
        hidden = settings_texts.without_effect(self._model, encoder)
        for key, widgets in self._rows.items():
            visible = key not in hidden or key in also
            for widget in widgets:
                widget.setVisible(visible)
            if key in self.resets:
                _retain_size(self.resets[key], visible)

    def show_settings(self, settings: TrainingSettings) -> None:
        """Show the values and reasons of training settings on a read-only page."""
        for key, label in self.values.items():
            label.setText(settings_texts.written(getattr(settings, key)) or "–")
            self.reasons[key].setText(settings_texts.reason(key, settings))
        self.show_rows_for(settings.encoder)

    def show_values(self, changed: dict[str, Any], settings: TrainingSettings | None, *keys: str) -> None:
        """Update the given fields, or all of them. A field that is being edited is left alone.

        changed: values set by the user. settings: as planned, or None.
        """
        for key in keys or self._fields:
            field = self._fields[key]
            if key in changed:
                if not (field.widget.hasFocus() and field.value() == changed[key]):
                    field.set_value(changed[key])
            else:
                default = TrainingSettings.model_fields[key].default
                field.set_value(getattr(settings, key) if settings is not None else default)

    def set_reason(self, key: str, text: str, *, wrong: bool = False) -> None:
        """Show the reason of a setting, or the error in its value."""
        label = self.reasons[key]
        label.setText(text)
        name = "wrong" if wrong else "muted"
        if label.objectName() != name:
            label.setObjectName(name)
            label.style().unpolish(label)
            label.style().polish(label)


def _retain_size(widget: QWidget, on: bool) -> None:
    """Set whether a hidden widget takes its room in a layout."""
    policy = widget.sizePolicy()
    policy.setRetainSizeWhenHidden(on)
    widget.setSizePolicy(policy)
