"""Commands of the menu *Image*: moving between images, verdict, status, data split, label errors."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QGuiApplication

from workbench.core.project.annotation import Status
from workbench.core.project.project import DONT_CARE
from workbench.ui.actions.command_table import (
    CHOSEN,
    IMAGE,
    IMAGES,
    PROJECT,
    SEPARATOR,
    WRITABLE,
    Command,
    CommandContext,
    Entry,
    MenuTable,
    Submenu,
    require,
    verdict_name,
)

_MAX_FOLDERS = 5  # opened at once


class ImageMenu(MenuTable):
    name = "image"

    def title(self) -> str:
        return self.tr("&Image")

    def entries(self) -> list[Entry]:
        numbers = range(1, 10)
        return [
            *self._status(),
            SEPARATOR,
            *self._navigation(),
            SEPARATOR,
            *self._label_next(),
            SEPARATOR,
            Submenu("verdicts", self.tr("&Verdict"), [self._verdict(n) for n in numbers]),
            Submenu("verdicts_next", self.tr("Set verdict &and go to next"), [self._verdict_next(n) for n in numbers]),
            Command(
                "add_verdict",
                self.tr("Add verd&ict"),
                lambda c: c.verdict.add(),
                needs=WRITABLE,
                tip=self.tr("Add a verdict: a result for a whole image, such as OK or NG"),
            ),
            self._splits(),
            SEPARATOR,
            Command(
                "show_file",
                self.tr("Sho&w in folder"),
                lambda c: show_in_folder(c, c.images.chosen()),
                icon="folder",
                needs=CHOSEN,
                tip=self.tr("Show the image file in the file browser of the system"),
            ),
            Command(
                "copy_path",
                self.tr("Cop&y path"),
                lambda c: copy_paths(c, c.images.chosen()),
                icon="copy",
                needs=CHOSEN,
                tip=self.tr("Copy the path of the current image, or of the selected thumbnails"),
            ),
            Command(
                "remove_image",
                self.tr("Remove from pro&ject…"),
                lambda c: c.sources.remove_images(c.images.chosen()),
                needs=WRITABLE + CHOSEN,
                tip=self.tr("Remove the current image, or the selected thumbnails, with their labels"),
            ),
        ]

    def _status(self) -> list[Command]:
        return [
            Command(
                "done_next",
                self.tr("Mark as &done and next"),
                _mark_done_and_go,
                icon="done-next",
                keys="Enter; Return",
                needs=WRITABLE + IMAGES + self._noted(),
                tip=self.tr("Mark the current image as done and open the next image"),
                auto_repeat=False,
            ),
            Command(
                "mark_done",
                self.tr("&Mark as done"),
                lambda c: _set_status(c, "done"),
                icon="done",
                keys="Ctrl+Enter; Ctrl+Return",
                needs=WRITABLE + self._changeable(),
                tip=self.tr("Mark the current image, or the selected thumbnails, as done"),
                changes_image=True,
                auto_repeat=False,
            ),
            Command(
                "not_done",
                self.tr("Mark as not d&one"),
                lambda c: _set_status(c, "started"),
                needs=WRITABLE
                + self._changeable()
                + require(
                    lambda c: c.images.browsing or c.session.note.status == "done",
                    self.tr("The image is not marked as done"),
                ),
            ),
            Command(
                "separate",
                self.tr("Separate good and defe&ctive images"),
                lambda c: c.images.separate(),
                icon="grid",
                keys="Ctrl+Shift+G",
                needs=WRITABLE + IMAGES,
                tip=self.tr("Show all images as thumbnails: {good} good, {defective} defective, {skip} next"),
                tip_keys={"good": "good_image", "defective": "defective_image", "skip": "skip_image"},
                changes_image=True,
            ),
            Command(
                "paint_defective",
                self.tr("Paint defective images"),
                lambda c: c.images.paint_defective(),
                icon="brush",
                needs=WRITABLE + IMAGES,
                tip=self.tr("List the images in progress, and open the next one whose defects are not painted"),
                changes_image=True,
            ),
            Command(
                "no_good_images",
                self.tr("T&here are no good images"),
                lambda c: c.workflow.set_no_good_images(not c.workflow.no_good_images),
                needs=WRITABLE,
                checked=lambda c: c.workflow.no_good_images,
                tip=self.tr("Good images are no longer requested; false alarms are then not measured"),
            ),
        ]

    def _noted(self):
        return require(lambda c: c.session.note is not None, self.tr("Open an image first"))

    def _changeable(self):
        """Conditions of commands that change the open image or the selected thumbnails."""
        return IMAGES + require(
            lambda c: c.images.chosen() if c.images.browsing else c.session.note is not None,
            self.tr("Open an image first"),
        )

    def _navigation(self) -> list[Command]:
        one_page = IMAGE + require(lambda c: c.pages.possible(), self.tr("The image file has one page only"))
        return [
            Command(
                "next", self.tr("&Next image"), lambda c: c.images.go(1), icon="next", keys="D; PgDown", needs=IMAGES
            ),
            Command(
                "previous",
                self.tr("&Previous image"),
                lambda c: c.images.go(-1),
                icon="previous",
                keys="A; PgUp",
                needs=IMAGES,
            ),
            Command(
                "next_unlabeled",
                self.tr("Next &unlabeled image"),
                lambda c: c.images.go_to("unlabeled", 1),
                icon="next-unlabeled",
                keys="Ctrl+Shift+D; Ctrl+PgDown",
                needs=IMAGES,
                changes_image=True,
            ),
            Command(
                "previous_unlabeled",
                self.tr("Previous unla&beled image"),
                lambda c: c.images.go_to("unlabeled", -1),
                icon="previous-unlabeled",
                keys="Ctrl+PgUp",
                needs=IMAGES,
                changes_image=True,
            ),
            Command(
                "next_open",
                self.tr("Next image no&t done"),
                lambda c: c.images.go_to("open", 1),
                keys="Ctrl+J",
                needs=IMAGES,
                changes_image=True,
            ),
            Command(
                "next_broken", self.tr("Next un&readable image"), lambda c: c.images.go_to("broken", 1), needs=IMAGES
            ),
            Command(
                "next_page",
                self.tr("Next page of &file"),
                lambda c: c.pages.go(1),
                keys="Alt+PgDown",
                needs=one_page,
                tip=self.tr("Next page of a multi-page file. Labels belong to the first page."),
            ),
            Command(
                "previous_page",
                self.tr("Previous pa&ge of file"),
                lambda c: c.pages.go(-1),
                keys="Alt+PgUp",
                needs=one_page,
            ),
        ]

    def _label_next(self) -> list[Command]:
        no_flag = self.tr("Open the list of possible label errors first")
        answer = WRITABLE + require(lambda c: c.label_next.can_answer(), no_flag)
        return [
            Command(
                "label_next",
                self.tr("&Label next"),
                lambda c: c.label_next.toggle("next"),
                icon="queue",
                keys="Ctrl+L",
                needs=IMAGES,
                checked=lambda c: c.label_next.queue.mode == "next",
                tip=self.tr("Images that would improve the model most, with the reason for each"),
            ),
            Command(
                "label_errors",
                self.tr("Possible label &errors"),
                lambda c: c.label_next.toggle("errors"),
                icon="label-error",
                keys="Ctrl+Shift+L",
                needs=IMAGES + require(lambda c: c.label_next.queue.possible("errors"), self.tr("Train a model first")),
                checked=lambda c: c.label_next.queue.mode == "errors",
                tip=self.tr("Labels that a confident model contradicts, most severe first"),
            ),
            Command(
                "accept_model",
                self.tr("Use model result"),
                lambda c: c.label_next.accept_model(),
                keys="Y",
                needs=answer,
                tip=self.tr("Replace the flagged label with the prediction"),
            ),
            Command(
                "keep_label",
                self.tr("&Keep my label"),
                lambda c: c.label_next.keep_label(),
                keys="K",
                needs=answer,
                tip=self.tr("Keep the flagged label. It will not be flagged again."),
            ),
            Command(
                "next_label_error",
                self.tr("Ne&xt flagged region"),
                lambda c: c.label_next.errors.step(1),
                keys="J",
                needs=PROJECT + require(lambda c: len(c.label_next.errors.issues) > 1, no_flag),
            ),
        ]

    def _verdict(self, n: int) -> Command:
        return Command(
            f"verdict_{n}",
            self.tr("Verdict {n}").format(n=n),
            lambda c: c.verdict.choose(n - 1),
            keys=f"Alt+{n}",
            needs=WRITABLE
            + IMAGES
            + self._noted()
            + require(lambda c: len(c.verdict.buttons) >= n, self.tr("No verdict has this number")),
            checked=lambda c: c.session.note is not None and c.session.note.verdict == verdict_name(c.session, n) != "",
            name=lambda c: verdict_name(c.session, n),
            changes_image=True,
        )

    def _verdict_next(self, n: int) -> Command:
        return Command(
            f"verdict_next_{n}",
            self.tr("Verdict {n} and next").format(n=n),
            lambda c: (c.images.browsing or _image_shown(c)) and c.images.set_verdict(n - 1),
            keys=f"Shift+{n}",
            needs=WRITABLE
            + IMAGES
            + require(lambda c: c.images.can_set_verdict(n - 1), self.tr("No verdict has this number")),
            name=lambda c: verdict_name(c.session, n),
            auto_repeat=False,
        )

    def _splits(self) -> Submenu:
        splits = (
            (None, self.tr("&Automatic")),
            ("train", self.tr("&Training set")),
            ("val", self.tr("&Validation set")),
            ("test", self.tr("T&est set")),
        )
        commands = [
            Command(
                f"split_{split or 'automatic'}",
                text,
                lambda c, split=split: c.session.verdict_steps.set_pins(c.images.chosen(), split),
                needs=WRITABLE + self._changeable(),
                checked=lambda c, split=split: c.session.note is not None and c.session.note.pin == split,
                group="split",
                tip=self.tr("Takes effect at the next training. All images of the same part move together."),
            )
            for split, text in splits
        ]
        return Submenu("split", self.tr("Data &split"), [commands[0], SEPARATOR, *commands[1:]])


def _image_shown(c: CommandContext) -> bool:
    """Return whether the user sees the image; otherwise show that the key was typed before it appeared."""
    if not c.canvas.content.seen:
        c.canvas.refused.emit("not shown")
    return c.canvas.content.seen


def _mark_done_and_go(c: CommandContext) -> None:
    if not _image_shown(c):
        return
    note, mask = c.session.note, c.session.mask
    undecided = note.status == "started" and not note.verdict and mask is not None  # such as one marked as defective
    if undecided and not ((mask > 0) & (mask < DONT_CARE)).any():
        c.canvas.refused.emit("not painted")
        return
    c.session.verdict_steps.set_status("done")
    after = c.preferences.after_done
    if after == "next_open" or (after == "next" and not c.images.go(1)):
        c.images.go_to("open", 1, quiet=True)


def _set_status(c: CommandContext, status: Status) -> None:
    if c.images.browsing:
        c.session.verdict_steps.set_statuses(c.images.chosen(), status)
    else:
        c.session.verdict_steps.set_status(status)


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
