"""The part of all processes but the first in a training of several."""

from __future__ import annotations

from collections.abc import Callable

from workbench.training.intake import renew
from workbench.training.prepare import Stage
from workbench.training.ranks import Do


def follow(stage: Stage, *, make_room: Callable[[], None]) -> None:
    """Do what rank 0 tells until the end, and nothing of one's own accord. Raises WorkerFailed."""
    while (told := stage.ranks.hear()).do is not Do.END:
        if told.do is Do.LEARN:
            try:
                stage.learner.step(*stage.loader.take(told.step), told.rate, whole=stage.recipe.batch)
            except MemoryError:
                make_room()
        elif told.do is Do.LOAD:
            stage.load_last()
            stage.ranks.share(stage.learner.net)
        else:  # a label has entered: the record of it is there already
            stage.dataset.joined = stage.run.dataset().joined[: told.item + 1]
            renew(stage, stage.dataset.joined[told.item].item.key)
