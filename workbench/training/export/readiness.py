"""Usefulness of a model, said before its export takes time: a weak one marks more regions than anyone can inspect."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.core.messages import Message
from workbench.core.problems import Problem
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.inference.model_settings import ModelSettings
from workbench.inference.predictor import Engine
from workbench.training.export.export_images import MOST_PIXELS, ParitySample
from workbench.training.export.parity import measure_regions, predict_regions

_MOST_REGIONS = 1000  # predicted on one image
_TIMES_LABELED = 10  # more than so many times the labeled ones; a texture may have thousands of pores
_IMAGES = 2


def find_weakness(
    project: Project,
    settings: ModelSettings,
    engine: Engine,
    samples: Sequence[ParitySample],
    tick: Callable[[], None],
) -> Message | None:
    """Return why a model is not ready to be exported, None if nothing speaks against it.

    The two largest images of `samples` are predicted, labeled ones first; of a very large one its central part. tick:
    called before each call of the network and each step after it; it may raise to stop.
    """
    if settings.task == "classification":
        return None
    rows = [(_labeled_regions(project, sample, settings), sample) for sample in samples]
    rows.sort(key=lambda row: (row[0] is None, -min(row[1].pixels, MOST_PIXELS)))
    for labeled, sample in rows[:_IMAGES]:
        regions = len(predict_regions(settings, engine, sample.read(), tick))
        if regions > max(_MOST_REGIONS, _TIMES_LABELED * (labeled or 0)):
            return Message("export.too_many_regions", n=f"{regions:,}", name=sample.key)
    return None


def _labeled_regions(project: Project, sample: ParitySample, settings: ModelSettings) -> int | None:
    """Return the number of labeled regions of an image, None without a label."""
    try:
        mask = annotation.load_mask(project, sample.key)
    except Problem:
        return None
    return None if mask is None else len(measure_regions(settings, mask))
