"""Commands for inspection: regions, ruler, scale, display, good sample."""

from __future__ import annotations

from functools import partial

from workbench.ui.actions.command_table import Command, CommandContext, CommandGroup
from workbench.ui.canvas.canvas_widget import Canvas
from workbench.ui.canvas.pixel_scale_dialog import ask_scale


class InspectionCommands(CommandGroup):
    def all(self, parts: CommandContext) -> list[Command]:
        canvas, walk, display, comparison = parts.canvas, parts.walk, parts.display, parts.comparison

        def shown() -> bool:
            return canvas.scene.image is not None

        return [
            Command(
                "next_region",
                self.tr("Next re&gion"),
                partial(walk.go, 1),
                "N",
                when=walk.possible,
                tip=self.tr("To the next labelled or predicted region, always at the same scale"),
            ),
            Command(
                "previous_region", self.tr("Previous regi&on"), partial(walk.go, -1), "Shift+N", when=walk.possible
            ),
            Command(
                "ruler",
                self.tr("&Measure"),
                partial(_toggle_ruler, canvas),
                "M",
                "ruler",
                shown,
                lambda: canvas.ruler.on,
                tip=self.tr("Measure: drag a line, read its length"),
            ),
            Command(
                "scale",
                self.tr("Set the scale…"),
                partial(ask_scale, canvas, canvas.ruler, parts.displays),
                when=lambda: parts.session.writable,
                tip=self.tr("How many micrometres a pixel shows"),
            ),
            Command(
                "minimap",
                self.tr("O&verview"),
                partial(_toggle_minimap, canvas),
                on=lambda: canvas.minimap.enabled,
                tip=self.tr("The whole picture in a corner while only a part is in sight"),
            ),
            Command(
                "difference",
                self.tr("Show the &difference to the good sample"),
                parts.layers.toggle_difference,
                "Ctrl+D",
                when=comparison.possible,
                on=lambda: comparison.on,
            ),
            Command(
                "good_sample",
                self.tr("Use as the good sa&mple"),
                comparison.choose,
                when=shown,
                tip=self.tr("Use the current image as the defect-free reference image"),
            ),
            Command(
                "invert",
                self.tr("In&vert"),
                display.toggle_invert,
                "Shift+I",
                when=shown,
                on=lambda: canvas.scene.display.invert,
            ),
            Command(
                "stretch",
                self.tr("Stretch &brightness"),
                display.stretch,
                when=shown,
                tip=self.tr("From the darkest to the brightest values that occur"),
            ),
            Command("reset_display", self.tr("&Reset display"), display.set_automatic, when=shown),
        ]


def _toggle_ruler(canvas: Canvas) -> None:
    canvas.ruler.switch(not canvas.ruler.on)


def _toggle_minimap(canvas: Canvas) -> None:
    canvas.minimap.enabled = not canvas.minimap.enabled
    canvas.update()
