"""Commands that move between images and set verdict, status and data split."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtGui import QGuiApplication

from workbench.core.project.annotation import Split, Status
from workbench.session.preferences import Preferences
from workbench.session.session import Session
from workbench.ui.actions.command_table import Command, CommandContext, CommandGroup, verdict_name
from workbench.ui.images.images_panel import ImagesPanel

_MAX_FOLDERS = 5  # opened at once


class ImageCommands(CommandGroup):
    def commands(self, context: CommandContext) -> list[Command]:
        session, images = context.session, context.images

        def listed() -> bool:
            return bool(session.keys)

        def has_note() -> bool:
            return session.note is not None and session.writable

        def changeable() -> bool:
            return bool(images.chosen()) and session.writable if images.browsing else has_note()

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
                "mark_done",
                self.tr("&Mark as done"),
                partial(_set_status, session, images, "done"),
                "done",
                changeable,
                tip=self.tr("Mark the current image, or the selected thumbnails, as done"),
                changes_image=True,
                auto_repeat=False,
            ),
            Command(
                "not_done",
                self.tr("Mark as not d&one"),
                partial(_set_status, session, images, "started"),
                enabled=lambda: changeable() if images.browsing else has_note() and session.note.status == "done",
            ),
            Command(
                "show_file",
                self.tr("Sho&w in folder"),
                lambda: show_in_folder(context, images.chosen()),
                "folder",
                lambda: bool(images.chosen()),
                tip=self.tr("Show the image file in the file browser of the system"),
            ),
            Command(
                "copy_path",
                self.tr("Cop&y path"),
                lambda: copy_paths(context, images.chosen()),
                "copy",
                lambda: bool(images.chosen()),
                tip=self.tr("Copy the path of the current image, or of the selected thumbnails"),
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
                partial(_set_split, session, images, split),
                enabled=changeable,
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
                checked=lambda n=n: session.note is not None and session.note.verdict == verdict_name(session, n) != "",
                name=partial(verdict_name, session, n),
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
                name=partial(verdict_name, session, n),
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


def _set_status(session: Session, images: ImagesPanel, status: Status) -> None:
    if images.browsing:
        session.verdict_steps.set_statuses(images.chosen(), status)
    else:
        session.verdict_steps.set_status(status)


def _set_split(session: Session, images: ImagesPanel, split: Split | None) -> None:
    session.verdict_steps.set_pins(images.chosen(), split)


def show_in_folder(context: CommandContext, keys: Sequence[str]) -> None:
    """Show the folders of images in the system's file browser, each one once."""
    project = context.session.project
    if project is not None:
        for folder in list(dict.fromkeys(project.image_path(key).parent for key in keys))[:_MAX_FOLDERS]:
            context.project.show_path(folder)


def copy_paths(context: CommandContext, keys: Sequence[str]) -> None:
    """Copy the paths of images to the clipboard, one in each line."""
    project = context.session.project
    if project is not None:
        QGuiApplication.clipboard().setText("\n".join(str(project.image_path(key)) for key in keys))


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
