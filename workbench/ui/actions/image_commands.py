"""Commands that move between images and set verdict, status and split."""

from __future__ import annotations

from functools import partial

from workbench.core.runs.dataset import Split
from workbench.session.session import Session
from workbench.ui.actions.command_table import Command, CommandContext, CommandGroup
from workbench.ui.images.images_panel import ImagesPanel


class ImageCommands(CommandGroup):
    def all(self, parts: CommandContext) -> list[Command]:
        session, images = parts.session, parts.images

        def listed() -> bool:
            return bool(session.keys)

        def judged() -> bool:
            return session.note is not None and session.writable

        rows = [
            Command("next", self.tr("&Next picture"), partial(images.go, 1), "D; PgDown", "next", listed),
            Command("previous", self.tr("&Previous picture"), partial(images.go, -1), "A; PgUp", "previous", listed),
            Command(
                "next_unlabelled",
                self.tr("Next &unlabelled picture"),
                partial(images.go_to, "unlabelled", 1),
                "Ctrl+Shift+D; Ctrl+PgDown",
                "next-unlabelled",
                listed,
                touches_image=True,
            ),
            Command(
                "previous_unlabelled",
                self.tr("Previous un&labelled picture"),
                partial(images.go_to, "unlabelled", -1),
                "Ctrl+PgUp",
                "previous-unlabelled",
                listed,
                touches_image=True,
            ),
            Command(
                "next_open",
                self.tr("Next picture that is no&t done"),
                partial(images.go_to, "open", 1),
                "Ctrl+J",
                when=listed,
                touches_image=True,
            ),
            Command(
                "next_broken",
                self.tr("Next picture that cannot be &read"),
                partial(images.go_to, "broken", 1),
                when=listed,
            ),
            Command(
                "sheet",
                self.tr("Contact s&heet"),
                images.toggle_sheet,
                "Ctrl+G",
                "grid",
                listed,
                on=lambda: images.browsing,
                tip=self.tr("All listed pictures at a glance; judge many at once"),
            ),
            Command(
                "done_next",
                self.tr("Mark as &done and next"),
                partial(_done_and_next, session, images),
                "Return; Enter",
                "done-next",
                judged,
                tip=self.tr("Mark this picture done and go on"),
                repeats=False,
            ),
            Command(
                "not_done",
                self.tr("Mark as not d&one"),
                partial(session.judging.set_status, "started"),
                when=lambda: judged() and session.note.status == "done",
            ),
        ]
        tip = self.tr("Takes effect at the next training. All images of the same part move together.")
        sides: list[tuple[Split | None, str]] = [
            (None, self.tr("&Automatic")),
            ("train", self.tr("&Training set")),
            ("val", self.tr("&Validation set")),
            ("test", self.tr("T&est set")),
        ]
        rows += [
            Command(
                f"use_{side or 'any'}",
                text,
                partial(session.notes.set_pin, side),
                when=judged,
                group="use",
                tip=tip,
                on=lambda side=side: session.note is not None and session.note.pin == side,
            )
            for side, text in sides
        ]
        rows += [
            Command(
                f"verdict_{n}",
                self.tr("Verdict {n}").format(n=n),
                partial(parts.verdict.choose, n - 1),
                f"Alt+{n}",
                when=lambda n=n: judged() and len(parts.verdict.buttons) >= n,
                touches_image=True,
            )
            for n in range(1, 10)
        ]
        rows += [
            Command(
                f"verdict_next_{n}",
                self.tr("Verdict {n}, then on").format(n=n),
                partial(images.judge, n - 1),
                f"Shift+{n}",
                when=partial(images.can_judge, n - 1),
                repeats=False,
            )
            for n in range(1, 10)
        ]
        return rows


def _done_and_next(session: Session, images: ImagesPanel) -> None:
    session.judging.set_status("done")
    images.go(1)


class PageCommands(CommandGroup):
    def all(self, parts: CommandContext) -> list[Command]:
        pages = parts.pages
        return [
            Command(
                "next_page",
                self.tr("Next page of the &file"),
                partial(pages.go, 1),
                "Alt+PgDown",
                when=pages.possible,
                tip=self.tr("Labels belong to the first page; the others can be looked at"),
            ),
            Command(
                "previous_page",
                self.tr("Previous pa&ge of the file"),
                partial(pages.go, -1),
                "Alt+PgUp",
                when=pages.possible,
            ),
        ]
