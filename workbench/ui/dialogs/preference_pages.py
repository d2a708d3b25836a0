"""Pages of the settings dialog with fields (appearance, labeling, training), and where each value is read and
applied.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QFormLayout, QLabel, QSpinBox, QWidget

from workbench.core.resources import LANGUAGES
from workbench.core.runs.training_settings import MAX_MINUTES, MIN_MINUTES
from workbench.session.preferences import Preferences
from workbench.ui.actions.command_table import CommandContext
from workbench.ui.canvas.tools.image_context import MAX_DIAMETER, RANGES, SWITCHES
from workbench.ui.widgets.box_layouts import in_column
from workbench.ui.widgets.dialogs import PathField
from workbench.ui.widgets.text_labels import align_text

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

    def __init__(self, fields: list[SettingField], note: str = "", *, status: QWidget | None = None) -> None:
        super().__init__()
        self.fields, self.editors = fields, [_editor(field) for field in fields]
        form = QFormLayout(labelAlignment=Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
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
        column = in_column(form, owner=self, margins=0)
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
        align_text(spin)
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


class PreferenceFields(QObject):
    """Fields of the pages, bound to the objects of a window."""

    def __init__(self, context: CommandContext, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context

    def appearance(self) -> list[SettingField]:
        view, preferences, default = self._context.view_settings, self._context.preferences, Preferences()
        return [
            SettingField(
                self.tr("Theme"),
                lambda: preferences.theme,
                view.set_theme,
                default.theme,
                choices={"system": self.tr("System default"), "dark": self.tr("Dark"), "light": self.tr("Light")},
            ),
            SettingField(
                "Language / 语言",
                lambda: preferences.language,
                view.set_language,
                default.language,
                choices={"system": self.tr("System default"), **LANGUAGES},
            ),
            SettingField(
                self.tr("Text size"),
                lambda: preferences.text_size,
                view.set_text_size,
                default.text_size,
                limits=(100, 150, 10),
                suffix="%",
            ),
        ]

    def labeling(self) -> list[SettingField]:
        canvas, layers, preferences = self._context.canvas, self._context.layers, self._context.preferences
        options, default = canvas.options, Preferences()

        def set_after_done(value: str) -> None:
            preferences.after_done = value
            preferences.save()

        def number(text: str, name: str) -> SettingField:
            initial, low, high = RANGES[name]
            return SettingField(
                text,
                lambda: options[name],
                lambda value: options.set(name, value),
                initial,
                limits=(low, high, 1),
                suffix=self.tr(" px"),
                decimals=1,
            )

        def switch(text: str, name: str) -> SettingField:
            return SettingField(text, lambda: options.on(name), lambda on: options.switch(name, on), SWITCHES[name])

        return [
            SettingField(
                self.tr("After “Mark as done”, open"),
                lambda: preferences.after_done,
                set_after_done,
                default.after_done,
                choices={
                    "next": self.tr("Next image"),
                    "next_open": self.tr("Next image not done"),
                    "stay": self.tr("No other image"),
                },
            ),
            SettingField(
                self.tr("Label opacity"),
                lambda: round(100 * canvas.scene.label_style.opacity),
                lambda value: layers.set_opacity(value / 100),
                round(100 * default.overlay_opacity),
                limits=(1, 100, 5),
                suffix="%",
            ),
            SettingField(
                self.tr("Brush size"),
                lambda: canvas.diameter,
                lambda value: canvas.set_diameter(int(value)),
                round(2 * default.brush_radius),
                limits=(1, MAX_DIAMETER, 1),
                suffix=self.tr(" px"),
            ),
            number(self.tr("Grow and shrink by"), "step"),
            number(self.tr("Magic wand: smoothing"), "smoothing"),
            number(self.tr("Crack tracer: max. width"), "widest"),
            switch(self.tr("Magic wand: tolerance from the image"), "tolerance_auto"),
            switch(self.tr("Magic wand: fill holes"), "fill_inside"),
            switch(self.tr("Brush: fill closed strokes"), "encircle"),
            switch(self.tr("Adjust the stroke width to the pen pressure"), "pressure"),
        ]

    def click_model(self) -> list[SettingField]:
        clicks, preferences = self._context.canvas.clicks, self._context.preferences
        files = self.tr("ONNX networks (*.onnx)")

        def field(text: str, name: str, **kinds: Any) -> SettingField:
            default = getattr(Preferences(), name)
            return SettingField(
                text, lambda: getattr(preferences, name), lambda value: clicks.choose(name, value), default, **kinds
            )

        return [
            field(self.tr("Image encoder"), "click_encoder", files=files),
            field(self.tr("Mask decoder"), "click_decoder", files=files),
            field(
                self.tr("Pixel values"),
                "click_values",
                choices={
                    "auto": self.tr("Default of the model"),
                    "normalized": self.tr("Normalized (ImageNet)"),
                    "255": self.tr("0 to 255"),
                    "1": self.tr("0 to 1"),
                },
            ),
        ]

    def training(self) -> list[SettingField]:
        controls, default = self._context.training.controls, Preferences()

        def put(index: int, value: str | float) -> None:
            values = list(controls.values())
            values[index] = value
            controls.set_values(*values)

        devices = {controls.device.itemData(i): controls.device.itemText(i) for i in range(controls.device.count())}
        return [
            SettingField(
                self.tr("Model"),
                lambda: controls.values()[0],
                lambda value: put(0, value),
                default.model,
                choices={model: button.text() for model, button in controls.models.items()},
            ),
            SettingField(
                self.tr("Time limit"),
                lambda: controls.values()[1],
                lambda value: put(1, value),
                default.minutes,
                limits=(MIN_MINUTES, MAX_MINUTES, 1),
                suffix=self.tr(" min"),
                decimals=1,
            ),
            SettingField(
                self.tr("Device"),
                lambda: controls.values()[2],
                lambda value: put(2, value),
                default.device,
                choices=devices,
                note=self.tr("Automatic uses the GPU if there is one."),
            ),
        ]
