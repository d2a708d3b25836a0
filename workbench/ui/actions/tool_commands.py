"""Commands of the tools and of their options."""

from __future__ import annotations

from functools import partial

from workbench.core.project.project import ClassInfo
from workbench.session.session import Session
from workbench.ui.actions.command_table import Command, CommandContext, CommandGroup, paintable
from workbench.ui.canvas.canvas_widget import Canvas
from workbench.ui.images.images_panel import ImagesPanel
from workbench.ui.shortcuts import key_text


class ToolCommands(CommandGroup):
    def commands(self, context: CommandContext) -> list[Command]:
        canvas, session, editor = context.canvas, context.session, context.session.editor
        outline_keys = {"close": key_text("close_outline"), "cancel": key_text("cancel")}
        tools = (
            ("brush", self.tr("&Brush"), self.tr("Brush: paint the current class; hold Ctrl to erase")),
            ("eraser", self.tr("&Eraser"), self.tr("Eraser: remove labels")),
            (
                "dont_care",
                self.tr("&Ignore brush"),
                self.tr("Ignore brush: paint areas to be excluded from training and metrics"),
            ),
            (
                "background",
                self.tr("Back&ground brush"),
                self.tr("Background brush: mark the surface as free of defects"),
            ),
            (
                "threshold",
                self.tr("&Threshold brush"),
                self.tr("Threshold brush: drag to paint gray values similar to the start point"),
            ),
            (
                "wand",
                self.tr("Magic &wand"),
                self.tr("Magic wand: click to fill an area of similar gray values; drag to set the tolerance"),
            ),
            (
                "crack",
                self.tr("&Crack tracer"),
                self.tr("Crack tracer: click both ends of a thin line to trace it at its actual width"),
            ),
            (
                "smart_edge",
                self.tr("&Magnetic lasso"),
                self.tr("Magnetic lasso: click along the outline, it snaps to edges; {close} closes it").format(
                    close=outline_keys["close"]
                ),
            ),
            (
                "box_cut",
                self.tr("Box &segmentation"),
                self.tr("Box segmentation: drag a box around a defect to segment it"),
            ),
            (
                "polygon",
                self.tr("&Polygon"),
                self.tr("Polygon: click the corners; {close} closes it, {cancel} cancels").format(**outline_keys),
            ),
            ("lasso", self.tr("&Lasso"), self.tr("Lasso: drag around an area to fill it")),
            ("rectangle", self.tr("Rec&tangle"), self.tr("Rectangle: drag from corner to corner")),
            (
                "ellipse",
                self.tr("&Ellipse"),
                self.tr("Ellipse: drag its bounding box; hold Shift for a circle"),
            ),
            ("fill", self.tr("&Fill"), self.tr("Fill: assign a connected area to the current class")),
            ("holes", self.tr("Fill &holes"), self.tr("Fill holes: click a region to fill its holes")),
            (
                "region",
                self.tr("&Region"),
                self.tr("Region: click a region to move, delete, grow or reclassify it"),
            ),
        )
        commands = [
            Command(
                name,
                text,
                partial(canvas.choose_tool, name),
                name,
                checked=partial(_is_tool, canvas, name),
                group="tool",
                tip=tip,
            )
            for name, text, tip in tools
        ]
        commands += [
            Command("bigger", self.tr("&Larger brush"), partial(canvas.change_diameter, 1), "bigger"),
            Command("smaller", self.tr("&Smaller brush"), partial(canvas.change_diameter, -1), "smaller"),
            Command("pick", self.tr("&Pick class under pointer"), canvas.pick, "pick", partial(paintable, session)),
            Command(
                "keep",
                self.tr("&Keep other classes"),
                lambda: editor.set_keep_other(not editor.keep_other),
                "keep",
                checked=lambda: editor.keep_other,
                tip=self.tr("Keep other classes: paint over background only"),
            ),
            Command(
                "explicit",
                self.tr("Treat unpainted areas as &unlabeled"),
                partial(_toggle_explicit, session),
                enabled=partial(paintable, session),
                checked=partial(_is_explicit, session),
                tip=self.tr("Train on the painted areas of this image only"),
            ),
        ]
        commands += [
            Command(
                f"class_{n}",
                self.tr("Class {n}").format(n=n),
                partial(_choose_class, session, context.images, n),
                enabled=lambda n=n: _has_class(session, n) or _sets_verdict(session, context.images, n),
            )
            for n in range(1, 10)
        ]
        return commands


def _is_tool(canvas: Canvas, name: str) -> bool:
    return canvas.tool == name


def _class(session: Session, number: int) -> ClassInfo | None:
    classes = session.project.classes if session.project else []
    return next((info for info in classes if info.key == str(number)), None)


def _has_class(session: Session, number: int) -> bool:
    return _class(session, number) is not None


def _sets_verdict(session: Session, images: ImagesPanel, number: int) -> bool:
    """Return whether a number key sets a verdict. It does so only in projects without classes."""
    return session.project is not None and not session.project.classes and images.can_set_verdict(number - 1)


def _choose_class(session: Session, images: ImagesPanel, number: int) -> None:
    info = _class(session, number)
    if _sets_verdict(session, images, number):
        images.set_verdict(number - 1)
    if info is not None:
        session.classes.choose(info.id)


def _is_explicit(session: Session) -> bool:
    return session.note is not None and session.note.explicit_background


def _toggle_explicit(session: Session) -> None:
    session.editor.set_explicit_background(not _is_explicit(session))
