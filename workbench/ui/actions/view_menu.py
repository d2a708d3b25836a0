"""Commands of the menu *View*: zoom, regions, ruler, display, overlays, panels, theme and language."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QInputDialog, QWidget

from workbench.core.resources import LANGUAGES
from workbench.session.display_presets import DisplayPresets
from workbench.ui.actions.command_table import (
    IMAGES,
    PROJECT,
    SEPARATOR,
    SHOWN,
    WRITABLE,
    Command,
    CommandContext,
    Entry,
    MenuTable,
    Submenu,
    require,
)
from workbench.ui.canvas.canvas_items import Ruler
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


class PredictionDisplayMenu(MenuTable):
    name = "prediction_display"

    def title(self) -> str:
        return self.tr("Prediction displa&y")

    def entries(self) -> list[Entry]:
        modes = {
            "outline": self.tr("Predictions as &outlines"),
            "filled": self.tr("Predictions as &filled areas"),
            "heat": self.tr("&Probability map"),
            "uncertainty": self.tr("&Uncertainty map"),
        }
        no_step = self.tr("Earlier predictions are stored during a training only")
        return [
            *(
                Command(
                    f"display_{mode}",
                    text,
                    lambda c, mode=mode: c.layers.display.set_mode(mode),
                    checked=lambda c, mode=mode: c.canvas.scene.prediction_style.mode == mode,
                    group="prediction_display",
                )
                for mode, text in modes.items()
            ),
            SEPARATOR,
            Command(
                "next_display",
                self.tr("&Next prediction display"),
                lambda c: c.layers.display.next_mode(),
                icon="filled",
                keys="Shift+C",
            ),
            Command(
                "earlier_step",
                self.tr("&Earlier training step"),
                lambda c: _go(c, -1),
                keys=",",
                needs=PROJECT + require(lambda c: c.overlay.steps, no_step),
                tip=self.tr("Prediction for this image at an earlier training step"),
            ),
            Command(
                "later_step",
                self.tr("&Later training step"),
                lambda c: _go(c, 1),
                keys=".",
                needs=PROJECT + require(lambda c: c.overlay.step is not None, no_step),
                tip=self.tr("Prediction for this image at a later training step"),
            ),
            Command(
                "reset_thresholds",
                self.tr("Reset &thresholds"),
                lambda c: c.overlay.reset_thresholds(),
                needs=PROJECT
                + require(lambda c: c.overlay.own_thresholds, self.tr("The thresholds of the run are in use")),
                tip=self.tr("Use the thresholds of the run again"),
            ),
            SEPARATOR,
            Command(
                "instant_overlay",
                self.tr("&Instant overlay"),
                lambda c: c.instant_overlay.switch(not c.instant_overlay.on),
                checked=lambda c: c.instant_overlay.on,
                tip=self.tr("Without a training, show after each stroke where images resemble the labeled defects"),
            ),
        ]


class ViewMenu(MenuTable):
    name = "view"

    def title(self) -> str:
        return self.tr("&View")

    def entries(self) -> list[Entry]:
        return [
            *self._zoom(),
            SEPARATOR,
            *self._measuring(),
            self._display(),
            SEPARATOR,
            Command(
                "labels",
                self.tr("Show &labels"),
                lambda c: c.layers.toggle_labels(),
                icon="layers",
                keys="H",
                checked=lambda c: c.canvas.scene.label_style.visible,
                tip=self.tr("Show labels. Hold {key} to hide all overlays."),
                tip_keys={"key": "hide_overlays"},
            ),
            Command(
                "predictions",
                self.tr("Show &predictions"),
                lambda c: c.layers.toggle_predictions(),
                icon="predict",
                keys="Shift+H",
                checked=lambda c: c.canvas.scene.prediction_style.visible,
            ),
            PredictionDisplayMenu().menu(),
            SEPARATOR,
            *self._panels(),
            SEPARATOR,
            self._themes(),
            self._languages(),
            Command(
                "full_screen",
                self.tr("Full scr&een"),
                lambda c: c.view_settings.toggle_full_screen(),
                keys="F11",
                checked=lambda c: c.view_settings.is_full_screen(),
            ),
        ]

    def _zoom(self) -> list[Command]:
        region = SHOWN + require(lambda c: c.region_navigator.possible(), self.tr("The image has no regions"))
        return [
            Command(
                "fit",
                self.tr("&Fit to window"),
                lambda c: c.canvas.view_state.fit(),
                icon="fit",
                keys="Ctrl+F",
                needs=SHOWN,
            ),
            Command(
                "actual",
                self.tr("&100%"),
                lambda c: c.canvas.view_state.actual_size(),
                icon="actual",
                keys="Ctrl+0",
                needs=SHOWN,
            ),
            Command(
                "zoom_in",
                self.tr("&Zoom in"),
                lambda c: c.canvas.view_state.zoom(1.25),
                icon="zoom-in",
                keys="Ctrl++; Ctrl+=",
                needs=SHOWN,
            ),
            Command(
                "zoom_out",
                self.tr("Zoom &out"),
                lambda c: c.canvas.view_state.zoom(0.8),
                icon="zoom-out",
                keys="Ctrl+-",
                needs=SHOWN,
            ),
            Command(
                "next_region",
                self.tr("Ne&xt region"),
                lambda c: c.region_navigator.go(1),
                keys="N",
                needs=region,
                tip=self.tr("Show the next labeled or predicted region at the same zoom"),
            ),
            Command(
                "previous_region",
                self.tr("Previous &region"),
                lambda c: c.region_navigator.go(-1),
                keys="Shift+N",
                needs=region,
            ),
        ]

    def _measuring(self) -> list[Command]:
        return [
            Command(
                "ruler",
                self.tr("&Measure"),
                lambda c: c.canvas.ruler.switch(not c.canvas.ruler.on),
                icon="ruler",
                keys="M",
                needs=SHOWN,
                checked=lambda c: c.canvas.ruler.on,
                tip=self.tr("Measure: drag a line to read its length"),
            ),
            Command(
                "scale",
                self.tr("Set pixel s&cale…"),
                lambda c: ask_scale(c.canvas, c.canvas.ruler, c.display_presets),
                needs=WRITABLE,
                tip=self.tr("Set the size of a pixel in µm"),
            ),
            Command(
                "minimap",
                self.tr("O&verview"),
                _toggle_minimap,
                checked=lambda c: c.canvas.minimap.enabled,
                tip=self.tr("Show the whole image in a corner while only a part is visible"),
            ),
        ]

    def _display(self) -> Submenu:
        return Submenu(
            "display",
            self.tr("&Display"),
            [
                Command(
                    "stretch",
                    self.tr("&Auto contrast"),
                    lambda c: c.display.stretch(),
                    needs=SHOWN,
                    tip=self.tr("Stretch to the minimum and maximum gray value"),
                ),
                Command(
                    "invert",
                    self.tr("In&vert"),
                    lambda c: c.display.toggle_invert(),
                    keys="Shift+I",
                    needs=SHOWN,
                    checked=lambda c: c.canvas.scene.display.invert,
                ),
                Command(
                    "difference",
                    self.tr("Show &difference from reference image"),
                    lambda c: c.layers.toggle_difference(),
                    keys="Ctrl+D",
                    needs=SHOWN + require(lambda c: c.comparison.possible(), self.tr("Select a reference image first")),
                    checked=lambda c: c.comparison.on,
                ),
                Command(
                    "reference_image",
                    self.tr("Use as refere&nce image"),
                    lambda c: c.comparison.choose(),
                    needs=SHOWN,
                    tip=self.tr("Use the current image as the defect-free reference image"),
                ),
                SEPARATOR,
                Command("reset_display", self.tr("&Reset display"), lambda c: c.display.set_automatic(), needs=SHOWN),
            ],
        )

    def _panels(self) -> list[Command]:
        return [
            Command(
                "thumbnails",
                self.tr("T&humbnail view"),
                lambda c: c.images.toggle_thumbnails(),
                icon="grid",
                keys="Ctrl+G",
                needs=IMAGES,
                checked=lambda c: c.images.browsing,
                tip=self.tr("Show all listed images as thumbnails and set verdicts for several images at once"),
            ),
            self._panel("images", self.tr("Im&ages panel"), "panel-left", keys="F2"),
            self._panel("side", self.tr("Cla&sses and layers panel"), "panel-right", keys="F3"),
            Command(
                "panel_training",
                self.tr("Tra&ining panel"),
                lambda c: c.training.fold(),
                icon="panel-bottom",
                keys="F4",
                checked=lambda c: c.training.heading.isChecked(),
            ),
            Command(
                "tool_names",
                self.tr("Sho&w names of tools"),
                lambda c: c.view_settings.toggle_tool_names(),
                checked=lambda c: c.view_settings.tool_names(),
            ),
            Command("next_panel", self.tr("&Next panel"), lambda c: c.view_settings.focus_panel(1), keys="F6"),
            Command(
                "previous_panel", self.tr("Previo&us panel"), lambda c: c.view_settings.focus_panel(-1), keys="Shift+F6"
            ),
        ]

    def _panel(self, name: str, text: str, icon: str, *, keys: str) -> Command:
        return Command(
            f"panel_{name}",
            text,
            lambda c: c.view_settings.toggle_panel(name),
            icon=icon,
            keys=keys,
            checked=lambda c: c.view_settings.panel_shown(name),
        )

    def _themes(self) -> Submenu:
        themes = {"system": self.tr("&System default"), "dark": self.tr("&Dark"), "light": self.tr("&Light")}
        commands = [
            Command(
                f"theme_{name}",
                text,
                lambda c, name=name: c.view_settings.set_theme(name),
                checked=lambda c, name=name: c.view_settings.is_theme(name),
                group="theme",
            )
            for name, text in themes.items()
        ]
        return Submenu("theme", self.tr("&Theme"), commands)

    def _languages(self) -> Submenu:
        languages = {"system": self.tr("System default"), **LANGUAGES}
        commands = [
            Command(
                f"language_{code}",
                name,
                lambda c, code=code: c.view_settings.set_language(code),
                checked=lambda c, code=code: c.view_settings.is_language(code),
                group="language",
            )
            for code, name in languages.items()
        ]
        return Submenu("language", self.tr("Lan&guage"), commands)


def _toggle_minimap(c: CommandContext) -> None:
    c.canvas.minimap.enabled = not c.canvas.minimap.enabled
    c.canvas.update()


def _go(c: CommandContext, offset: int) -> None:
    overlay = c.overlay
    steps = [*overlay.steps, None]
    position = steps.index(overlay.step) if overlay.step in steps else len(steps) - 1
    overlay.show_earlier_step(steps[max(0, min(position + offset, len(steps) - 1))])
