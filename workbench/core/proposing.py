"""Batch creation of suggestions for a project's images. The GUI shows them when an image is opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.core import annotation, pictures
from workbench.core.problems import CannotWrite, Problem, ProposalsBroken, ProposesNothing
from workbench.core.project import Project
from workbench.core.proposal_files import Stored, load_stored, save_stored
from workbench.core.proposals import Proposal, class_table, open_ones, propose
from workbench.inference.ledger import model_fingerprint
from workbench.inference.predictor import Cancelled, Predictor
from workbench.inference.reading import ReadError


@dataclass(frozen=True)
class Looked:
    """Result for one image. kept: an existing result of the same model was reused. why: reason for skipping it."""

    key: str
    proposals: tuple[Proposal, ...] = ()
    milliseconds: float = 0.0
    kept: bool = False
    why: str = ""


@dataclass(frozen=True)
class _Model:
    folder: Path
    fingerprint: str

    @property
    def name(self) -> str:
        return model_name(self.folder)


def model_name(folder: Path) -> str:
    """Return the name of a model in decisions and suggestions: that of its run or export."""
    return folder.parent.name if folder.name == "best" else folder.name


def propose_all(
    project: Project,
    predictor: Predictor,
    folder: Path,
    keys: Sequence[str],
    *,
    on_picture: Callable[[int, Looked], None],
    go_on: bool = False,
    stop: Callable[[], bool] = lambda: False,
    cancelled: Callable[[], bool] = lambda: False,
) -> bool:
    """Predict images and replace their stored suggestions. Labels are not changed.

    folder: of the model. on_picture(number, looked) is called per image; unreadable images are reported and skipped.
    go_on: keep existing results of the same model. stop() is checked between images, cancelled() within one. Return
    True if all images were processed. Raises ProposesNothing, ProjectReadOnly, CannotWrite.
    """
    if predictor.settings.task != "segmentation":
        raise ProposesNothing(name=model_name(folder))
    project.need_write("proposals")
    model = _Model(folder, model_fingerprint(folder))
    for number, key in enumerate(keys, 1):
        if stop():
            return False
        try:
            before = _kept(project, key) if go_on else None
            if before is not None and before[0].fingerprint == model.fingerprint:
                looked = Looked(key, before[1], kept=True)
            else:
                looked = _look(project, predictor, key, model, cancelled)
        except Cancelled:
            return False
        except CannotWrite:
            raise
        except (Problem, ReadError) as problem:
            looked = Looked(key, why=str(problem))
        on_picture(number, looked)
    return True


def _look(
    project: Project, predictor: Predictor, key: str, model: _Model, cancelled: Callable[[], bool]
) -> Looked:  # fmt: skip
    note = annotation.load_note(project, key)
    picture = pictures.read(project.picture_path(key))
    size = (picture.shape[1], picture.shape[0])
    labels = annotation.load_mask(project, key, size)
    result = predictor.predict(picture, cancelled=cancelled)
    assert result.mask is not None
    own = model.folder.resolve().is_relative_to(project.root.resolve())
    table = class_table(project.classes, result.regions, own=own)
    found = propose(result.mask, result.regions, table, model.name).proposals
    left = tuple(open_ones(found, labels, note.decided, painted_only=note.explicit_background))
    save_stored(project, key, left, model=model.name, fingerprint=model.fingerprint, size=size)
    return Looked(key, left, result.milliseconds)


def _kept(project: Project, key: str) -> tuple[Stored, tuple[Proposal, ...]] | None:
    try:
        return load_stored(project, key)
    except ProposalsBroken:
        return None  # the file will be rewritten
