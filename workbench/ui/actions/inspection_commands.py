"""Commands for inspection: regions, ruler, pixel scale, display, reference image."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QInputDialog, QWidget

from workbench.session.display_presets import DisplayPresets
from workbench.ui.actions.command_table import Command, CommandContext, CommandGroup
from workbench.ui.canvas.canvas_widget import Canvas
from workbench.ui.canvas.items.ruler import Ruler
from workbench.ui.shortcuts import key_text
from workbench.ui.text import formatting

_MIN, _MAX = 1e-4, 1e7


def ask_scale(parent: QWidget, ruler: Ruler, presets: DisplayPresets) -> None:
    """Ask for the project's scale and set it. If the ruler holds a line, its true length in µm is asked for."""
    title = QCoreApplication.translate("scale", "Pixel scale")
    scale = presets.um_per_pixel or 1.0
    pixels = ruler.length
    if pixels:
        text = QCoreApplication.translate("scale", "True length of the measured line ({length}) in µm:")
        text = text.format(length=formatting.length(pixels))
    else:
        text = QCoreApplication.translate("scale", "µm per pixel. Press {key} to measure a line of known length first.")
        text = text.format(key=key_text("ruler"))
    value, accepted = QInputDialog.getDouble(parent, title, text, scale * (pixels or 1.0), _MIN, _MAX, 4)
    if accepted:
        presets.set_scale(value / (pixels or 1.0))


class InspectionCommands(CommandGroup):
    def commands(self, context: CommandContext) -> list[Command]:
        canvas, display, comparison = context.canvas, context.display, context.comparison
        navigator = context.region_navigator

        def has_image() -> bool:
            return canvas.scene.image is not None

        return [
            Command(
                "next_region",
                self.tr("Ne&xt region"),
                partial(navigator.go, 1),
                enabled=navigator.possible,
                tip=self.tr("Show the next labeled or predicted region at the same zoom"),
            ),
            Command(
                "previous_region",
                self.tr("Previous &region"),
                partial(navigator.go, -1),
                enabled=navigator.possible,
            ),
            Command(
                "ruler",
                self.tr("&Measure"),
                partial(_toggle_ruler, canvas),
                "ruler",
                has_image,
                lambda: canvas.ruler.on,
                tip=self.tr("Measure: drag a line to read its length"),
            ),
            Command(
                "scale",
                self.tr("Set pixel s&cale…"),
                partial(ask_scale, canvas, canvas.ruler, context.display_presets),
                enabled=lambda: context.session.writable,
                tip=self.tr("Set the size of a pixel in µm"),
            ),
            Command(
                "minimap",
                self.tr("O&verview"),
                partial(_toggle_minimap, canvas),
                checked=lambda: canvas.minimap.enabled,
                tip=self.tr("Show the whole image in a corner while only a part is visible"),
            ),
            Command(
                "difference",
                self.tr("Show &difference from reference image"),
                context.layers.toggle_difference,
                enabled=comparison.possible,
                checked=lambda: comparison.on,
            ),
            Command(
                "good_sample",
                self.tr("Use as refere&nce image"),
                comparison.choose,
                enabled=has_image,
                tip=self.tr("Use the current image as the defect-free reference image"),
            ),
            Command(
                "invert",
                self.tr("In&vert"),
                display.toggle_invert,
                enabled=has_image,
                checked=lambda: canvas.scene.display.invert,
            ),
            Command(
                "stretch",
                self.tr("&Auto contrast"),
                display.stretch,
                enabled=has_image,
                tip=self.tr("Stretch to the minimum and maximum gray value"),
            ),
            Command("reset_display", self.tr("&Reset display"), display.set_automatic, enabled=has_image),
        ]


def _toggle_ruler(canvas: Canvas) -> None:
    canvas.ruler.switch(not canvas.ruler.on)


def _toggle_minimap(canvas: Canvas) -> None:
    canvas.minimap.enabled = not canvas.minimap.enabled
    canvas.update()
