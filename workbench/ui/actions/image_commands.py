"""Commands that move between images and set verdict, status and data split."""

from __future__ import annotations

from functools import partial

from workbench.core.project.annotation import Split
from workbench.session.preferences import Preferences
from workbench.session.session import Session
from workbench.ui.actions.command_table import Command, CommandContext, CommandGroup
from workbench.ui.images.images_panel import ImagesPanel


class ImageCommands(CommandGroup):
    def commands(self, context: CommandContext) -> list[Command]:
        session, images = context.session, context.images

        def listed() -> bool:
            return bool(session.keys)

        def has_note() -> bool:
            return session.note is not None and session.writable

        commands = [
            Command("next", self.tr("&Next image"), partial(images.go, 1), "next", listed),
            Command("previous", self.tr("&Previous image"), partial(images.go, -1), "previous", listed),
            Command(
                "next_unlabelled",
                self.tr("Next &unlabeled image"),
                partial(images.go_to, "unlabeled", 1),
                "next-unlabelled",
                listed,
                changes_image=True,
            ),
            Command(
                "previous_unlabelled",
                self.tr("Previous unla&beled image"),
                partial(images.go_to, "unlabeled", -1),
                "previous-unlabelled",
                listed,
                changes_image=True,
            ),
            Command(
                "next_open",
                self.tr("Next image no&t done"),
                partial(images.go_to, "open", 1),
                enabled=listed,
                changes_image=True,
            ),
            Command(
                "next_broken",
                self.tr("Next un&readable image"),
                partial(images.go_to, "broken", 1),
                enabled=listed,
            ),
            Command(
                "sheet",
                self.tr("T&humbnail view"),
                images.toggle_thumbnails,
                "grid",
                listed,
                lambda: images.browsing,
                tip=self.tr("Show all listed images as thumbnails and set verdicts for several images at once"),
            ),
            Command(
                "done_next",
                self.tr("Mark as &done and next"),
                partial(_done_and_next, session, images, context.preferences),
                "done-next",
                has_note,
                tip=self.tr("Mark the current image as done and open the next image"),
                auto_repeat=False,
            ),
            Command(
                "not_done",
                self.tr("Mark as not d&one"),
                partial(session.verdict_steps.set_status, "started"),
                enabled=lambda: has_note() and session.note.status == "done",
            ),
        ]
        commands.append(
            Command(
                "remove_image",
                self.tr("Remove from pro&ject…"),
                lambda: context.sources.remove_images(images.chosen()),
                enabled=lambda: session.writable and bool(images.chosen()),
                tip=self.tr("Remove the current image, or the selected thumbnails, with their labels"),
            )
        )
        tip = self.tr("Takes effect at the next training. All images of the same part move together.")
        splits: list[tuple[Split | None, str]] = [
            (None, self.tr("&Automatic")),
            ("train", self.tr("&Training set")),
            ("val", self.tr("&Validation set")),
            ("test", self.tr("T&est set")),
        ]
        commands += [
            Command(
                f"use_{split or 'any'}",
                text,
                partial(session.notes.set_pin, split),
                enabled=has_note,
                checked=lambda split=split: session.note is not None and session.note.pin == split,
                group="use",
                tip=tip,
            )
            for split, text in splits
        ]
        commands += [
            Command(
                f"verdict_{n}",
                self.tr("Verdict {n}").format(n=n),
                partial(context.verdict.choose, n - 1),
                enabled=lambda n=n: has_note() and len(context.verdict.buttons) >= n,
                changes_image=True,
            )
            for n in range(1, 10)
        ]
        commands += [
            Command(
                f"verdict_next_{n}",
                self.tr("Verdict {n} and next").format(n=n),
                partial(images.set_verdict, n - 1),
                enabled=partial(images.can_set_verdict, n - 1),
                auto_repeat=False,
            )
            for n in range(1, 10)
        ]
        return commands


def _done_and_next(session: Session, images: ImagesPanel, preferences: Preferences) -> None:
    session.verdict_steps.set_status("done")
    if preferences.after_done == "next":
        images.go(1)
    elif preferences.after_done == "next_open":
        images.go_to("open", 1)


class PageCommands(CommandGroup):
    def commands(self, context: CommandContext) -> list[Command]:
        pages = context.pages
        return [
            Command(
                "next_page",
                self.tr("Next page of &file"),
                partial(pages.go, 1),
                enabled=pages.possible,
                tip=self.tr("Next page of a multi-page file. Labels belong to the first page."),
            ),
            Command(
                "previous_page",
                self.tr("Previous pa&ge of file"),
                partial(pages.go, -1),
                enabled=pages.possible,
            ),
        ]
