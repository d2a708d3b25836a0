"""Recovery of strokes after a crash.

The strokes record the content of each tile before and after. A tile with any of these contents gets the last one. A
tile with any other content was changed by another program since: it is left as it is, and the mask with all strokes is
returned separately, so that neither version is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.core.geometry.drawing import Rect
from workbench.core.project.history import TILE, Content, Patch, StepRecording


@dataclass(frozen=True)
class Recovered:
    """Result of a recovery.

    patches: steps that undo can revert. conflicting: the mask with all strokes if some tiles do not fit, else None.
    """

    patches: tuple[Patch, ...]
    changed: bool
    explicit: bool | None
    conflicting: np.ndarray | None


def apply_records(patches: Sequence[Patch], mask: np.ndarray) -> Recovered:
    """Apply the journaled strokes of one image, oldest first, to its mask as read from the disk."""
    contents: dict[Rect, list[Content]] = {}  # contents of each tile, in the order of the strokes
    complete = True
    for patch in patches:
        for (rect, before), (_, after) in zip(patch.contents(0), patch.contents(1)):
            for tile, old, new in _tiles(rect, before, after):
                known = contents.setdefault(tile, [old])
                if not _equal(known[-1], old):  # a stroke in between is missing
                    complete = False
                    known.append(old)
                known.append(new)
    recording = StepRecording(patches[-1].key, RECOVERED, mask)
    misfits = []
    for tile, known in contents.items():
        view = mask[tile.slices]
        if not any(_equal(view, content) for content in known):
            misfits.append(tile)
        elif not _equal(view, known[-1]):
            recording.touch(tile)
            view[...] = known[-1]
    change = recording.finish()
    if not misfits:
        changes = [patch.explicit for patch in patches if patch.explicit is not None]
        explicit = changes[-1] if changes else None
        steps = tuple(patches) if complete else () if change is None else (change,)
        return Recovered(steps, change is not None, explicit, None)
    conflicting = mask.copy()
    for tile in misfits:
        conflicting[tile.slices] = contents[tile][-1]
    return Recovered(() if change is None else (change,), change is not None, None, conflicting)


RECOVERED = "recover strokes"


def _tiles(rect: Rect, before: Content, after: Content) -> Iterator[tuple[Rect, Content, Content]]:
    if isinstance(before, int) and isinstance(after, int):  # may be a whole row of tiles
        for x in range(rect.x, rect.x + rect.width, TILE):
            yield Rect(x, rect.y, min(TILE, rect.x + rect.width - x), rect.height), before, after
    else:
        yield rect, before, after


def _equal(a: Content, b: Content) -> bool:
    return bool(np.all(np.equal(a, b)))
