"""The table of commands: what each is called, does, looks like, when it is possible."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, Signal

from workbench.core.project import ClassInfo
from workbench.session.comparing import Comparison
from workbench.session.displays import DisplayShelf
from workbench.session.keeping_open import KeepingOpen
from workbench.session.pages import Pages
from workbench.session.session import Session
from workbench.ui.advice import Advice
from workbench.ui.appearance import Appearance
from workbench.ui.canvas.canvas import Canvas
from workbench.ui.canvas.regions import RegionWalk
from workbench.ui.commands import Commands
from workbench.ui.dialogs.scale import ask_scale
from workbench.ui.overlay import Overlay
from workbench.ui.panels.display import DisplayPanel
from workbench.ui.panels.history import HistoryPanel
from workbench.ui.panels.layers import LayersPanel
from workbench.ui.panels.pictures import PicturesPanel
from workbench.ui.panels.training import TrainingPanel
from workbench.ui.panels.verdict import VerdictPanel
from workbench.ui.proposing import Proposing
from workbench.ui.recipes import Recipes
from workbench.ui.review.opening import Opening


@dataclass(frozen=True)
class Row:
    """One command. `keys`: shortcuts, "; " between them. `when`: is it possible. `on`: is it switched on."""

    id: str
    text: str
    call: Callable[[], object]
    keys: str = ""
    icon: str = ""
    when: Callable[[], bool] | None = None
    on: Callable[[], bool] | None = None
    group: str = ""  # of several in a group one is on
    tip: str = ""


@dataclass
class Parts:
    """What the commands act upon."""

    session: Session
    canvas: Canvas
    pictures: PicturesPanel
    verdict: VerdictPanel
    layers: LayersPanel
    training: TrainingPanel
    commands: Commands
    appearance: Appearance
    overlay: Overlay
    walk: RegionWalk
    display: DisplayPanel
    comparison: Comparison
    displays: DisplayShelf
    history: HistoryPanel
    proposing: Proposing
    advice: Advice
    review: Opening
    recipes: Recipes
    kept: KeepingOpen
    pages: Pages


class Rows(QObject):
    """Makes the rows for some parts."""

    keys_wanted = Signal()

    def all(self, parts: Parts) -> list[Row]:
        return [
            *self._project_rows(parts), *self._edit_rows(parts), *self._tool_rows(parts), *self._picture_rows(parts),
            *self._view_rows(parts), *self._looking_rows(parts), *self._training_rows(parts), *self._help_rows(parts),
        ]  # fmt: skip

    def _project_rows(self, parts: Parts) -> list[Row]:
        commands, session = parts.commands, parts.session

        def is_open() -> bool:
            return session.project is not None

        def writable() -> bool:
            return session.writable

        return [
            Row("new_project", self.tr("&New project…"), commands.new_project, "Ctrl+N", "new"),
            Row("open_project", self.tr("&Open project…"), commands.open_project, "Ctrl+O", "open"),
            Row("make_sample", self.tr("Make the &sample project"), commands.make_sample, icon="sample"),
            Row("add_pictures", self.tr("Add &pictures…"), commands.add_pictures, "Ctrl+I", "picture-add", writable),
            Row(
                "add_folder",
                self.tr("Add a &folder of pictures…"),
                commands.add_folder,
                "Ctrl+Shift+I",
                "folder",
                writable,
            ),
            Row("reload", self.tr("&Look for new pictures"), session.refresh_pictures, "F5", "refresh", is_open),
            Row("show_folder", self.tr("Show the project's folde&r"), commands.show_folder, when=is_open),
            Row("close_project", self.tr("&Close project"), commands.close_project, "Ctrl+W", "close-project", is_open),
            Row("quit", self.tr("&Quit"), commands.quit, "Ctrl+Q", "quit"),
        ]

    def _edit_rows(self, parts: Parts) -> list[Row]:
        session = parts.session
        return [
            Row("undo", self.tr("&Undo"), session.undo, "Ctrl+Z", "undo", session.can_undo),
            Row("redo", self.tr("&Redo"), session.redo, "Ctrl+Shift+Z; Ctrl+Y", "redo", session.can_redo),
            Row("history", self.tr("&History"), parts.history.reveal, "Ctrl+H", when=lambda: session.key is not None,
                tip=self.tr("The steps made on this picture; each can be gone back to")),
            Row("copy_previous", self.tr("Copy the &labels of the previous picture"), session.copy_previous_labels,
                "Ctrl+P", "copy", partial(_paintable, session)),
            Row("find", self.tr("&Search pictures"), parts.pictures.find, "Ctrl+K", "search",
                lambda: bool(session.keys)),
            Row("save", self.tr("&Save now"), parts.commands.save, "Ctrl+S", when=lambda: session.writable,
                tip=self.tr("Everything is saved by itself within a second; this saves at once")),
        ]  # fmt: skip

    def _tool_rows(self, parts: Parts) -> list[Row]:
        canvas, session, editor = parts.canvas, parts.session, parts.session.editor
        tools = (
            ("brush", self.tr("&Brush"), "B", self.tr("Brush: paint the current class; Ctrl-drag erases")),
            ("eraser", self.tr("&Eraser"), "E", self.tr("Eraser: back to unpainted")),
            ("dont_care", self.tr("&Don't-care brush"), "Shift+B",
                self.tr("Don't-care brush: paint where nobody can tell; left out of learning")),
            ("background", self.tr("&Background brush"), "Shift+E",
                self.tr("Background brush: say that the surface is good here")),
            ("threshold", self.tr("&Threshold brush"), "T",
                self.tr("Threshold brush: drag; takes only tones like the one first touched")),
            ("wand", self.tr("Magic &wand"), "W",
                self.tr("Magic wand: press on a tone, drag for the tolerance")),
            ("crack", self.tr("&Crack tracer"), "C",
                self.tr("Crack tracer: click two ends of a thin line; it is painted as wide as it is")),
            ("smart_edge", self.tr("&Smart edge"), "S",
                self.tr("Smart edge: click around it, the outline snaps to edges; Enter closes")),
            ("box_cut", self.tr("Box c&ut"), "G", self.tr("Box cut: drag a box, what stands out in it is taken")),
            ("polygon", self.tr("&Polygon"), "P", self.tr("Polygon: click the corners, Enter closes, Esc drops")),
            ("lasso", self.tr("&Lasso"), "O", self.tr("Lasso: drag around it")),
            ("rectangle", self.tr("Rec&tangle"), "R", self.tr("Rectangle: drag from corner to corner")),
            ("ellipse", self.tr("&Ellipse"), "Shift+R", self.tr("Ellipse: drag its box; Shift makes a circle")),
            ("fill", self.tr("&Fill"), "F", self.tr("Fill: give a connected area to the current class")),
            ("holes", self.tr("Fill &holes"), "Shift+F", self.tr("Fill holes: click a region")),
            ("region", self.tr("&Region"), "V",
                self.tr("Region: click one to move, delete, grow or give it to another class")),
        )  # fmt: skip
        rows = [
            Row(name, text, partial(canvas.choose_tool, name), key, name,
                on=partial(_is_tool, canvas, name), group="tool", tip=tip)
            for name, text, key, tip in tools
        ]  # fmt: skip
        rows += [
            Row("bigger", self.tr("&Larger brush"), partial(canvas.change_diameter, 1), "]", "bigger"),
            Row("smaller", self.tr("&Smaller brush"), partial(canvas.change_diameter, -1), "[", "smaller"),
            Row("pick", self.tr("&Pick the class under the pointer"), canvas.pick, "I", "pick",
                partial(_paintable, session)),
            Row("keep", self.tr("&Keep other classes"), lambda: editor.set_keep_other(not editor.keep_other), "X",
                "keep", on=lambda: editor.keep_other, tip=self.tr("Keep other classes: paint over background only")),
            Row("explicit", self.tr("What is unpainted is &not labelled"), partial(_toggle_explicit, session),
                when=partial(_paintable, session), on=partial(_is_explicit, session),
                tip=self.tr("Learn from the painted parts of this picture only")),
        ]  # fmt: skip
        rows += [
            Row(f"class_{n}", self.tr("Class {n}").format(n=n), partial(_choose_class, session, parts.pictures, n),
                str(n), when=lambda n=n: _has_class(session, n) or _judges(session, parts.pictures, n))
            for n in range(1, 10)
        ]  # fmt: skip
        return rows

    def _picture_rows(self, parts: Parts) -> list[Row]:
        session, pictures = parts.session, parts.pictures

        def listed() -> bool:
            return bool(session.keys)

        def judged() -> bool:
            return session.note is not None and session.writable

        rows = [
            Row("next", self.tr("&Next picture"), partial(pictures.go, 1), "D; PgDown", "next", listed),
            Row("previous", self.tr("&Previous picture"), partial(pictures.go, -1), "A; PgUp", "previous", listed),
            Row("next_unlabelled", self.tr("Next &unlabelled picture"), partial(pictures.go_to, "unlabelled", 1),
                "Ctrl+Shift+D; Ctrl+PgDown", "next-unlabelled", listed),
            Row("previous_unlabelled", self.tr("Previous un&labelled picture"),
                partial(pictures.go_to, "unlabelled", -1), "Ctrl+PgUp", "previous-unlabelled", listed),
            Row("next_open", self.tr("Next picture that is no&t done"), partial(pictures.go_to, "open", 1), "Ctrl+J",
                when=listed),
            Row("next_broken", self.tr("Next picture that cannot be &read"), partial(pictures.go_to, "broken", 1),
                when=listed),
            Row("sheet", self.tr("Contact s&heet"), pictures.toggle_sheet, "Ctrl+G", "grid", listed,
                on=lambda: pictures.browsing, tip=self.tr("All listed pictures at a glance; judge many at once")),
            Row("done_next", self.tr("&Done and next"), partial(_done_and_next, session, pictures), "Return; Enter",
                "done-next", judged, tip=self.tr("Mark this picture done and go on")),
            Row("not_done", self.tr("Mark as not d&one"), partial(session.notes.set_status, "started"),
                when=lambda: judged() and session.note.status == "done"),
        ]  # fmt: skip
        rows += [
            Row(f"verdict_{n}", self.tr("Verdict {n}").format(n=n), partial(parts.verdict.choose, n - 1), f"Alt+{n}",
                when=lambda n=n: judged() and len(parts.verdict.buttons) >= n)
            for n in range(1, 10)
        ]  # fmt: skip
        rows += [
            Row(f"verdict_next_{n}", self.tr("Verdict {n}, then on").format(n=n), partial(pictures.judge, n - 1),
                f"Shift+{n}", when=partial(pictures.can_judge, n - 1))
            for n in range(1, 10)
        ]  # fmt: skip
        return rows

    def _view_rows(self, parts: Parts) -> list[Row]:
        canvas, layers, looks = parts.canvas, parts.layers, parts.appearance

        def shown() -> bool:
            return canvas.picture is not None

        rows = [
            Row("fit", self.tr("&Fit to window"), canvas.fit, "Ctrl+F", "fit", shown),
            Row("actual", self.tr("&100 %"), canvas.actual_size, "Ctrl+0", "actual", shown),
            Row("zoom_in", self.tr("Zoom &in"), partial(canvas.zoom, 1.25), "Ctrl++; Ctrl+=", "zoom-in", shown),
            Row("zoom_out", self.tr("Zoom &out"), partial(canvas.zoom, 0.8), "Ctrl+-", "zoom-out", shown),
            Row("labels", self.tr("Show &labels"), layers.toggle_labels, "H", "layers",
                on=lambda: canvas.label_style.visible,
                tip=self.tr("Show labels; hold Tab to hide everything for a moment")),
            Row("predictions", self.tr("Show &predictions"), layers.toggle_predictions, "Shift+H", "predict",
                on=lambda: canvas.prediction_style.visible),
            Row("panel_pictures", self.tr("Pi&ctures panel"), partial(looks.toggle_panel, "pictures"), "F2",
                "panel-left", on=partial(looks.panel_shown, "pictures")),
            Row("panel_side", self.tr("Cl&asses and layers panel"), partial(looks.toggle_panel, "side"), "F3",
                "panel-right", on=partial(looks.panel_shown, "side")),
            Row("panel_training", self.tr("&Training panel"), parts.training.fold, "F4", "panel-bottom",
                on=parts.training.heading.isChecked),
            Row("next_panel", self.tr("&Next panel"), partial(looks.focus_panel, 1), "F6"),
            Row("previous_panel", self.tr("Pre&vious panel"), partial(looks.focus_panel, -1), "Shift+F6"),
            Row("full_screen", self.tr("F&ull screen"), looks.toggle_full_screen, "F11", on=looks.is_full_screen),
        ]  # fmt: skip
        for name, text in (
            ("system", self.tr("As the &system")),
            ("dark", self.tr("&Dark")),
            ("light", self.tr("&Light")),
        ):
            rows.append(Row(f"theme_{name}", text, partial(looks.set_theme, name), group="theme",
                            on=partial(looks.is_theme, name)))  # fmt: skip
        for name, text in (("system", self.tr("As the system")), ("en", "English"), ("zh_CN", "简体中文")):
            rows.append(Row(f"language_{name}", text, partial(looks.set_language, name), group="language",
                            on=partial(looks.is_language, name)))  # fmt: skip
        return rows

    def _looking_rows(self, parts: Parts) -> list[Row]:
        canvas, walk, display, comparison = parts.canvas, parts.walk, parts.display, parts.comparison

        def shown() -> bool:
            return canvas.picture is not None

        return [
            Row("next_region", self.tr("Next re&gion"), partial(walk.go, 1), "N", when=walk.possible,
                tip=self.tr("To the next labelled or predicted region, always at the same scale")),
            Row("previous_region", self.tr("Previous regi&on"), partial(walk.go, -1), "Shift+N", when=walk.possible),
            Row("ruler", self.tr("&Measure"), partial(_toggle_ruler, canvas), "M", "ruler", shown,
                lambda: canvas.ruler.on, tip=self.tr("Measure: drag a line, read its length")),
            Row("scale", self.tr("Set the scale…"), partial(ask_scale, canvas, canvas.ruler, parts.displays),
                when=lambda: parts.session.writable, tip=self.tr("How many micrometres a pixel shows")),
            Row("minimap", self.tr("O&verview"), partial(_toggle_minimap, canvas), on=lambda: canvas.minimap.enabled,
                tip=self.tr("The whole picture in a corner while only a part is in sight")),
            Row("difference", self.tr("Show the &difference to the good sample"), parts.layers.toggle_difference,
                "Ctrl+D", when=comparison.possible, on=lambda: comparison.on),
            Row("good_sample", self.tr("Use as the good sa&mple"), comparison.choose, when=shown,
                tip=self.tr("The open picture is a good one: show how others differ from it")),
            Row("invert", self.tr("In&vert"), display.toggle_invert, "Shift+I", when=shown,
                on=lambda: canvas.display.invert),
            Row("stretch", self.tr("Stretch &brightness"), display.stretch, when=shown,
                tip=self.tr("From the darkest to the brightest values that occur")),
            Row("reset_display", self.tr("&Reset display"), display.set_automatic, when=shown),
        ]  # fmt: skip

    def _training_rows(self, parts: Parts) -> list[Row]:
        training, overlay = parts.training, parts.overlay
        return [
            Row("train", self.tr("&Train or stop"), training.toggle, "Ctrl+T", "train", training.can_train),
            Row("predict", self.tr("&Predict this picture"), overlay.predict, "Ctrl+R", "predict", overlay.possible,
                tip=self.tr("Show what the newest model sees on this picture")),
            Row("predict_folder", self.tr("Predict a &folder…"), parts.commands.predict_folder, icon="folder",
                tip=self.tr("Masks, overlays and tables for many pictures")),
            Row("export", self.tr("&Export for the line"), training.export, "Ctrl+E", "export", training.can_export,
                tip=self.tr("Make a folder that gives the same results without the workbench")),
            Row("export_choices", self.tr("Export with &choices…"), training.choose_export, "Ctrl+Shift+E",
                when=training.can_choose_export,
                tip=self.tr("Choose formats, where a defect begins, and how quick it must be")),
        ]  # fmt: skip

    def _help_rows(self, parts: Parts) -> list[Row]:
        commands = parts.commands
        return [
            Row("keys", self.tr("&Keys"), self.keys_wanted.emit, "F1", "keyboard"),
            Row("about", self.tr("&About Defect Workbench"), commands.show_about, icon="info"),
        ]


def _toggle_ruler(canvas: Canvas) -> None:
    canvas.ruler.switch(not canvas.ruler.on)


def _toggle_minimap(canvas: Canvas) -> None:
    canvas.minimap.enabled = not canvas.minimap.enabled
    canvas.update()


def _done_and_next(session: Session, pictures: PicturesPanel) -> None:
    session.notes.set_status("done")
    pictures.go(1)


def _paintable(session: Session) -> bool:
    return session.mask is not None and session.writable


def _is_tool(canvas: Canvas, name: str) -> bool:
    return canvas.tool == name


def _class(session: Session, number: int) -> ClassInfo | None:
    classes = session.project.classes if session.project else []
    return next((info for info in classes if info.key == str(number)), None)


def _has_class(session: Session, number: int) -> bool:
    return _class(session, number) is not None


def _judges(session: Session, pictures: PicturesPanel, number: int) -> bool:
    """Where there is nothing to paint with, the plain numbers are verdicts."""
    return session.project is not None and not session.project.classes and pictures.can_judge(number - 1)


def _choose_class(session: Session, pictures: PicturesPanel, number: int) -> None:
    info = _class(session, number)
    if _judges(session, pictures, number):
        pictures.judge(number - 1)
    if info is not None:
        session.classes.choose(info.id)


def _is_explicit(session: Session) -> bool:
    return session.note is not None and session.note.explicit_background


def _toggle_explicit(session: Session) -> None:
    session.editor.set_explicit_background(not _is_explicit(session))
