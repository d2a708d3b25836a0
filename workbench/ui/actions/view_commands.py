"""Commands of the window: zoom, overlays, panels, theme and language."""

from __future__ import annotations

from functools import partial

from workbench.core.resources import LANGUAGES
from workbench.ui.actions.command_table import Command, CommandContext, CommandGroup


class ViewCommands(CommandGroup):
    def commands(self, context: CommandContext) -> list[Command]:
        canvas, layers, view = context.canvas, context.layers, context.view_settings

        def has_image() -> bool:
            return canvas.scene.image is not None

        commands = [
            Command("fit", self.tr("&Fit to window"), canvas.view_state.fit, "fit", has_image),
            Command("actual", self.tr("&100%"), canvas.view_state.actual_size, "actual", has_image),
            Command("zoom_in", self.tr("&Zoom in"), partial(canvas.view_state.zoom, 1.25), "zoom-in", has_image),
            Command("zoom_out", self.tr("Zoom &out"), partial(canvas.view_state.zoom, 0.8), "zoom-out", has_image),
            Command(
                "labels",
                self.tr("Show &labels"),
                layers.toggle_labels,
                "layers",
                checked=lambda: canvas.scene.label_style.visible,
                tip=self.tr("Show labels. Hold {key} to hide all overlays."),
                tip_keys={"key": "hide_overlays"},
            ),
            Command(
                "predictions",
                self.tr("Show &predictions"),
                layers.toggle_predictions,
                "predict",
                checked=lambda: canvas.scene.prediction_style.visible,
            ),
            Command(
                "panel_pictures",
                self.tr("Im&ages panel"),
                partial(view.toggle_panel, "pictures"),
                "panel-left",
                checked=partial(view.panel_shown, "pictures"),
            ),
            Command(
                "panel_side",
                self.tr("Cla&sses and layers panel"),
                partial(view.toggle_panel, "side"),
                "panel-right",
                checked=partial(view.panel_shown, "side"),
            ),
            Command(
                "panel_training",
                self.tr("Tra&ining panel"),
                context.training.fold,
                "panel-bottom",
                checked=context.training.heading.isChecked,
            ),
            Command("tool_names", self.tr("Sho&w names of tools"), view.toggle_tool_names, checked=view.tool_names),
            Command("next_panel", self.tr("&Next panel"), partial(view.focus_panel, 1)),
            Command("previous_panel", self.tr("Previo&us panel"), partial(view.focus_panel, -1)),
            Command("full_screen", self.tr("Full scr&een"), view.toggle_full_screen, checked=view.is_full_screen),
        ]
        themes = (("system", self.tr("&System default")), ("dark", self.tr("&Dark")), ("light", self.tr("&Light")))
        commands += [
            Command(
                f"theme_{name}",
                text,
                partial(view.set_theme, name),
                checked=partial(view.is_theme, name),
                group="theme",
            )
            for name, text in themes
        ]
        languages = {"system": self.tr("System default"), **LANGUAGES}
        commands += [
            Command(
                f"language_{code}",
                name,
                partial(view.set_language, code),
                checked=partial(view.is_language, code),
                group="language",
            )
            for code, name in languages.items()
        ]
        return commands


class EvaluationCommands(CommandGroup):
    def commands(self, context: CommandContext) -> list[Command]:
        evaluation = context.evaluation
        return [
            Command(
                "review",
                self.tr("E&valuation"),
                evaluation.toggle,
                "review",
                evaluation.possible,
                evaluation.is_on,
                tip=self.tr(
                    "Missed defects and false alarms on validation and test images; choose the detection threshold here"
                ),
            ),
        ]
