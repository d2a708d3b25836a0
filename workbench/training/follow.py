"""Training loop of all processes except rank 0."""

from __future__ import annotations

from collections.abc import Callable

from workbench.training.intake import renew
from workbench.training.prepare import Stage
from workbench.training.ranks import Do


def follow(stage: Stage, *, make_room: Callable[[], None]) -> None:
    """Execute the commands of rank 0 until the end. Raise WorkerFailed."""
    while (told := stage.ranks.hear()).do is not Do.END:
        if told.do is Do.LEARN:
            try:
                stage.learner.step(*stage.loader.take(told.step), told.rate, whole=stage.recipe.batch)
            except MemoryError:
                make_room()
        elif told.do is Do.LOAD:
            stage.load_last()
            stage.ranks.share(stage.learner.net)
        else:  # a label was added; its record in the data set already exists
            stage.dataset.joined = stage.run.dataset().joined[: told.item + 1]
            renew(stage, stage.dataset.joined[told.item].item.key)
