"""Fields of the settings dialog: where each value is read and applied."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject

from workbench.core.resources import LANGUAGES
from workbench.core.runs.training_settings import MAX_MINUTES, MIN_MINUTES
from workbench.session.preferences import Preferences
from workbench.ui.actions.command_table import CommandContext
from workbench.ui.canvas.tools.tool_options import MAX_DIAMETER, RANGES, SWITCHES
from workbench.ui.dialogs.settings_form import SettingField


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
                suffix=" %",
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
                suffix=" %",
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
            number(self.tr("Smoothing of the magic wand"), "smoothing"),
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
                    "auto": self.tr("As usual for the model"),
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
                choices={"unet": controls.unet.text(), "resnet": controls.resnet.text()},
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
