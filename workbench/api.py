"""Python interface for other programs: projects, labels, training, evaluation, exports, prediction.

`API_VERSION` covers the names in `__all__`, their parameters, and what their docstrings describe; other modules of the
package may change in any version. A project is given as its folder or as the result of `open`. Functions that write
to a project fail while it is open in a window. Errors that a user can correct are raised as `Problem`, whose text is
one or two sentences. This module imports neither Qt nor Paddle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from workbench.core import project_check
from workbench.core.documents.comparison_report import compare_evaluations
from workbench.core.evaluation import run_measurement
from workbench.core.evaluation.evaluation_comparison import EvaluationComparison
from workbench.core.evaluation.figures import Figure
from workbench.core.evaluation.run_measurement import RunMeasurement as Evaluation, measure
from workbench.core.evaluation.split_evaluation import evaluate_like
from workbench.core.evaluation.verdict_rules import BUDGET, RuleEvaluation
from workbench.core.images import image_files
from workbench.core.label_next.label_advice import LabelNextList, rank_images
from workbench.core.label_next.spot_detection import Spot, project_spots
from workbench.core.problems import Problem
from workbench.core.project import exporting, file_transaction, import_journal, importing
from workbench.core.project.exporting import LabelExportReport
from workbench.core.project.formats.label_export import LabelExportOptions
from workbench.core.project.image_row import read_rows
from workbench.core.project.import_account import ImportReport, ImportRequest
from workbench.core.project.import_journal import WrittenLabel as Label
from workbench.core.project.project import Project
from workbench.core.project_check import Finding
from workbench.core.project_statistics import ProjectStatistics, project_statistics
from workbench.core.runs.events import Event
from workbench.core.runs.export_options import ExportOptions
from workbench.core.runs.model_lookup import LoadedModel, UnusableArray, as_problems, load_model
from workbench.core.runs.run import Run, list_runs, named_run, run_in_use
from workbench.core.runs.samples import IGNORED, LabeledProject, MapDataset, Sample
from workbench.core.runs.training_process import export_run, new_run, requested_settings, run_training
from workbench.inference.predictor import Prediction

# fmt: off
__all__ = [
    "API_VERSION", "IGNORED", "Evaluation", "EvaluationComparison", "Event", "Figure", "Finding", "ImportReport",
    "Label", "LabelExportReport", "LabelNextList", "LabeledProject", "LoadedModel", "MapDataset", "Prediction",
    "Problem", "ProjectStatistics", "RuleEvaluation", "Run", "Sample", "Spot", "UnusableArray", "add_images", "check",
    "choose_rule", "compare", "create", "evaluate", "export_labels", "export_model", "import_labels", "label_next",
    "load", "open", "runs", "spots", "statistics", "train", "undo", "write_labels",
]
# fmt: on

API_VERSION = (1, 1)  # raised by: (incompatible changes, additions)

ProjectPath = Path | str | LabeledProject
RunName = Run | Path | str  # a run, its folder, its project for the model in use, or with `project` a name
Progress = Callable[[int, int], None]  # called with the number of images done and in total
OnEvent = Callable[[Event], bool | None]  # called with each event of a child process; False stops it


def create(folder: Path | str, *, images: Path | str | None = None, **choices: Any) -> LabeledProject:
    """Create a project. images: folder of images, which are used where they are. choices: classes, verdicts, name.

    Raises ProjectExists, FolderMissing, CannotWrite.
    """
    Project.create(folder, images=images, **choices).close()
    return LabeledProject(folder)


def open(project: Path | str, *, run: Run | Path | str | None = None) -> LabeledProject:
    """Open a project for reading. run: a run, its name or path, "last" or "best": the samples have its data split."""
    return LabeledProject(project, run)


def add_images(project: ProjectPath, images: Path | str | Iterable[Path | str]) -> list[str]:
    """Add images and return their keys. images: a folder, whose images are used where they are, or files to copy.

    Raises FolderMissing, ImageBroken, CannotWrite, ProjectLocked; files are checked before the first is copied.
    """
    with _written(project) as opened:
        before = set(opened.images())
        if isinstance(images, (Path, str)):
            opened.add_source(images)
        else:
            paths = [Path(path) for path in images]
            for path in paths:
                image_files.image_size(path)
            for path in paths:
                opened.copy_image(path, path.name)
        return [key for key in opened.images() if key not in before]


def write_labels(project: ProjectPath, labels: Mapping[str, Label]) -> int:
    """Write labels by key of the image, all or none; the window and `undo` undo them as one step.

    Return the number of changed images. Raises NotInProject, MaskWrongSize, MaskUnknownClass, BadSettings.
    """
    with _written(project) as opened:
        return import_journal.write_labels(opened, labels)


def undo(project: ProjectPath) -> int | None:
    """Undo the last `write_labels`, import, merge or change of classes: the number of restored images, None if none."""
    with _written(project) as opened:
        undone = file_transaction.undo_last(opened, _silent)
    return None if undone is None else undone[1].images


def import_labels(
    project: ProjectPath, source: Path | str, *, progress: Progress | None = None, **choices: Any
) -> ImportReport:
    """Import a folder, label file or zip archive of any supported format, as `workbench import` does.

    choices: format ("auto"), conflicts ("keep", "replace", "merge"), boxes ("box", "ellipse", "cut"), classes and
    verdicts (name in the labels -> name in the project, None to ignore it), class_name, threshold, copy, split. Raises
    ProjectLocked, FolderMissing, UnknownFormat, NothingToImport.
    """
    request = ImportRequest(**choices)
    with _written(project) as opened:
        return importing.import_labels(opened, source, request, progress=progress)


def export_labels(
    project: ProjectPath, target: Path | str, format: str, *, progress: Progress | None = None, **choices: Any
) -> LabelExportReport:
    """Write the labels to `target`, a new or empty folder, as `workbench labels` does.

    format: such as "coco". choices: images, shapes ("polygon", "mask"), split, contiguous. For a project opened with a
    run, the data split is that of the run. Raises UnknownFormat, ExportExists, NoLabels, CannotWrite.
    """
    items = project.items if isinstance(project, LabeledProject) and project.run is not None else None
    splits = None if items is None else {key: item.split for key, item in items.items()}
    read, options = _read(project), LabelExportOptions(**choices)
    return exporting.export_labels(read, target, format=format, options=options, splits=splits, progress=progress)


def check(project: ProjectPath, *, progress: Progress | None = None) -> list[Finding]:
    """Return what `workbench check` finds: possible label errors, data leakage, damaged files."""
    return project_check.check(_read(project), progress)


def statistics(project: ProjectPath, *, progress: Progress | None = None) -> ProjectStatistics:
    """Count images, verdicts, classes and regions, and measure region sizes in pixels."""
    return project_statistics(_read(project), progress)


def label_next(
    project: ProjectPath, *, count: int = 20, run: RunName | None = None, progress: Progress | None = None
) -> LabelNextList:
    """Rank the unlabeled images: entries have key and reasons. run: instead of the model in use, if there is one."""
    opened = _read(project)
    model = run_in_use(opened.root) if run is None else _run(run, project)
    with as_problems(opened.root):
        return rank_images(opened, read_rows(opened), model, count=count, progress=progress)


def spots(project: ProjectPath, keys: Sequence[str] | None = None, *, count: int = 5) -> dict[str, tuple[Spot, ...]]:
    """Return the spots that differ most from the rest of their image, by key; all images by default.

    A model of good images finds them if the project has one. Raises NotInProject, ImageBroken.
    """
    opened = _read(project)
    with as_problems(opened.root):
        return project_spots(opened, keys, count=count)


def train(
    project: ProjectPath,
    model: str = "unet",
    *,
    minutes: float | None = None,
    on_event: OnEvent | None = None,
    **settings: Any,
) -> Run:
    """Train in a child process, as `workbench train` does, and return the run once it has ended.

    model: "unet", "resnet" or "good". settings: training settings such as epochs, device, batch, start_from; others are
    planned. on_event: called with each event, of which `kind` is "started", "step", "evaluated", "trouble" or another;
    if it returns False, or on Ctrl+C, the training stops and its best model remains; an exception kills it. The run has
    name, root, events() and best_evaluation() or None. Raises ProjectLocked, BadSettings, PaddleMissing and others.
    """
    root, choices = _folder(project), settings if minutes is None else {**settings, "minutes": minutes}
    choices = {name: value.root if isinstance(value, Run) else value for name, value in choices.items()}
    run = new_run(root, requested_settings(root, model, choices))
    run_training(run, on_event=on_event or (lambda event: None), on_stop=lambda: None)
    return run


def runs(project: ProjectPath) -> list[Run]:
    """Return the runs of a project, oldest first."""
    return list_runs(_read(project).root)


def evaluate(
    run: RunName, *, project: ProjectPath | None = None, split: str | None = None, progress: Progress | None = None
) -> Evaluation:
    """Measure a run on the images that it was not trained on, with their present labels.

    split: "val", "test", "val+test", or "all" with the training images; by default test images if there are any.
    Raises UnknownRun, RunUnusable, BadSettings.
    """
    return Evaluation.of(measure(_run(run, project), split, progress))


def compare(
    first: RunName,
    second: RunName,
    *,
    project: ProjectPath | None = None,
    split: str | None = None,
    progress: Progress | None = None,
) -> EvaluationComparison:
    """Compare two runs on the images of a split that neither was trained on; split: as of `evaluate`, of the first.

    Each entry of metrics has figures (one per run), difference, edges of its 95% interval and outcome, which is
    "better", "worse", "equal", "unclear" or "unknown" of the second run. Raises UnknownRun, RunUnusable.
    """
    shown, other = measure(_run(first, project), split, progress), _run(second, project)
    with as_problems(other.root):
        same = evaluate_like(_read(shown.run.project_root), other, shown, progress=progress or _silent)
    assert same is not None  # it cannot be canceled
    return compare_evaluations(shown, same)


def choose_rule(
    run: RunName,
    by: str = "budget",
    value: float = BUDGET,
    *,
    limits: Mapping[str, Any] | None = None,
    verdicts: tuple[str, str] = ("OK", "NG"),
    store: bool = False,
    project: ProjectPath | None = None,
) -> RuleEvaluation:
    """Choose and measure the rule by which a UNet run, or one of good images, rejects images.

    by, value: "budget", "cost", "mass" or "region", as of `RuleChoice`. limits: class name or "any" -> `RegionLimit`
    without its class, such as {"most": 3, "length_below": 10.0, "outcome": "rework"}, or a list. verdicts: good and bad
    names. store: use it in predictions and exports. Raises BadSettings, RunUnusable.
    """
    measured = measure(_run(run, project))
    chosen, result = run_measurement.choose_rule(measured, by, value, limits or {}, verdicts)
    if store:
        run_measurement.store_rule(measured, chosen)
    return result


def export_model(
    run: RunName,
    out: Path | str | None = None,
    *,
    project: ProjectPath | None = None,
    on_event: OnEvent | None = None,
    **options: Any,
) -> Path:
    """Export a run as a folder that predicts without Defect Workbench, and return it, as `workbench export` does.

    out: new or empty folder; by default below `exports/`. options: formats (("onnx",)), point, target_ms, seconds,
    language, shape, require_ready. An event "trouble" tells what is wrong with the model. Raises ParityFailed if the
    export does not predict what the run predicts, ExportExists, BadSettings, PaddleMissing.
    """
    found, target = _run(run, project), None if out is None else Path(out)
    events = {"on_event": on_event or (lambda event: None), "on_stop": lambda: None}
    report = export_run(found, ExportOptions(**options), out=target, **events)
    return Path(report["path"])


def load(model: RunName, *, project: ProjectPath | None = None, threads: int | None = None) -> LoadedModel:
    """Load the model of a run or export: the run, a folder, an ONNX file, or with `project` a run by name.

    threads: CPU threads, 0 for all. Raises UnknownModel, UnknownRun, RunUnusable, ExportDamaged, ModelUnusable.
    """
    return load_model(model, None if project is None else _folder(project), threads)


def _folder(project: ProjectPath) -> Path:
    return project.root if isinstance(project, LabeledProject) else Path(project)


def _read(project: ProjectPath) -> Project:
    return Project.open(_folder(project), write=False)


@contextmanager
def _written(project: ProjectPath) -> Iterator[Project]:
    """Context of a project that is open for writing; samples of an open one are listed again at its end."""
    with Project.open(_folder(project)) as opened:
        yield opened
    if isinstance(project, LabeledProject):
        project.refresh()


def _run(run: RunName, project: ProjectPath | None) -> Run:
    return named_run(run, None if project is None else _folder(project))


def _silent(done: int, total: int) -> None:
    pass
