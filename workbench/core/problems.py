"""Errors that are shown to the user, as exceptions with fields.

Each problem has two English sentence patterns: the event (`message`) and the remedy (`advice`). The patterns are also
the message ids: the GUI translates the pattern and then fills in the fields, so `core` needs no translator.
"""

from __future__ import annotations

import errno
from functools import cache
from pathlib import Path

from workbench.core.model_problems import *  # noqa: F403 - they are names of this module
from workbench.core.model_problems import Problem
from workbench.inference.io import file_access


class NotAProject(Problem):
    message = "{path} is not a Defect Workbench project: it has no project.json."
    advice = "Choose another folder, or create a project there."


class ProjectFolderMissing(NotAProject):
    message = "The project folder {path} does not exist."
    advice = "Check the path."


class ForeignProject(NotAProject):
    message = "The folder of {path} is not a Defect Workbench project: this file is that of another program."
    advice = "Choose another folder, or create a project elsewhere and import this folder."


class InboxBroken(Problem):
    message = "{path} cannot be taken into the project: {why}."
    advice = "Delete it, or copy the folder from the line again."


class InboxUnknown(Problem):
    message = "The prediction of {path} has a class or verdict that the project does not have."
    advice = "Add it to the project, or take the image as suggestions."


class ProjectExists(Problem):
    message = "{path} already holds a project."
    advice = "Open it, or choose an empty folder."


class ProjectBroken(Problem):
    message = "{path} cannot be read: {why}."
    advice = "Nothing was changed. Restore the file from a backup or repair it."


class ProjectHeld(ProjectBroken):
    advice = "Close it in the program that has it open, then try again."


class ProjectTooNew(Problem):
    message = (
        "{path} was written by a newer version of Defect Workbench "
        "(format {found}; this version supports up to {known})."
    )
    advice = "Update Defect Workbench to open it. Nothing was changed."


class UntrustedPlaces(Problem):
    message = "{path} reads images from outside of its folder: {places}. Nothing was read from there."
    advice = "If you trust it, open it in the window and allow this, or add --trust-sources to the command."


class ProjectLocked(Problem):
    message = (
        "This project is already open for writing in another window or on another computer (process {pid} on {host})."
    )
    advice = "Close it there, or open it here read-only."


class CopyOrMoved(Problem):
    message = "The project in {path} was open in {other} before: {why}."
    advice = "Choose whether this folder is a copy or was moved, as commands do with --as copy or --as moved."


class ProjectMoved(Problem):
    message = "The project in {path} was moved: it was open in {other} before."


class KeysSeparated(Problem):
    message = "Images in {path} had the names of images in the image folder {name}."
    advice = "Their folder is now {new}."


class LabelsAmbiguous(Problem):
    message = "Labels of {n} {n:image|images} in {other} may now belong to the image folder {name}: {images}."
    advice = "Check the labels of these images in both folders."


class AnotherProject(Problem):
    message = "{path} is not the project that was open here: it holds “{name}”."
    advice = "Choose the folder to which the open project was moved."


class ProjectChangedElsewhere(Problem):
    message = "project.json was changed by another program, and here as well: {fields}."
    advice = "The values that were set here are kept; the other version is stored as {kept}."


class RemovedElsewhere(Problem):
    message = "Another program removed from project.json: {names}."
    advice = "The version before that is stored as {kept}."


class ProjectReadOnly(Problem):
    message = "The project is open read-only, so {what} cannot be saved."
    advice = "Close the project in the other window, then open it again."


class FolderReadOnly(ProjectReadOnly):
    message = "The project is open read-only, because {path} could not be written: {why}."
    advice = "Make the folder writable or free some space, then open the project again."


class UnsavedLabels(Problem):
    message = "Labels of {count} {count:image|images} could not be saved, so the project stays open."
    advice = "Free some space or make the folder writable, then save again."


class FolderMissing(Problem):
    message = "The folder {path} does not exist."
    advice = "Check the path."


class CannotWrite(Problem):
    message = "{path} could not be written: {why}."
    advice = "Free some space or make the folder writable."

    @classmethod
    def of(cls, path: Path | str, error: OSError) -> CannotWrite:
        """Return the problem for a system `error` raised while `path` was written, with the advice that fits it."""
        kind = _WRITE_ERRORS.get(error.errno or 0, cls) if cls is CannotWrite else cls
        if cls is CannotWrite and isinstance(error, file_access.UnfitPath):
            kind = NameRefused
        return kind(path=str(path), why=file_access.reason(error))


class WriteFolderMissing(CannotWrite):
    advice = "Its folder was moved, renamed or disconnected. Move it back or connect the drive, then try again."


class NameTooLong(CannotWrite):
    advice = "Shorten the name of the image or folder: with the added suffix, it is longer than the drive allows."


class NameRefused(CannotWrite):
    advice = "Nothing was written. Choose another name."


class NotPermitted(CannotWrite):
    advice = "Make it writable, or close it in the program that has it open, then try again."


class UnsuitableDrive(CannotWrite):
    advice = "The drive does not support this kind of access. Use a folder on another drive. Nothing was changed."


_WRITE_ERRORS: dict[int, type[CannotWrite]] = {
    errno.ENOENT: WriteFolderMissing,
    errno.ENOTDIR: WriteFolderMissing,
    errno.ENAMETOOLONG: NameTooLong,
    **dict.fromkeys((errno.EACCES, errno.EPERM), NotPermitted),
    **dict.fromkeys((errno.EINVAL, errno.EILSEQ, errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP), UnsuitableDrive),
}


class SavedLater(CannotWrite):
    """Failed save of the GUI, which retries automatically."""

    advice = "Your changes are kept in memory and saving is retried. Free up disk space or make the folder writable."


class ProjectGone(CannotWrite):
    message = "The project folder {path} is not available: {why}."
    advice = "Nothing is written in its place. Connect the drive again or move the folder back, then try again."


class ProjectTaken(CannotWrite):
    message = (
        "The lock of the project {path} was removed, and it is open for writing elsewhere (process {pid} on {host})."
    )
    advice = "It is read-only here. Close it there, then open it again."


class LinkOutsideFolder(CannotWrite):
    message = "Nothing was written to {path}: a symbolic link there leads out of the project folder."
    advice = "Replace the link by a folder, then try again."


class NotInProject(Problem):
    message = "The project has no image, image folder or removed images named {name}."
    advice = "Check the name."


class NotPacked(Problem):
    message = "{path} is not a packed project: {why}."
    advice = "Choose a .zip file that was made by packing a project."


class SourceMismatch(Problem):
    message = "None of the images of {name} is in {path}."
    advice = "Choose the folder that contains these images at the same paths."


class ImageBroken(Problem):
    message = "The image {path} cannot be read: {why}."
    advice = "The image is skipped."


class FolderUnreadable(Problem):
    message = "The folder {path} cannot be listed: {why}."
    advice = "Its images are left out until it can be read."


class NameNotText(Problem):
    message = "The name of the image {name} is not valid UTF-8."
    advice = "Rename the image to use it here."


class SampleWrongSize(Problem):
    message = (
        "The reference image {path} is {sample_width} × {sample_height} pixels, but this image is {width} × {height}."
    )
    advice = "Choose a reference image of the same size."


class MaskBroken(Problem):
    message = "The mask {path} cannot be read: {why}."
    advice = "The file is not overwritten. Repair or delete it to label this image again."


class MaskHeld(MaskBroken):
    advice = "The file is not changed. Make it readable, or close it in the program that has it open."


class LabelHeld(Problem):
    message = "{path} cannot be read: {why}."
    advice = "Close it in that program, then start the training again. Without this image it would be another training."


class MaskWrongSize(Problem):
    message = "The mask {path} is {mask_width} × {mask_height} pixels, but its image is {width} × {height}."
    advice = "The mask is not changed and not used. Resize it to the size of its image."


class MaskUnknownClass(Problem):
    message = "The mask {path} contains class IDs that are not defined in this project: {ids}."
    advice = "Add these classes, or import the mask again with the right mapping."


class RunLabelChanged(Problem):
    message = "The label {path}, which the run has kept for its metrics, was changed or deleted by another program."
    advice = "It is used neither for metrics nor for the choice of the best weights."


class LabelsNotCopied(Problem):
    message = "The labels of {source} cannot be copied: {why}."
    advice = "Nothing was changed."


class NoteBroken(Problem):
    message = "The note {path} cannot be read: {why}."
    advice = "The file is not changed. Repair or delete it."


class NoteHeld(NoteBroken):
    advice = "Close it in the program that has it open, then try again."


def unreadable(broken: type[Problem], path: Path, error: BaseException | None, why: str = "") -> Problem:
    """Return the problem of a file that cannot be opened. It is not called broken if the system refuses the access.

    broken: ProjectBroken, NoteBroken or another problem with `path` and `why`. why: by default from an OSError.
    """
    held = {ProjectBroken: ProjectHeld, NoteBroken: NoteHeld}
    kind = held.get(broken, broken) if isinstance(error, PermissionError) else broken
    return kind(path=str(path), why=file_access.reason(error) if error is not None and not why else why)


class NoteTooNew(NoteBroken):
    message = (
        "The note {path} was written by a newer version of Defect Workbench "
        "(format {found}; this version supports up to {known})."
    )
    advice = "The file is not changed, and the labels of this image cannot be edited. Update Defect Workbench."


class OriginalKept(Problem):
    message = "The mask {path} could not be restored: {why}."
    advice = "The mask stays as it is now. Its content before the change of classes is stored as {kept}."


class LabelsChangedElsewhere(Problem):
    message = "{path} was changed by another program while it was open here."
    advice = (
        "Your changes are kept. The other version is stored as {kept}. Of each file, only the latest versions are "
        "stored."
    )


class StepsLost(Problem):
    message = "The mask of {name} was changed by another program since it was open here."
    advice = "Your earlier steps on it can no longer be undone or redone. The label is shown as it is now."


class StrokesDoNotFit(Problem):
    message = "{path} was changed by another program before your last strokes could be saved."
    advice = "Strokes that no longer fit were not applied. A mask with all your strokes was saved as {kept}."


class NoteDoesNotFit(Problem):
    message = "{path} was changed by another program before the changes of the last session could be saved."
    advice = "Values that both changed are not overwritten. The note with all your changes is stored as {kept}."


class StrokesUnreadable(Problem):
    message = (
        "The strokes of the last session in {path} cannot be read: the file is damaged or was written by a newer "
        "version."
    )
    advice = "The file is not changed. Nothing else is affected."


class NoteChangesUnreadable(StrokesUnreadable):
    message = (
        "Changes of notes of the last session in {path} cannot be read: the file is damaged or was written by a newer "
        "version."
    )


class BadGrouping(Problem):
    message = "The grouping pattern {pattern} cannot be used: {why}."
    advice = "Correct the pattern; that of a project is under 'grouping' in project.json. Nested repetitions are slow."


class GaugeUnusable(Problem):
    message = "No part has several images by the rule {repeats}, and there are no verdicts of inspectors."
    advice = "Put the images of each part into a folder, or give a pattern that matches the part in their names."


class InspectorsUnreadable(Problem):
    message = "The inspectors' verdicts in {path} cannot be used: {why}."
    advice = "The first column names parts or images, each other column is headed by the name of an inspector."


class IndexRebuilt(Problem):
    message = "The index of this project was damaged: {why}."
    advice = "The index is rebuilt from the files. Labels and images are not affected."


class NoImages(Problem):
    message = "This project has no images."
    advice = "Copy images into its folder 'pictures', or add an image folder."


class NothingToImport(Problem):
    message = "No labels in {path} could be imported: {why}."
    advice = "Check the folder and the format."


class NoImport(Problem):
    message = "There is no import that can be undone."


class UnknownFormat(Problem):
    message = "{name} is not a supported label format."
    advice = "Choose one of: {known}."


class NoLabels(Problem):
    message = "No image is labeled yet, so there is no training data."
    advice = "Label at least two images and mark them as done (Enter), then train."


class NoVerdicts(Problem):
    message = "There are too few verdicts for training: {found} images with {kinds} different verdicts."
    advice = "Set at least two different verdicts, each on at least two images, then train ResNet."


class LoneVerdict(Problem):
    message = "Only this image has the verdict {verdict}. Training needs at least two images per verdict."
    advice = "Set this verdict on another image, or change the verdict of this image."


class TooFewLabels(Problem):
    message = "Only {found} labeled image found; training needs at least two."
    advice = "Label at least one more image."


class OnlyBackground(Problem):
    message = "All labeled images are good images: none has a labeled defect, from which a UNet learns."
    advice = "Label at least two images with a defect. 'workbench spots' lists the spots that differ most."


class UnknownClass(Problem):
    message = "This project has no class named {name}."
    advice = "Its classes are: {known}."


class BadClass(Problem):
    message = "The class {name} cannot be added: {why}."


class ClassNameTaken(BadClass):
    message = "There is already a class named {name}."
    advice = "Choose another name, or merge the two classes in the Classes panel."


class ClassesChanging(Problem):
    message = "Classes are being changed in all masks. Labels cannot be edited at the moment."
    advice = "Wait until this is finished, or cancel it in the Classes panel."


class LabelsImporting(Problem):
    message = "Labels are being imported. They cannot be edited at the moment."
    advice = "Wait until the import is finished, or cancel it."


class ImplausibleImages(Problem):
    message = "Please check the images: {why}."
    advice = "Correct or remove them before labeling."


class NotAllUsed(Problem):
    message = "Nothing was imported, because {n} of the labels found cannot be used, for example {first}."
    advice = "Correct them, or import without the option strict."


class BadSettings(Problem):
    message = "The setting {key} cannot be {value}: {why}."


class NotEnoughMemory(Problem):
    message = "There is not enough memory for this."
    advice = "Close other programs, or use smaller images."


class UnexpectedError(Problem):
    message = "Unexpected error: {what}."
    advice = "Details are in the log file."


def problem_class(name: str) -> type[Problem] | None:
    """Return the problem class with a name stored in an event file; None if unknown."""
    return _classes().get(name)


def problem_classes() -> list[type[Problem]]:
    """Return all problem classes."""
    return list(_classes().values())


@cache
def _classes() -> dict[str, type[Problem]]:
    found = {name: kind for name, kind in globals().items() if isinstance(kind, type) and issubclass(kind, Problem)}
    return {name: kind for name, kind in found.items() if kind.__name__ == name}
