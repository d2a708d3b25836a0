"""Base class of the errors that are shown to the user, and those about runs, models, exports and inspection areas.

Other modules use them as names of `problems`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from workbench.core.text_patterns import fill


class Problem(Exception):
    """Base class of errors that the user can understand and fix. `str(problem)` is the English text, no traceback."""

    message = "Something went wrong."
    advice = ""

    def __init__(self, **fields: Any) -> None:
        super().__init__(fields)
        self.fields = fields

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **self.fields), ()  # without it, a process pool cannot return a problem

    def __str__(self) -> str:
        return fill(" ".join(part for part in (self.message, self.advice) if part), **self.fields)

    @property
    def refused(self) -> bool:
        """True if a file could not be opened because another program has it open, or for lack of a permission."""
        cause: BaseException | None = self
        while cause is not None and not isinstance(cause, PermissionError):
            cause = cause.__cause__
        return cause is not None


class UnknownRun(Problem):
    message = "There is no run {name} in this project."
    advice = "Runs are: {known}."


class RunUnusable(Problem):
    message = "The run {name} has no usable model: {why}."
    advice = "Train again, or choose another run."


class RunBroken(Problem):
    message = "The run file {path} cannot be read: {why}."
    advice = "The other runs are not affected."


class RunInUse(Problem):
    message = "The run {name} is being trained by another process ({pid} on {host})."
    advice = "Wait until that process has ended, or stop it, then resume the run again."


class WeightsUnusable(Problem):
    message = "The weights in {path} cannot be used: {why}."
    advice = "Nothing was executed or changed."


class NoDownload(Problem):
    message = "The weights could not be downloaded from {url}: {why}."
    advice = "Check the network connection, save the file as {path}, or choose your own weights file."


class ModelFileRefused(Problem):
    message = "{path} cannot be added as a model: {why}."


class ClickModelRefused(Problem):
    message = "{path} cannot be used for click segmentation: {why}."
    advice = "Choose the two ONNX files in Settings > Click model."


class ClickModelChanged(Problem):
    message = "{path} was changed after it was loaded for click segmentation."
    advice = "Click again to load it as it is now."


class TooManyPoints(Problem):
    message = "The click model takes at most {n} points, and a box counts as two."
    advice = "Press Enter to paint this part, then click the rest."


class RunComplete(Problem):
    message = "The model of the run {name} is a complete network without weights for training, so {what}."


class FewGoodImages(Problem):
    message = (
        "Training on good images needs at least {images} images of {parts} parts that are marked as good; "
        "there are {n} of {m}."
    )
    advice = "Mark images without defects as done, or give them the verdict of good parts."


class PartsDiffer(Problem):
    message = "Parts differ too much for a model of good images: {why}."
    advice = "No model was kept. Label defects and train a UNet."


class DeviceMissing(Problem):
    message = "The device {device} cannot be used: {why}."
    advice = "Run 'workbench doctor' to list the available devices."


class PaddleMissing(Problem):
    message = "PaddlePaddle is not installed, so training is not available."
    advice = "Install it with: {command}"


class WorkerFailed(Problem):
    message = "The {what} process failed: {why}."
    advice = "Details are in {log}."


class ParityFailed(Problem):
    message = "The exported model does not match the trained model ({why}), so the export was rejected."
    advice = "The report is in {report}."


class ModelNotReady(Problem):
    message = "The model is not ready to export: {why}."
    advice = "Label more defects or train longer, or export it anyway."


class ExportExists(Problem):
    message = "{path} already exists."
    advice = "Choose another folder for the export."


class UnknownModel(Problem):
    message = "{path} is neither a run nor an export."
    advice = "Choose a folder under runs/ or exports/ of a project, or a copied export."


class ExportDamaged(Problem):
    message = "This export failed its self-test: {why}"
    advice = "Export it again."


class ModelUnusable(Problem):
    message = "The model in {path} cannot be used: {why}"


class ProposesNothing(Problem):
    message = "{name} predicts verdicts of whole images, so it has no regions to suggest."
    advice = "Use a UNet run, which predicts regions."


class SuggestionsBroken(Problem):
    message = "The suggestions in {path} cannot be read: {why}."
    advice = "Predict the image again, or delete this file. Labels are not affected."


class NothingToPredict(Problem):
    message = "No images to predict in {path}: {why}."


class ResultsTaken(Problem):
    message = "The results cannot be written: {why}"


class ReleaseBroken(Problem):
    message = "The release record of {path} cannot be used: {why}."
    advice = "Choose the folder of an export. Those of earlier versions have no record: export the run again."


class NotReproducible(Problem):
    message = "The training of {path} cannot be repeated, for {n} {n:reason|reasons}, the first: {why}."
    advice = "Restore these files as they were when it was exported."


class ReleaseChanged(Problem):
    message = "{path} is not as it was released: {why}"
    advice = "Do not use it. Export the run again, or copy the export from where it is unchanged."


class NoLineResults(Problem):
    message = "{path} cannot be used as results of a line: {why}."
    advice = "Choose files of --log-jsonl, or folders of results."


class PartNotFound(Problem):
    message = "The inspection area of {path} moves with the part, but its place was not found: {why}."
    advice = "Leave the image out, or use another reference image, larger limits, or an area that does not move."


class PartsNotFound(Problem):
    message = (
        "In {n} of {m} labeled {m:image|images} the place of the inspection area, which moves with the part, was not "
        "found, as in {path}: {why}."
    )
    advice = (
        "Use another reference image, larger limits, or an area that does not move. With --force these images are left "
        "out of training and metrics, and predictions of such images are unsure."
    )


class ZoneInUse(Problem):
    message = "The verdict rule of the run {run} needs another inspection area: {why}."
    advice = "Remove the sentence with the zone from the rule first, or draw the zone in this area too."


class AreaLeavesDefects(Problem):
    message = (
        "{n} labeled {n:defect lies|defects lie} outside of this inspection area, and {m} {m:is|are} cut by its edge, "
        "on {images} {images:image|images}."
    )
    advice = (
        "Enlarge the area. Use it all the same with --force: these labels then count neither in training nor in "
        "metrics."
    )


class AreaUnusable(Problem):
    message = "The inspection area in {path} cannot be used: {why}."
    advice = "Draw it in the window, or correct the file: width, height, and polygons with their points."
