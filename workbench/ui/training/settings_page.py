"""Page with the training settings in groups: value and reason of each, read-only or editable."""

from __future__ import annotations

import types
from abc import abstractmethod
from collections.abc import Container, Sequence
from typing import Any, Literal, Union, get_args, get_origin

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QFrame,
    QGridLayout,
    QLabel,
    QLineEdit,
    QScrollArea,
    QToolButton,
    QWidget,
)

from workbench.core.runs.training_settings import VERDICT_ENCODERS, TrainingSettings
from workbench.ui.text import settings_texts
from workbench.ui.widgets.theme import ThemeManager

_FILE = "\0file"


class Field(QWidget):
    """Base class of the input fields. `edited` is emitted for changes by the user only, not for `set_value`."""

    edited = Signal()

    def __init__(self, widget: QWidget) -> None:
        super().__init__()
        self.widget = widget
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.addWidget(widget)
        self.setFocusProxy(widget)

    @abstractmethod
    def set_value(self, value: Any) -> None:
        """Show a value."""

    @abstractmethod
    def value(self) -> Any:
        """Return the shown value, as the training settings expect it."""


class TextField(Field):
    """Line edit for a number, or for a comma-separated list of numbers."""

    def __init__(self, *, is_list: bool) -> None:
        self.line = QLineEdit()
        super().__init__(self.line)
        self._is_list = is_list
        self.line.textEdited.connect(lambda _: self.edited.emit())

    def set_value(self, value: Any) -> None:
        text = settings_texts.written(value)
        if text != self.line.text():
            self.line.setText(text)

    def value(self) -> Any:
        text = self.line.text().strip()
        if self._is_list:
            for character in ";，、[]()":
                text = text.replace(character, "," if character in ";，、" else " ")
            return [self._number(part) for part in text.replace(",", " ").split()]
        return self._number(text) if text else None

    def _number(self, text: str) -> Any:
        """Return an int, a float, or the text itself if it is no number.

        The validation of the settings explains the error then.
        """
        try:
            return int(text)
        except ValueError:
            pass
        try:
            return float(text.replace(",", "."))
        except ValueError:
            return text


class ChoiceField(Field):
    """Combo box for one of a few values."""

    def __init__(self, options: Sequence[tuple[Any, str]]) -> None:
        self.box = QComboBox()
        super().__init__(self.box)
        self.box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.box.setMinimumContentsLength(12)
        for value, text in options:
            self.box.addItem(text, value)
        self.box.activated.connect(self._chosen)

    def set_value(self, value: Any) -> None:
        index = self.box.findData(value)
        if index < 0:
            self.box.addItem(settings_texts.written(value), value)
            index = self.box.count() - 1
        self.box.setCurrentIndex(index)

    def value(self) -> Any:
        return self.box.currentData()

    def _chosen(self, index: int) -> None:
        self.edited.emit()


class WeightsField(ChoiceField):
    """Choice of pretrained weights: none, those published by Paddle, or a file."""

    def __init__(self) -> None:
        super().__init__(
            [(None, self.tr("None")), ("imagenet", settings_texts.option("imagenet")), (_FILE, self.tr("From file…"))]
        )
        self._previous: Any = None

    def set_value(self, value: Any) -> None:
        super().set_value(value)
        self._previous = value

    def _chosen(self, index: int) -> None:
        if self.value() == _FILE:
            file_filter = self.tr("Weights ({patterns})").format(patterns="*.safetensors *.pdparams")
            path, _ = QFileDialog.getOpenFileName(self, self.tr("ResNet weights"), "", file_filter)
            self.set_value(path or self._previous)
            if not path:
                return
        self._previous = self.value()
        self.edited.emit()


class SwitchField(Field):
    """Check box."""

    def __init__(self) -> None:
        self.box = QCheckBox()
        super().__init__(self.box)
        self.layout().setContentsMargins(0, 6, 0, 0)
        self.box.clicked.connect(lambda _: self.edited.emit())

    def set_value(self, value: Any) -> None:
        self.box.setChecked(bool(value))

    def value(self) -> Any:
        return self.box.isChecked()


class SubsetField(Field):
    """Check boxes for any subset of some values, in their order."""

    def __init__(self, options: Sequence[tuple[Any, str]], columns: int = 2) -> None:
        inner = QWidget()
        super().__init__(inner)
        grid = QGridLayout(inner)
        grid.setContentsMargins(0, 2, 0, 2)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(5)
        self.boxes: dict[Any, QCheckBox] = {}
        for number, (value, text) in enumerate(options):
            box = self.boxes[value] = QCheckBox(text)
            box.clicked.connect(lambda _: self.edited.emit())
            grid.addWidget(box, number // columns, number % columns)
        self.setFocusProxy(next(iter(self.boxes.values())))

    def set_value(self, value: Any) -> None:
        for option, box in self.boxes.items():
            box.setChecked(option in (value or ()))

    def value(self) -> Any:
        return [option for option, box in self.boxes.items() if box.isChecked()]


def field_for(key: str, runs: Sequence[tuple[str, str]], model: str = "unet") -> Field:
    """Return a new input field for a setting of a model.

    runs: names and titles of the runs offered as initial weights.
    """
    annotation = TrainingSettings.model_fields[key].annotation
    if key == "weights":
        return WeightsField()
    if key == "start_from":
        return ChoiceField([(None, QCoreApplication.translate("recipe", "None")), *runs])
    if get_origin(annotation) in (Union, types.UnionType):
        annotation = next(part for part in get_args(annotation) if part is not type(None))
    if get_origin(annotation) is Literal:
        values = VERDICT_ENCODERS if (key, model) == ("encoder", "resnet") else get_args(annotation)
        return ChoiceField([(value, settings_texts.option(value)) for value in values])
    if get_origin(annotation) is list:
        inner = get_args(annotation)[0]
        if get_origin(inner) is Literal:
            return SubsetField([(value, settings_texts.option(value)) for value in get_args(inner)])
        return TextField(is_list=True)
    return SwitchField() if annotation is bool else TextField(is_list=False)


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
