"""Commands of the window: zoom, overlays, panels, theme and language."""

from __future__ import annotations

from functools import partial

from workbench.ui.actions.command_table import Command, CommandContext, CommandGroup


class ViewCommands(CommandGroup):
    def all(self, parts: CommandContext) -> list[Command]:
        canvas, layers, looks = parts.canvas, parts.layers, parts.appearance

        def shown() -> bool:
            return canvas.scene.image is not None

        rows = [
            Command("fit", self.tr("&Fit to window"), canvas.fit, "Ctrl+F", "fit", shown),
            Command("actual", self.tr("&100 %"), canvas.actual_size, "Ctrl+0", "actual", shown),
            Command("zoom_in", self.tr("Zoom &in"), partial(canvas.zoom, 1.25), "Ctrl++; Ctrl+=", "zoom-in", shown),
            Command("zoom_out", self.tr("Zoom &out"), partial(canvas.zoom, 0.8), "Ctrl+-", "zoom-out", shown),
            Command(
                "labels",
                self.tr("Show &labels"),
                layers.toggle_labels,
                "H",
                "layers",
                on=lambda: canvas.scene.label_style.visible,
                tip=self.tr("Show labels; hold Tab to hide everything for a moment"),
            ),
            Command(
                "predictions",
                self.tr("Show &predictions"),
                layers.toggle_predictions,
                "Shift+H",
                "predict",
                on=lambda: canvas.scene.prediction_style.visible,
            ),
            Command(
                "panel_pictures",
                self.tr("Pi&ctures panel"),
                partial(looks.toggle_panel, "pictures"),
                "F2",
                "panel-left",
                on=partial(looks.panel_shown, "pictures"),
            ),
            Command(
                "panel_side",
                self.tr("Cl&asses and layers panel"),
                partial(looks.toggle_panel, "side"),
                "F3",
                "panel-right",
                on=partial(looks.panel_shown, "side"),
            ),
            Command(
                "panel_training",
                self.tr("&Training panel"),
                parts.training.fold,
                "F4",
                "panel-bottom",
                on=parts.training.heading.isChecked,
            ),
            Command("next_panel", self.tr("&Next panel"), partial(looks.focus_panel, 1), "F6"),
            Command("previous_panel", self.tr("Pre&vious panel"), partial(looks.focus_panel, -1), "Shift+F6"),
            Command("full_screen", self.tr("F&ull screen"), looks.toggle_full_screen, "F11", on=looks.is_full_screen),
        ]
        for name, text in (
            ("system", self.tr("As the &system")),
            ("dark", self.tr("&Dark")),
            ("light", self.tr("&Light")),
        ):
            rows.append(
                Command(
                    f"theme_{name}",
                    text,
                    partial(looks.set_theme, name),
                    group="theme",
                    on=partial(looks.is_theme, name),
                )
            )
        for name, text in (("system", self.tr("As the system")), ("en", "English"), ("zh_CN", "简体中文")):
            rows.append(
                Command(
                    f"language_{name}",
                    text,
                    partial(looks.set_language, name),
                    group="language",
                    on=partial(looks.is_language, name),
                )
            )
        return rows


class EvaluationCommands(CommandGroup):
    def all(self, parts: CommandContext) -> list[Command]:
        opening = parts.review
        return [
            Command(
                "review",
                self.tr("&Review"),
                opening.toggle,
                "Ctrl+Shift+R",
                "review",
                opening.possible,
                on=opening.is_on,
                tip=self.tr(
                    "Missed defects and false alarms on validation and test images; choose the detection threshold here"
                ),
            ),
        ]
