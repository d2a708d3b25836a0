"""Commands of the tools and of their options."""

from __future__ import annotations

from functools import partial

from workbench.core.project.project import ClassInfo
from workbench.session.session import Session
from workbench.ui.actions.command_table import Command, CommandContext, CommandGroup, paintable
from workbench.ui.canvas.canvas_widget import Canvas
from workbench.ui.images.images_panel import ImagesPanel


class ToolCommands(CommandGroup):
    def all(self, parts: CommandContext) -> list[Command]:
        canvas, session, editor = parts.canvas, parts.session, parts.session.editor
        tools = (
            ("brush", self.tr("&Brush"), "B", self.tr("Brush: paint the current class; Ctrl-drag erases")),
            ("eraser", self.tr("&Eraser"), "E", self.tr("Eraser: back to unpainted")),
            (
                "dont_care",
                self.tr("&Don't-care brush"),
                "Shift+B",
                self.tr("Don't-care brush: paint where nobody can tell; left out of learning"),
            ),
            (
                "background",
                self.tr("&Background brush"),
                "Shift+E",
                self.tr("Background brush: say that the surface is good here"),
            ),
            (
                "threshold",
                self.tr("&Threshold brush"),
                "T",
                self.tr("Threshold brush: drag; takes only tones like the one first touched"),
            ),
            ("wand", self.tr("Magic &wand"), "W", self.tr("Magic wand: press on a tone, drag for the tolerance")),
            (
                "crack",
                self.tr("&Crack tracer"),
                "C",
                self.tr("Crack tracer: click both ends of a thin line to trace it at its actual width"),
            ),
            (
                "smart_edge",
                self.tr("&Smart edge"),
                "S",
                self.tr("Magnetic lasso: click along the outline, it snaps to edges; Enter closes it"),
            ),
            (
                "box_cut",
                self.tr("Box c&ut"),
                "G",
                self.tr("Box segmentation: drag a box around a defect to segment it"),
            ),
            ("polygon", self.tr("&Polygon"), "P", self.tr("Polygon: click the corners, Enter closes, Esc drops")),
            ("lasso", self.tr("&Lasso"), "O", self.tr("Lasso: drag around it")),
            ("rectangle", self.tr("Rec&tangle"), "R", self.tr("Rectangle: drag from corner to corner")),
            ("ellipse", self.tr("&Ellipse"), "Shift+R", self.tr("Ellipse: drag its box; Shift makes a circle")),
            ("fill", self.tr("&Fill"), "F", self.tr("Fill: give a connected area to the current class")),
            ("holes", self.tr("Fill &holes"), "Shift+F", self.tr("Fill holes: click a region")),
            (
                "region",
                self.tr("&Region"),
                "V",
                self.tr("Region: click one to move, delete, grow or give it to another class"),
            ),
        )
        rows = [
            Command(
                name,
                text,
                partial(canvas.choose_tool, name),
                key,
                name,
                on=partial(_is_tool, canvas, name),
                group="tool",
                tip=tip,
            )
            for name, text, key, tip in tools
        ]
        rows += [
            Command("bigger", self.tr("&Larger brush"), partial(canvas.change_diameter, 1), "]", "bigger"),
            Command("smaller", self.tr("&Smaller brush"), partial(canvas.change_diameter, -1), "[", "smaller"),
            Command(
                "pick",
                self.tr("&Pick the class under the pointer"),
                canvas.pick,
                "I",
                "pick",
                partial(paintable, session),
            ),
            Command(
                "keep",
                self.tr("&Keep other classes"),
                lambda: editor.set_keep_other(not editor.keep_other),
                "X",
                "keep",
                on=lambda: editor.keep_other,
                tip=self.tr("Keep other classes: paint over background only"),
            ),
            Command(
                "explicit",
                self.tr("Treat unpainted areas as &unlabeled"),
                partial(_toggle_explicit, session),
                when=partial(paintable, session),
                on=partial(_is_explicit, session),
                tip=self.tr("Learn from the painted parts of this picture only"),
            ),
        ]
        rows += [
            Command(
                f"class_{n}",
                self.tr("Class {n}").format(n=n),
                partial(_choose_class, session, parts.images, n),
                str(n),
                when=lambda n=n: _has_class(session, n) or _judges(session, parts.images, n),
            )
            for n in range(1, 10)
        ]
        return rows


def _is_tool(canvas: Canvas, name: str) -> bool:
    return canvas.tool == name


def _class(session: Session, number: int) -> ClassInfo | None:
    classes = session.project.classes if session.project else []
    return next((info for info in classes if info.key == str(number)), None)


def _has_class(session: Session, number: int) -> bool:
    return _class(session, number) is not None


def _judges(session: Session, images: ImagesPanel, number: int) -> bool:
    """Return whether a number key sets a verdict. It does so only in projects without classes."""
    return session.project is not None and not session.project.classes and images.can_judge(number - 1)


def _choose_class(session: Session, images: ImagesPanel, number: int) -> None:
    info = _class(session, number)
    if _judges(session, images, number):
        images.judge(number - 1)
    if info is not None:
        session.classes.choose(info.id)


def _is_explicit(session: Session) -> bool:
    return session.note is not None and session.note.explicit_background


def _toggle_explicit(session: Session) -> None:
    session.editor.set_explicit_background(not _is_explicit(session))
