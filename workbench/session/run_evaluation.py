"""Evaluation of a run on its validation or test images, in a worker thread, at any operating point."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import numpy as np
from PySide6.QtCore import QObject, Signal

from workbench.core.messages import Message
from workbench.core.problems import ImageBroken, Problem, RunUnusable
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.run import Run
from workbench.inference.cpu_environment import release_free_memory
from workbench.inference.model_settings import ModelSettings
from workbench.session.image_verdicts import ImageVerdicts
from workbench.session.session import Session
from workbench.session.tasks import Task, TaskRunner, call_at_end
from workbench.session.training.training_control import TrainingControl

if TYPE_CHECKING:
    from workbench.core.evaluation.defect_crops import CropFrame, Cropper
    from workbench.core.evaluation.inference_pass import InferencePass, PassResult
    from workbench.core.evaluation.operating_point import (
        ChosenRule,
        OperatingPoint,
        OperatingPointSweep,
        StoredOperatingPoint,
    )
    from workbench.core.evaluation.split_evaluation import DataLeak, EvaluatedImages, MaskEvaluation
    from workbench.core.evaluation.stored_predictions import StoredPrediction
    from workbench.core.project.project import Project


class CropRequests:
    """Requests for crops of the images of one project. `open` comes first."""

    def __init__(self, parent: QObject) -> None:
        self._tasks = TaskRunner(1, parent)
        self._cropper: Cropper | None = None

    def open(self, project: Project) -> None:
        from workbench.core.evaluation.defect_crops import Cropper

        self._cropper = Cropper(project)

    def request(
        self,
        prediction: StoredPrediction,
        settings: ModelSettings,
        frame: CropFrame,
        on_done: Callable[[np.ndarray | None], None],
    ) -> None:
        """Cut out a part of an image; `on_done` receives uint8 RGB, or None if the image cannot be read.

        settings: with the thresholds of the outlines to draw.
        """
        cropper = self._cropper
        if cropper is None:
            return
        self._tasks.submit(
            lambda _: cropper.crop(prediction, settings, frame),
            on_done,
            lambda _: on_done(None),
            as_problem=lambda error: ImageBroken(path=prediction.key, why=str(error)),
        )

    def cancel(self) -> None:
        """Cancel the crops that are not made yet."""
        self._tasks.cancel()

    def stop(self) -> None:
        self._tasks.stop()


# none: no run is open. nothing: the run has no validation or test images. broken: the evaluation failed. leak: the
# metrics are withheld until the user has acknowledged a leak between the splits, which makes them too good.
Stage = Literal["none", "running", "nothing", "broken", "leak", "ready"]


def _split_counts(data: Dataset) -> dict[str, int]:
    """Return the number of validation and of test images, without empty splits."""
    counts = Counter(item.split for item in data.items)
    return {name: counts[name] for name in ("val", "test") if counts[name]}


def _predict_split(
    inference_pass: InferencePass, project: Project, run: Run, split: str, task: Task
) -> tuple[PassResult, list[DataLeak], Dataset]:
    """Predict the images of a split, in the worker thread. Return results, leaks between the splits and the dataset."""
    from workbench.core.adoption.adopted_run import refresh_dataset
    from workbench.core.evaluation.inference_pass import PassResult
    from workbench.core.evaluation.split_evaluation import find_data_leaks

    data = refresh_dataset(project, run)
    result = inference_pass.over(data.of(split), progress=task.report, cancelled=task.cancelled)
    release_free_memory()
    return (PassResult(), [], data) if result is None else (result, find_data_leaks(project, data, split), data)


class RunEvaluation(QObject):
    """Evaluation of one UNet run at a time. Methods never raise a Problem: they emit `failed`."""

    changed = Signal()  # stage, or the operating point in use
    progressed = Signal(int, int)
    evaluated = Signal(object)  # EvaluatedImages
    sweep_finished = Signal()
    failed = Signal(object)  # Problem
    stored = Signal(object)  # Run: the operating point in use was changed

    def __init__(self, session: Session, training: TrainingControl) -> None:
        super().__init__()
        self.session, self._training = session, training
        self._passes, self._points, self.crops = TaskRunner(1, self), TaskRunner(1, self), CropRequests(self)
        self._agreed: set[tuple[str, str]] = set()  # (run, split) whose leak was acknowledged
        self.verdicts = ImageVerdicts(self)
        self._clear()
        session.label_saved.connect(self._mark_stale)
        session.areas.changed.connect(self._mark_stale)
        training.state_changed.connect(self.changed)
        session.project_closed.connect(self.close)
        call_at_end(self.close)

    def _clear(self) -> None:
        self.stage: Stage = "none"
        self.run: Run | None = None
        self.split = ""
        self.splits: dict[str, int] = {}  # number of images of each non-empty split
        self.settings: ModelSettings | None = None
        self.chosen: StoredOperatingPoint | None = None
        self.point: OperatingPoint | None = None
        self._pass_result: PassResult | None = None
        self.leaks: list[DataLeak] = []
        self._data: Dataset | None = None
        self._pass: InferencePass | None = None
        self.stale = False  # labels or inspection areas were changed since the evaluation
        self.result: EvaluatedImages | None = None
        self.verdicts.clear()
        self.sweep: OperatingPointSweep | None = None
        self.classes: dict[int, tuple[str, str]] = {}  # id to name and color

    # --- run --------------------------------------------------------------------------------------

    def open(self, run: Run, split: str | None = None) -> None:
        """Evaluate `run` on `split`; by default on `test` if it has images, else on `val`."""
        from workbench.core.evaluation import operating_point

        self._leave()
        project = self.session.project
        if project is None:
            return
        self.session.flush()
        try:
            run.need_usable()
            data, self.settings = run.dataset(), operating_point.settings_of(run)
            self.chosen = operating_point.read(run)
        except Problem as problem:
            self.failed.emit(problem)
            return
        if self.settings.task != "segmentation":
            return
        self.run, self._data, self.splits = run, data, _split_counts(data)
        self.classes = {entry.id: (entry.name, entry.color) for entry in self.settings.classes}
        for info in project.classes:
            if info.id in self.classes:
                self.classes[info.id] = (info.name, info.color)
        self.point = operating_point.OperatingPoint.of(self.settings)
        self.crops.open(project)
        if not self.splits and not run.complete:
            self._enter("nothing")
            return
        self.split = split if split in self.splits else "val" if list(self.splits) == ["val"] else "test"
        self.verdicts.open(self.chosen.rule, self.split)
        self._run_pass(project, run)

    def close(self) -> None:
        """Close the run, and wait for the work in progress."""
        self._leave()
        for tasks in (self._passes, self._points, self.crops):
            tasks.stop()
        self.verdicts.stop()
        self.changed.emit()

    def _leave(self) -> None:
        """Cancel the work in progress; its results are ignored."""
        for tasks in (self._passes, self._points, self.crops):
            tasks.cancel()
        self._clear()

    def choose_split(self, split: str) -> None:
        if self.run is not None and split != self.split:
            self.open(self.run, split)

    def refresh(self) -> None:
        """Evaluate again with the present labels, at the same operating point. Predictions are reused."""
        point, choice = self.point, self.verdicts.choice
        if self.run is not None:
            self.open(self.run, self.split)
            self.point = self.point and point
            self.verdicts.set_choice(choice)

    def cancel(self) -> None:
        """Cancel the evaluation; finished predictions are reused by the next one."""
        self._leave()
        self.changed.emit()

    def agree(self) -> None:
        """Acknowledge a leak between the splits and show the metrics."""
        if self.run is not None and self.stage == "leak":
            self._agreed.add((self.run.name, self.split))
            self._enter("ready")
            self._evaluate()

    def _mark_stale(self, key: str = "") -> None:
        predictions = () if self._pass_result is None else self._pass_result.predictions
        self.stale = self.stale or any(key in ("", prediction.key) for prediction in predictions)

    def _run_pass(self, project: Project, run: Run) -> None:
        from workbench.core.evaluation.inference_pass import InferencePass

        assert self.settings is not None
        split = self.split
        self._pass = inference_pass = InferencePass(project, run, self.settings)

        self._enter("running")
        self._passes.submit(
            lambda task: _predict_split(inference_pass, project, run, split, task),
            self._pass_finished,
            self._pass_failed,
            on_progress=self.progressed.emit,
            as_problem=lambda error: RunUnusable(name=run.name, why=Message.of(error)),
        )

    def _pass_failed(self, problem: Problem) -> None:
        self._enter("broken")
        self.failed.emit(problem)

    def _pass_finished(self, result: tuple[PassResult, list[DataLeak], Dataset]) -> None:
        assert self.run is not None
        self._pass_result, self.leaks, self._data = result
        self.splits = _split_counts(self._data)
        if not self.pass_result.predictions:
            self._enter("broken" if self.splits else "nothing")
            return
        leaking = bool(self.leaks) and (self.run.name, self.split) not in self._agreed
        self._enter("leak" if leaking else "ready")
        if not leaking:
            self._evaluate()
        self._sweep()

    def _enter(self, stage: Stage) -> None:
        self.stage = stage
        self.changed.emit()

    # --- operating point --------------------------------------------------------------------------

    def set_point(self, point: OperatingPoint) -> None:
        """Set the operating point; `evaluated` follows, for the last of several quick requests."""
        if point != self.point and self.stage == "ready":
            self.point = point
            self.verdicts.reset()
            self._evaluate()

    def cheapest(self, escape: float, number: int | None = None) -> None:
        """Set the operating point of least cost if a missed defect costs `escape` times a false alarm.

        number: of the only class whose point changes; None for all.
        """
        if self.sweep is not None and self.chosen is not None and self.point is not None:
            start = self.chosen.trained if number is None else self.point
            self.set_point(self.sweep.cheapest(start, escape, number=number))

    def _evaluate(self) -> None:
        point, settings, predictions = self.point, self.settings, self.pass_result.predictions
        assert point is not None and settings is not None

        def work(task: Task) -> EvaluatedImages | None:
            from workbench.core.evaluation.split_evaluation import evaluate_images

            return evaluate_images(predictions, settings, point, task.cancelled)

        def on_done(result: EvaluatedImages | None) -> None:
            if result is not None:
                self.result = result
                self.evaluated.emit(result)
                self.verdicts.evaluate(result.images, same_point=not self.moved)

        self._points.submit(work, on_done, key="evaluate")

    def _sweep(self) -> None:
        from workbench.core.evaluation.split_evaluation import sweep_points

        predictions, inference_pass, settings = self.pass_result.predictions, self._pass, self.settings
        assert settings is not None and inference_pass is not None

        def work(task: Task) -> OperatingPointSweep | None:
            return sweep_points(inference_pass, predictions, settings, task.cancelled)

        def on_done(sweep: OperatingPointSweep | None) -> None:
            if sweep is not None:
                self.sweep = sweep
                self.sweep_finished.emit()

        self._passes.submit(work, on_done)

    @property
    def pass_result(self) -> PassResult:
        """Result of the inference pass; empty before its end."""
        from workbench.core.evaluation.inference_pass import PassResult

        return PassResult() if self._pass_result is None else self._pass_result

    @property
    def evaluation(self) -> MaskEvaluation | None:
        """Evaluation at the present operating point, for a report; None while it is incomplete."""
        if self.run is None or self._data is None or self.settings is None or self.chosen is None:
            return None
        if self.stage != "ready" or self.result is None or self.result.point != self.point or self.sweep is None:
            return None
        if self.verdicts.result is None:
            return None
        from workbench.core.evaluation.split_evaluation import MaskEvaluation

        rule = self.verdicts.chosen.rule if self.verdicts.chosen is not None else None
        results = self.pass_result, self.result, self.sweep, tuple(self.leaks), rule
        return MaskEvaluation(self.run, self._data, self.split, self.settings, self.chosen, *results)

    @property
    def um_per_pixel(self) -> float | None:
        return self.settings.um_per_pixel if self.settings is not None else None

    # --- operating point in use -------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """True if the run is being trained and cannot be changed."""
        return (
            self._training.busy
            and self._training.run is not None
            and self.run is not None
            and (self._training.run.root == self.run.root)
        )

    @property
    def moved(self) -> bool:
        """True if the present operating point differs from the one in use."""
        from workbench.core.evaluation.operating_point import OperatingPoint

        return self.settings is not None and self.point != OperatingPoint.of(self.settings)

    def can_store(self) -> bool:
        changed = self.moved or self.verdicts.moved
        known = self.verdicts.choice is None or self.verdicts.chosen is not None  # else its threshold is being chosen
        return self.stage == "ready" and self.session.writable and not self.busy and changed and known

    def can_restore(self) -> bool:
        """Return True if the present operating point or the one in use differs from the trained one, or has a rule."""
        if self.stage != "ready" or self.chosen is None:
            return False
        differs = self.point != self.chosen.trained or self.verdicts.choice is not None
        return differs or bool(self.chosen.chosen_on) or self.chosen.rule is not None

    def store(self) -> None:
        """Put the present operating point and verdict rule to use in overlay, prediction and export."""
        point, rule = self.point, self.verdicts.chosen
        if self.can_store() and point is not None and self.chosen is not None:
            chosen_on = (self.split,) if self.moved else self.chosen.chosen_on
            self._write(point, chosen_on, rule)

    def restore(self) -> None:
        """Restore the operating point chosen by the training, without a verdict rule."""
        if not self.can_restore() or self.chosen is None:
            return
        stored = bool(self.chosen.chosen_on) or self.chosen.rule is not None
        if stored and self.session.writable and not self.busy:
            self._write(None)
        self.verdicts.set_choice(None)
        if self.chosen is not None:
            self.set_point(self.chosen.trained)

    def _write(
        self, point: OperatingPoint | None, chosen_on: tuple[str, ...] = (), rule: ChosenRule | None = None
    ) -> None:
        """Store an operating point with the run, or restore the trained one if it is None."""
        from workbench.core.evaluation import operating_point

        assert self.run is not None
        try:
            if point is None:
                operating_point.restore(self.run)
            else:
                operating_point.store(self.run, point, chosen_on=chosen_on, rule=rule)
            self.settings, self.chosen = operating_point.settings_of(self.run), operating_point.read(self.run)
        except Problem as problem:
            self.failed.emit(problem)
            return
        self.verdicts.keep(self.chosen.rule)
        self.changed.emit()
        self.stored.emit(self.run)
