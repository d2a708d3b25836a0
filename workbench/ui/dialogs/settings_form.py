"""Pages of the settings with fields: appearance, labeling, training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QFormLayout, QLabel, QSpinBox, QVBoxLayout, QWidget

from workbench.ui.widgets.job_dialog import PathField

Value = str | float | bool


@dataclass(frozen=True)
class SettingField:
    """Field of a settings page.

    choices: texts by value, for a combo box. limits: of a number field. files: of the path of a file, what its dialog
    offers. Without all of them the field is a check box.
    get, set: read and apply the value. default: value of "Restore defaults".
    """

    text: str
    get: Callable[[], Value]
    set: Callable[[Value], object]
    default: Value
    choices: dict[str, str] | None = None
    limits: tuple[float, float, float] | None = None  # minimum, maximum, step
    files: str = ""
    suffix: str = ""
    decimals: int = 0
    note: str = ""


class SettingsForm(QWidget):
    """Page with one row for each field. A changed value is applied at once. status: shown below the fields."""

    def __init__(
        self,
        fields: list[SettingField],
        note: str = "",
        parent: QWidget | None = None,
        *,
        status: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.fields, self.editors = fields, [_editor(field) for field in fields]
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        form = QFormLayout()
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        form.setHorizontalSpacing(18)
        form.setVerticalSpacing(10)
        for field, editor in zip(fields, self.editors):
            if isinstance(editor, QCheckBox):
                form.addRow("", editor)
            else:
                editor.setMinimumWidth(210)
                label = QLabel(field.text)
                label.setMinimumHeight(editor.sizeHint().height())  # centers it beside a field of several widgets
                form.addRow(label, editor)
                if isinstance(editor, PathField):
                    label.setBuddy(editor.input)
                else:
                    editor.setAccessibleName(field.text)
                    label.setBuddy(editor)
            if field.note:
                form.addRow("", QLabel(field.note, objectName="muted", wordWrap=True))
        column.addLayout(form)
        if status is not None:
            column.addSpacing(10)
            column.addWidget(status)
        if note:
            column.addSpacing(10)
            column.addWidget(QLabel(note, objectName="muted", wordWrap=True))
        column.addStretch(1)
        self.refresh()
        for field, editor in zip(fields, self.editors):
            _on_change(editor, field.set)

    def refresh(self) -> None:
        """Show the present values."""
        for field, editor in zip(self.fields, self.editors):
            blocked = editor.blockSignals(True)
            _show(editor, field.get())
            editor.blockSignals(blocked)

    def restore_defaults(self) -> None:
        """Apply the defaults of all fields."""
        for field in self.fields:
            if field.get() != field.default:
                field.set(field.default)
        self.refresh()


def _editor(field: SettingField) -> QWidget:
    if field.choices is not None:
        combo = QComboBox()
        for value, text in field.choices.items():
            combo.addItem(text, value)
        return combo
    if field.files:
        return PathField(field.text, "open", kinds=field.files)
    if field.limits is not None:
        low, high, step = field.limits
        spin = QDoubleSpinBox(decimals=field.decimals) if field.decimals else QSpinBox()
        spin.setRange(low, high) if field.decimals else spin.setRange(int(low), int(high))
        spin.setSingleStep(step if field.decimals else int(step))
        spin.setSuffix(field.suffix)
        spin.lineEdit().setTextMargins(5, 0, 0, 0)
        spin.setKeyboardTracking(False)
        return spin
    return QCheckBox(field.text)


def _on_change(editor: QWidget, apply: Callable[[Value], object]) -> None:
    if isinstance(editor, QComboBox):
        editor.currentIndexChanged.connect(lambda _: apply(editor.currentData()))
    elif isinstance(editor, PathField):
        editor.chosen.connect(apply)
        editor.line.editingFinished.connect(lambda: apply(editor.line.text().strip()))
    elif isinstance(editor, QCheckBox):
        editor.toggled.connect(lambda on: apply(on))
    else:
        editor.valueChanged.connect(lambda value: apply(value))


def _show(editor: QWidget, value: Value) -> None:
    if isinstance(editor, QComboBox):
        editor.setCurrentIndex(max(0, editor.findData(value)))
    elif isinstance(editor, PathField):
        editor.line.setText(str(value))
    elif isinstance(editor, QCheckBox):
        editor.setChecked(bool(value))
    elif isinstance(editor, QSpinBox):
        editor.setValue(round(float(value)))
    else:
        editor.setValue(float(value))
