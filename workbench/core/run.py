"""One training on disk: recipe.json · dataset.json · events.jsonl · last/ · best/ · previews/ · log.txt.

`best/` holds what prediction needs (model.json + network.onnx, read by `inference.Predictor.open`) beside the weights
(weights.safetensors). `last/` holds what an exact resume needs. `previews/NAME.STEP.mask.png` and `.scores.png` are
what the run saw in pictures as it learned: at most 12 steps of a picture, and one of all but the last 24 pictures.
`held_out/` holds the labels by which it is judged, as they were when it began; dataset.json says what has joined since.
The trainer is the only writer while it lives; `core.run_lock` sees to that.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from workbench.core import problems
from workbench.core.dataset import Dataset, collect
from workbench.core.events import Evaluated, Event, Failed, Finished, Started, decode
from workbench.core.json_files import load_versioned
from workbench.core.planning import plan
from workbench.core.project import Project
from workbench.core.pruning import smaller
from workbench.core.recipe import Recipe
from workbench.core.storage import check_links, write_json
from workbench.core.twins import twins
from workbench.inference.json_io import read_lines
from workbench.inference.writing import make_folder

FORMAT = 1  # of recipe.json and dataset.json
_NAME = re.compile(r"(?P<when>[0-9]{8}-[0-9]{6})-(?P<model>[^-]+)(-[0-9]+)?")  # the number: of several in a second


class Run:
    """A run folder. Everything is read from the disk, which is the truth."""

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root).absolute()

    # --- what lies where -------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self.root.name

    @property
    def project_root(self) -> Path:
        return self.root.parent.parent

    @property
    def recipe_path(self) -> Path:
        return self.root / "recipe.json"

    @property
    def dataset_path(self) -> Path:
        return self.root / "dataset.json"

    @property
    def events_path(self) -> Path:
        return self.root / "events.jsonl"

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
    def log_path(self) -> Path:
        return self.root / "log.txt"

    @property
    def ranks(self) -> Path:
        """What several processes that learn together have printed and reported, each for itself."""
        return self.root / "ranks"

    def check_links(self) -> None:
        """Check that nothing in the run folder is a link out of the project, since a training writes there.

        Raises LinkLeadsOutside.
        """
        check_links(self.project_root, self.root / "recipe.json")
        for path in self.root.iterdir() if self.root.is_dir() else ():
            if path.is_symlink():
                check_links(self.project_root, Path(os.path.realpath(path)))

    # --- reading ---------------------------------------------------------------------------------

    def recipe(self) -> Recipe:
        return _parse(Recipe, self.recipe_path)

    def dataset(self) -> Dataset:
        return _parse(Dataset, self.dataset_path)

    def events(self) -> Iterator[Event]:
        """All events so far; a torn last line is passed over."""
        try:
            for _, line in read_lines(self.events_path):
                event = decode(line.decode("utf-8", "replace"))
                if event is not None:
                    yield event
        except OSError:
            return

    def ending(self) -> Finished | Failed | None:
        """How the run ended; None while it goes on, or if it was cut off."""
        last: Finished | Failed | None = None
        for event in self.events():
            if isinstance(event, (Finished, Failed)):
                last = event
            elif isinstance(event, Started):
                last = None  # resumed
        return last

    def best_evaluation(self) -> Evaluated | None:
        best = None
        for event in self.events():
            if isinstance(event, Evaluated) and event.best:
                best = event
        return best

    @property
    def usable(self) -> bool:
        """True if `best/` can predict."""
        return (self.best / "model.json").exists() and (self.best / "network.onnx").exists()

    def need_usable(self) -> None:
        if not self.usable:
            ending = self.ending()
            why = ending.why if isinstance(ending, Failed) else "it was stopped before its first checkpoint"
            raise problems.RunUnusable(name=self.name, why=why)

    @property
    def resumable(self) -> bool:
        return (self.last / "state.json").exists()


def draw_up(project: Project, asked: Recipe, dataset: Dataset | None = None) -> tuple[Dataset, Recipe]:
    """What a run would learn from, and by which recipe; nothing is written. dataset: as it was collected before.

    Reads pictures: not for the GUI thread. Raises a Problem where no run can be made.
    """
    earlier = find_run(project.root, asked.start_from) if asked.start_from else None
    if asked.prune:
        asked = smaller(asked, earlier.recipe() if earlier is not None else None)
    if dataset is None:
        dataset = collect(project, asked.model, _learned_by(earlier, project) if earlier is not None else ())
    return dataset, plan(project, dataset, asked, earlier.recipe() if earlier is not None else None)


def _learned_by(earlier: Run, project: Project) -> list[str]:
    """The pictures of a project from which a run has learned, be it one of another project that has them too."""
    learned = [item.key for item in earlier.dataset().of("train")]
    if earlier.project_root == project.root:
        return learned
    try:
        home = Project.open(earlier.project_root, write=False)
    except problems.Problem:  # a run that was moved away from its pictures
        return []
    return twins(project, project.pictures(), home, learned)


def create_run(project: Project, asked: Recipe) -> Run:
    """Collect what is labelled, plan the recipe, and write a new run folder. Reads pictures: not for the GUI thread."""
    project.need_write("a run")
    dataset, recipe = draw_up(project, asked)
    stem = f"{time.strftime('%Y%m%d-%H%M%S')}-{asked.model}"
    for i in range(1, 1000):
        root = project.root / "runs" / (stem if i == 1 else f"{stem}-{i}")
        check_links(project.root, root)
        try:
            make_folder(root.parent)
            root.mkdir()
            break
        except FileExistsError:
            continue
        except OSError as error:
            raise problems.CannotWrite.of(root, error) from error
    run = Run(root)
    write_json(run.dataset_path, dataset.model_dump(mode="json"))
    write_json(run.recipe_path, recipe.model_dump(mode="json"))
    return run


@dataclass(frozen=True)
class RunName:
    """The parts of a run's name, "20261120-101500-unet" or, for a second run in that second, "…-unet-2".

    when: None, and model "", where the folder was renamed.
    """

    when: datetime | None
    model: str

    @classmethod
    def parse(cls, name: str) -> RunName:
        found = _NAME.fullmatch(name)
        if found is not None:
            try:
                return cls(datetime.strptime(found["when"], "%Y%m%d-%H%M%S"), found["model"])
            except ValueError:
                pass
        return cls(None, "")


def list_runs(project_root: Path) -> list[Run]:
    """The runs of a project, oldest first."""
    folder = project_root / "runs"
    if not folder.is_dir():
        return []
    return [Run(path) for path in sorted(folder.iterdir()) if (path / "recipe.json").exists()]


def find_run(project_root: Path, name: str, model: str | None = None) -> Run:
    """RUN of the command line: a name under `runs/`, a path, "last", or "best" (best score on comparable pictures)."""
    runs = [run for run in list_runs(project_root) if model is None or _model(run) == model]
    if name == "last" and runs:
        return runs[-1]
    if name == "best":
        usable = [run for run in runs if run.usable]
        if usable:
            return _best(usable)
    for run in runs:
        if run.name == name:
            return run
    path = Path(name)
    if (path / "recipe.json").exists():
        return Run(path)
    raise problems.UnknownRun(name=name, known=", ".join(run.name for run in runs) or "none")


def _best(runs: list[Run]) -> Run:
    """The best score among runs that share the newest run's held-out pictures; scores of others cannot be compared.

    Runs whose dataset cannot be read are passed over. Raises RunBroken if that is true of all.
    """
    known: list[tuple[Run, tuple[str, str]]] = []
    for run in runs:
        try:
            data = run.dataset()
        except problems.RunBroken:
            if run is runs[-1] and not known:
                raise
            continue
        known.append((run, (data.model, data.held_out_hash)))
    same = [run for run, held_out in known if held_out == known[-1][1]]

    def score(run: Run) -> float:
        evaluation = run.best_evaluation()
        return evaluation.score if evaluation is not None and evaluation.score is not None else -1.0

    return max(same, key=lambda run: (score(run), run.name))


def _model(run: Run) -> str:
    try:
        return run.recipe().model
    except problems.Problem:
        return ""


def _parse(kind, path: Path):
    try:
        return load_versioned(path, kind, FORMAT, problems.RunBroken)
    except FileNotFoundError as error:
        raise problems.RunBroken(path=str(path), why="it does not exist") from error
