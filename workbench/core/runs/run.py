"""Training run on disk: recipe.json · dataset.json · events.jsonl · last/ · best/ · previews/ · log.txt.

`reasons.json` holds ids and fields of the reasons in recipe.json, which are English texts there.
`best/` holds the files for prediction (model.json and network.onnx, read by `inference.Predictor.open`) and the weights
(weights.safetensors). `last/` holds the state for an exact resume. `previews/NAME.STEP.mask.png` and `.scores.png` are
predictions made during training: at most 12 steps per image, and one for all but the latest 24 images. `held_out/`
holds copies of the masks for evaluation as they were at the start of the run, whose hashes are in dataset.json, which
also lists later additions. The trainer is the only writer while it runs, which `core.runs.launch` enforces.
`adopted.json` marks a network that was trained elsewhere, see `core.adoption`: there is nothing but `best/` without
weights, dataset.json and one event. `good.json` holds the check of a network of good images, without weights either.

Name of a run folder: the time of its start, the model, and a number for runs within one second. Here is also the choice
of the run that is used by default, and the summary of a run's events that it is based on.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Protocol, TypeVar

from workbench.core import problems
from workbench.core.json_files import load_json, load_versioned
from workbench.core.messages import Message, messages_to_json, restore_messages
from workbench.core.project.grouping import find_duplicates
from workbench.core.project.project import Project, read_project_file
from workbench.core.project.storage import check_links, write_json
from workbench.core.runs.dataset import Dataset, collect, keep_labels
from workbench.core.runs.events import Evaluated, Event, Failed, Finished, Started, Step, decode, line_start
from workbench.core.runs.good_images import CLASS, anomaly_class, collect_good, plan_good
from workbench.core.runs.launch import check_gpu_build, check_several_gpus, divide_batch
from workbench.core.runs.network_stats import prune_settings
from workbench.core.runs.planner import plan
from workbench.core.runs.training_settings import TrainingSettings
from workbench.core.text_patterns import numbered_names
from workbench.inference.io.file_access import make_folder
from workbench.inference.io.json_io import read_lines

_EARLY = 0.2  # share of the planned training below which a run that was not completed counts as interrupted


@dataclass
class EventSummary:
    """Summary of a run's events.

    score: best metric, None if there is none. ended: "done" | "stopped" | "failed"; "" while the run is active or after
    a crash. metrics: of the best evaluation on the validation images. tested: of the one on the test images. seconds,
    progress: of the training, None if unknown. expectation: `forecast` and `lighting` of the result, or empty.
    """

    score: float | None = None
    ended: str = ""
    metrics: dict[str, Any] = field(default_factory=dict)
    tested: dict[str, Any] = field(default_factory=dict)
    expectation: dict[str, Any] = field(default_factory=dict)
    seconds: float | None = None
    progress: float | None = None

    def interrupted(self, settings: TrainingSettings) -> bool:
        """Return True if the run was stopped or has failed early, or has just begun: its model has learned little."""
        planned = 60 * (settings.minutes or 0) if settings.epochs is None else 0
        progress = self.seconds / planned if planned and self.seconds is not None else self.progress
        return self.ended != "done" and progress is not None and progress < _EARLY


class ChoosableRun(Protocol):
    """Run that can be chosen. held_out: equal for runs with comparable metrics, "" if the dataset is unreadable."""

    @property
    def model(self) -> str: ...
    @property
    def score(self) -> float | None: ...
    @property
    def held_out(self) -> str: ...
    @property
    def usable(self) -> bool: ...
    @property
    def interrupted(self) -> bool: ...


C = TypeVar("C", bound=ChoosableRun)


def choose_default(runs: Iterable[C]) -> C | None:
    """Return the run to predict, evaluate and export with, of runs listed newest first; None if none is usable.

    It is the best of those with the validation/test images of the newest run: metrics on other images are not
    comparable. Runs that were stopped early are not considered, nor those with an unreadable dataset, if there are
    others: a run stopped after seconds never replaces one that has learned.
    """
    usable = [run for run in runs if run.usable]
    candidates = [run for run in usable if run.held_out and not run.interrupted]
    candidates = candidates or [run for run in usable if not run.interrupted] or usable
    if not candidates or candidates[0].score is None:
        return candidates[0] if candidates else None
    newest = candidates[0]
    comparable = [run for run in candidates if (run.model, run.held_out) == (newest.model, newest.held_out)]
    return max(comparable, key=lambda run: -1.0 if run.score is None else run.score)  # the first, newest of equal ones


def summarize_events(path: Path) -> EventSummary:
    """Return the summary of a run's events.jsonl. Fast: of the steps, only the last one is decoded."""
    summary = EventSummary()
    for event in _read_summary_events(path):
        if isinstance(event, Evaluated):
            if event.best and event.score is not None:
                summary.score = event.score
            if event.split == "test":
                summary.tested = event.metrics
            elif event.best and event.split == "val":
                summary.metrics = event.metrics
        elif isinstance(event, Started):
            summary.ended, summary.expectation = "", {}
        elif isinstance(event, Finished):
            summary.ended, summary.seconds = event.why, event.time
            summary.metrics = event.result.get("metrics") or summary.metrics
            summary.expectation = {name: event.result.get(name) for name in ("forecast", "lighting")}
        elif isinstance(event, Failed):
            summary.ended = "failed"
        elif isinstance(event, Step):
            summary.progress, summary.seconds = event.progress, max(summary.seconds or 0.0, event.time)
    return summary


def _read_summary_events(path: Path) -> Iterator[Event]:
    """Yield the events of a summary; of the steps, only the last one, at the end."""
    kinds = tuple(line_start(kind) for kind in (Started, Evaluated, Finished, Failed))
    step_start, last_step = line_start(Step), b""
    try:
        for _, line in read_lines(path):
            if line.startswith(step_start):
                last_step = line
            elif line.startswith(kinds):
                event = decode(line.decode("utf-8", "replace"))
                if event is not None:
                    yield event
    except OSError:
        return
    step = decode(last_step.decode("utf-8", "replace"))
    if step is not None:
        yield step


_NAME = re.compile(r"(?P<when>[0-9]{8}-[0-9]{6})-(?P<model>[^-]+)(-[0-9]+)?")


@dataclass(frozen=True)
class RunName:
    """Parts of a run name: "20261120-101500-unet", or "…-unet-2" for a second run in the same second.

    when, model: None and "" if the folder was renamed.
    """

    when: datetime | None
    model: str

    @classmethod
    def parse(cls, name: str) -> RunName:
        match = _NAME.fullmatch(name)
        if match is not None:
            try:
                return cls(datetime.strptime(match["when"], "%Y%m%d-%H%M%S"), match["model"])
            except ValueError:
                pass
        return cls(None, "")


FORMAT = 1  # of recipe.json and dataset.json
IN_USE = "in-use"  # name of `find_run` for the model in use


class Run:
    """Run folder. All properties are read from disk."""

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root).absolute()

    def __repr__(self) -> str:
        return f"Run({str(self.root)!r})"

    @property
    def name(self) -> str:
        return self.root.name

    @property
    def project_root(self) -> Path:
        return self.root.parent.parent

    @property
    def settings_path(self) -> Path:
        return self.root / "recipe.json"

    @property
    def reasons_path(self) -> Path:
        return self.root / "reasons.json"

    @property
    def dataset_path(self) -> Path:
        return self.root / "dataset.json"

    @property
    def events_path(self) -> Path:
        return self.root / "events.jsonl"

    @property
    def adopted_path(self) -> Path:
        return self.root / "adopted.json"

    @property
    def good_path(self) -> Path:
        return self.root / "good.json"

    @property
    def last(self) -> Path:
        return self.root / "last"

    @property
    def best(self) -> Path:
        return self.root / "best"

    @property
    def previews(self) -> Path:
        return self.root / "previews"

    @property
    def held_out(self) -> Path:
        return self.root / "held_out"

    @property
    def log_path(self) -> Path:
        return self.root / "log.txt"

    @property
    def ranks(self) -> Path:
        """Output and events of each process in multi-process training."""
        return self.root / "ranks"

    def check_links(self) -> None:
        """Check that no link in the run folder, to which training writes, leads out of the project.

        Raises LinkOutsideFolder.
        """
        check_links(self.project_root, self.root / "recipe.json")
        for path in self.root.iterdir() if self.root.is_dir() else ():
            if path.is_symlink():
                check_links(self.project_root, Path(os.path.realpath(path)))

    def settings(self) -> TrainingSettings:
        settings = _parse(TrainingSettings, self.settings_path)
        with suppress(FileNotFoundError, problems.RunBroken):  # reasons are then recognized by their wording
            raw = load_json(self.reasons_path, problems.RunBroken)
            settings.reasons.update(restore_messages(settings.reasons, raw))
        return settings

    def dataset(self) -> Dataset:
        return _parse(Dataset, self.dataset_path)

    def events(self, *kinds: type[Event]) -> Iterator[Event]:
        """Yield the events so far. An incomplete last line is skipped.

        kinds: only events of these kinds, all by default. Others are not decoded: a long run has a million steps.
        """
        starts = tuple(line_start(kind) for kind in kinds)
        try:
            for _, line in read_lines(self.events_path):
                if starts and not line.startswith(starts):
                    continue
                event = decode(line.decode("utf-8", "replace"))
                if isinstance(event, kinds or Event):
                    yield event
        except OSError:
            return

    def ending(self) -> Finished | Failed | None:
        """Return the final event, or None while the run is active or after a crash."""
        last: Finished | Failed | None = None
        for event in self.events(Started, Finished, Failed):
            last = event if isinstance(event, (Finished, Failed)) else None  # None: resumed
        return last

    def best_evaluation(self) -> Evaluated | None:
        evaluations = [event for event in self.events(Evaluated) if isinstance(event, Evaluated) and event.best]
        return evaluations[-1] if evaluations else None

    @property
    def usable(self) -> bool:
        """True if `best/` can be used for prediction."""
        return (self.best / "model.json").exists() and (self.best / "network.onnx").exists()

    def need_usable(self) -> None:
        if not self.usable:
            ending = self.ending()
            why = ending.why if isinstance(ending, Failed) else Message("run.no_checkpoint")
            raise problems.RunUnusable(name=self.name, why=why)

    @property
    def adopted(self) -> bool:
        """True if the network was added from a file: it predicts, and is not trained further."""
        return self.adopted_path.exists()

    @property
    def complete(self) -> bool:
        """True if the network is not trained further: it was added from a file, or fitted to good images."""
        return self.adopted or self.good_path.exists()

    @property
    def resumable(self) -> bool:
        return (self.last / "state.json").exists()


def plan_run(
    project: Project, request: TrainingSettings, dataset: Dataset | None = None
) -> tuple[Dataset, TrainingSettings]:
    """Return the dataset and training settings of a run without writing. dataset: one collected before.

    Reads images: not for the GUI thread. Raises a Problem if no run is possible.
    """
    check_several_gpus(request.device)
    request = divide_batch(request)
    earlier = find_run(project.root, request.start_from) if request.start_from else None
    if earlier is not None and earlier.complete:
        raise problems.RunComplete(name=earlier.name, what=Message("adopt.not_trained_further"))
    model = request.model
    if model == "good":
        dataset = collect_good(project) if dataset is None else dataset
        return dataset, plan_good(project, dataset, request)
    if request.prune:
        request = prune_settings(request, earlier.settings() if earlier is not None else None)
    if dataset is None:
        dataset = collect(project, model, _training_keys(earlier, project) if earlier is not None else ())
    return dataset, plan(project, dataset, request, earlier.settings() if earlier is not None else None)


def _training_keys(earlier: Run, project: Project) -> list[str]:
    """Return the images of `project` that `earlier` was trained on, also if it belongs to another project."""
    keys = [item.key for item in earlier.dataset().of("train")]
    if earlier.project_root == project.root:
        return keys
    try:
        home = Project.open(earlier.project_root, write=False)
    except problems.Problem:  # run without access to its images
        return []
    return find_duplicates(project, project.images(), home, keys)


def create_run(project: Project, request: TrainingSettings) -> Run:
    """Collect labels, plan the training settings, write a new run folder. Reads images: not for the GUI thread."""
    project.need_write(Message("what.run"))
    check_gpu_build(request.device)
    if request.model == "good" and anomaly_class(project) not in project.classes:
        project.add_class(CLASS)
    dataset, settings = plan_run(project, request)
    run = new_run_folder(project, request.model)
    keep_labels(project, dataset, run.held_out)
    write_json(run.dataset_path, dataset.model_dump(mode="json"))
    write_settings(run, settings)
    return run


def new_run_folder(project: Project, model: str) -> Run:
    """Create an empty run folder with the present time in its name. Raises CannotWrite, LinkOutsideFolder."""
    for name in numbered_names(f"{_time_of_new_run(project.root)}-{model}"):
        root = project.root / "runs" / name
        check_links(project.root, root)
        try:
            make_folder(root.parent)
            root.mkdir()
            return Run(root)
        except FileExistsError:
            continue
        except OSError as error:
            raise problems.CannotWrite.of(root, error) from error
    raise AssertionError("numbered names never end")


def _time_of_new_run(project_root: Path) -> str:
    """Return the present time, or one second after the newest run if the clock was set back: runs stay in order."""
    form = "%Y%m%d-%H%M%S"
    now = time.strftime(form)
    newest = max((run.name[:15] for run in list_runs(project_root) if re.match(r"\d{8}-\d{6}", run.name)), default=now)
    if newest > now:
        with suppress(ValueError):  # no date
            return (datetime.strptime(newest, form) + timedelta(seconds=1)).strftime(form)
    return now


def write_settings(run: Run, settings: TrainingSettings) -> None:
    """Write recipe.json, and reasons.json before it, because a folder with a recipe.json is a run."""
    write_json(run.reasons_path, messages_to_json(settings.reasons))
    write_json(run.settings_path, settings.model_dump(mode="json"))


def list_runs(project_root: Path) -> list[Run]:
    """Return the runs of a project, oldest first."""
    folder = project_root / "runs"
    if not folder.is_dir():
        return []
    return [Run(path) for path in sorted(folder.iterdir()) if (path / "recipe.json").exists()]


def find_run(project_root: Path, name: str, model: str | None = None) -> Run:
    """Return the run for RUN of the command line: a name under `runs/`, a path, "last", "best" or "in-use".

    "best" is the run that is used by default, see `default_run`; "in-use" is that of `run_in_use`.
    """
    runs = [run for run in list_runs(project_root) if model is None or _model(run) == model]
    if name == "last" and runs:
        return runs[-1]
    if name in ("best", IN_USE):
        found = default_run(project_root, model) if name == "best" else run_in_use(project_root, model)
        if found is not None:
            return found
    for run in runs:
        if run.name == name:
            return run
    path = Path(name)
    if (path / "recipe.json").exists():
        return Run(path)
    raise problems.UnknownRun(name=name, known=", ".join(run.name for run in runs) or "none")


def named_run(run: Run | Path | str, project_root: Path | None) -> Run:
    """Return a run given as itself, as its folder or its project's, or with `project_root` as a name for `find_run`."""
    if isinstance(run, Run):
        return run
    if project_root is not None:
        return find_run(project_root.absolute(), str(run))
    path = Path(run).absolute()
    in_project = (path / "project.json").exists()
    return find_run(path, IN_USE) if in_project else find_run(path.parent.parent, str(path))


def run_in_use(project_root: Path, model: str | None = None) -> Run | None:
    """Return the run that the user has chosen in the project, else the default one; None if no run is usable.

    model: only runs of this kind of model.
    """
    return chosen_run(project_root, model) or default_run(project_root, model)


def chosen_run(project_root: Path, model: str | None = None) -> Run | None:
    """Return the run that the user has chosen, if it exists and can be used. model: only of this kind of model."""
    name = read_project_file(project_root).model_in_use
    runs = (run for run in list_runs(project_root) if run.name == name and run.usable)
    return next((run for run in runs if model is None or _model(run) == model), None)


def default_run(project_root: Path, model: str | None = None, *, but: str = "") -> Run | None:
    """Return the run to predict, evaluate and export with, see `choose_default`; None if no run is usable.

    model: only runs of this kind of model. but: name of a run that is left out.
    """
    candidates = (_Candidate.of(run) for run in reversed(list_runs(project_root)) if run.name != but)
    chosen = choose_default(candidate for candidate in candidates if model in (None, candidate.model))
    return None if chosen is None else chosen.run


@dataclass(frozen=True)
class _Candidate:
    """Run with the facts of `run.ChoosableRun`."""

    run: Run
    model: str
    usable: bool
    score: float | None = None
    held_out: str = ""
    interrupted: bool = False

    @classmethod
    def of(cls, run: Run) -> _Candidate:
        events = summarize_events(run.events_path)
        try:
            settings, held_out = run.settings(), run.dataset().held_out_hash
        except problems.Problem:
            return cls(run, RunName.parse(run.name).model, run.usable, events.score)
        return cls(run, settings.model, run.usable, events.score, held_out, events.interrupted(settings))


def _model(run: Run) -> str:
    try:
        return run.settings().model
    except problems.Problem:
        return ""


def _parse(kind, path: Path):
    try:
        return load_versioned(path, kind, FORMAT, problems.RunBroken)
    except FileNotFoundError as error:
        raise problems.RunBroken(path=str(path), why=Message("file.missing")) from error
