"""Training settings of a run that starts from an earlier UNet reduced to its strongest channels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from workbench.core.problems import BadSettings
from workbench.core.runs.training_settings import TrainingSettings

# Preprocessing and architecture except for the widths. Part of a network only works under the same conditions.
_KEPT = (
    "channels",
    "full_scale",
    "low",
    "high",
    "mean",
    "std",
    "scale",
    "stem",
    "local_contrast",
    "encoder",
    "patch",
    "overlap",
    "quality",
)
_SAME = ("channels", "stem", "local_contrast")  # changing one of these makes the weights incompatible


def smaller(asked: TrainingSettings, earlier: TrainingSettings | None) -> TrainingSettings:
    """Return `asked` with the widths of `earlier` reduced by the share `prune` and the settings that must not change.

    Raises BadSettings if nothing can be pruned.
    """
    why = _obstacle(asked, earlier)
    if why or earlier is None:
        raise BadSettings(key="prune", value=asked.prune, why=why)
    values: dict[str, Any] = {"widths": shrink(earlier.widths, asked.prune)}
    if values["widths"] == earlier.widths:
        raise BadSettings(key="prune", value=asked.prune, why="that is less than one block of channels of any level")
    text = "-".join(map(str, earlier.widths))
    reasons = {"widths": f"{text} of the run that it begins with, less {asked.prune:.0%} of the channels."}
    for key in _KEPT:
        values[key] = getattr(earlier, key)
        reasons[key] = "As in the run that it begins with."
    values["rate"] = earlier.rate / 2
    reasons["rate"] = "Half of that of the run that it begins with: it has learned already."
    chosen = {key: getattr(asked, key) for key in asked.model_fields_set}
    reasons = {key: reason for key, reason in reasons.items() if key not in chosen}
    return TrainingSettings(**{**values, **chosen, "reasons": {**reasons, **asked.reasons}})


def _obstacle(asked: TrainingSettings, earlier: TrainingSettings | None) -> str:
    if earlier is None:
        return "say which run to begin with (--from RUN)"
    if asked.model != "unet" or earlier.model != "unet":
        return "only a UNet is pruned; a ResNet is made slimmer by its width"
    if earlier.encoder != "plain" or asked.encoder != "plain":
        return "only a UNet with the plain encoder is pruned; one with a ResNet is made slimmer by its width"
    if "widths" in asked.model_fields_set:
        return "the widths are chosen by hand already"
    for key in _SAME:
        if key in asked.model_fields_set and getattr(asked, key) != getattr(earlier, key):
            return f"{key} must stay {getattr(earlier, key)}, as in the run that it begins with"
    return ""


def shrink(widths: Sequence[int], share: float) -> list[int]:
    """Reduce widths by `share`, rounded to multiples of 16 or 8, ties downward.

    CPUs compute channels in such blocks: 20 channels take as long as 24.
    """
    result = []
    for width in widths:
        step = 16 if width >= 64 else 8 if width >= 16 else 1
        result.append(min(width, max(1, math.ceil(width * (1 - share) / step - 0.5)) * step))
    return result


def is_smaller(settings: TrainingSettings, earlier: TrainingSettings) -> bool:
    """Return True if the UNet of `recipe` is that of `earlier` with fewer channels."""
    if settings.model != "unet" or earlier.model != "unet" or settings.widths == earlier.widths:
        return False
    if any(getattr(settings, key) != getattr(earlier, key) for key in _SAME):
        return False
    plain = settings.encoder == earlier.encoder == "plain" and len(settings.widths) == len(earlier.widths)
    return plain and all(now <= before for now, before in zip(settings.widths, earlier.widths))
