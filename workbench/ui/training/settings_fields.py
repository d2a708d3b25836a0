"""Input fields for the training settings, one class per kind of value."""

from __future__ import annotations

import types
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Literal, Union, get_args, get_origin

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QFileDialog, QGridLayout, QLineEdit, QWidget

from workbench.core.runs.training_settings import TrainingSettings
from workbench.ui.text import settings_texts

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


def field_for(key: str, runs: Sequence[tuple[str, str]]) -> Field:
    """Return a new input field for a setting. runs: names and titles of the runs offered as initial weights."""
    annotation = TrainingSettings.model_fields[key].annotation
    if key == "weights":
        return WeightsField()
    if key == "start_from":
        return ChoiceField([(None, QCoreApplication.translate("recipe", "None")), *runs])
    if get_origin(annotation) in (Union, types.UnionType):
        annotation = next(part for part in get_args(annotation) if part is not type(None))
    if get_origin(annotation) is Literal:
        return ChoiceField([(value, settings_texts.option(value)) for value in get_args(annotation)])
    if get_origin(annotation) is list:
        inner = get_args(annotation)[0]
        if get_origin(inner) is Literal:
            return SubsetField([(value, settings_texts.option(value)) for value in get_args(inner)])
        return TextField(is_list=True)
    return SwitchField() if annotation is bool else TextField(is_list=False)
