"""Commands of the tools, from the tool registry, and of their options."""

from __future__ import annotations

from functools import partial

from workbench.core.project.project import ClassInfo
from workbench.session.session import Session
from workbench.ui.actions.command_table import Command, CommandContext, CommandGroup, paintable, verdict_name
from workbench.ui.canvas.canvas_widget import Canvas
from workbench.ui.canvas.tools.tool_registry import TOOLS
from workbench.ui.images.images_panel import ImagesPanel


class ToolCommands(CommandGroup):
    def commands(self, context: CommandContext) -> list[Command]:
        canvas, session, editor = context.canvas, context.session, context.session.editor
        commands = [
            Command(
                name,
                spec.translated(spec.title),
                partial(canvas.choose_tool, name),
                name,
                partial(canvas.available, name),
                checked=partial(_is_tool, canvas, name),
                group="tool",
                tip=spec.translated(spec.tip),
            )
            for name, spec in TOOLS.items()
            if spec.title
        ]
        commands += [
            Command("bigger", self.tr("&Larger brush"), partial(canvas.change_diameter, 1), "bigger"),
            Command("smaller", self.tr("&Smaller brush"), partial(canvas.change_diameter, -1), "smaller"),
            Command("pick", self.tr("&Pick class under pointer"), canvas.pick, "pick", partial(paintable, session)),
            Command(
                "edit_outline",
                self.tr("Edit &outline"),
                canvas.edit_outline,
                "polygon",
                lambda: paintable(session) and canvas.region is not None,
                tip=self.tr("Show the corners of the selected region and move them"),
            ),
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
                checked=partial(_is_current, session, n),
                name=partial(_name_of_key, session, n),
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


def _is_current(session: Session, number: int) -> bool:
    """Return whether a number key selected the current class, or the verdict in projects without classes."""
    info = _class(session, number)
    if info is not None:
        return session.editor.class_id == info.id
    name = _name_of_key(session, number)
    return bool(name) and session.note is not None and session.note.verdict == name


def _name_of_key(session: Session, number: int) -> str:
    """Return the class that a number key selects, or the verdict in projects without classes; "" for neither."""
    info = _class(session, number)
    if info is not None:
        return info.name
    return verdict_name(session, number) if session.project is not None and not session.project.classes else ""


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
