"""Training settings of a run that starts from an earlier UNet reduced to its strongest channels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from workbench.core.messages import Message
from workbench.core.problems import BadSettings
from workbench.core.runs.training_settings import TrainingSettings

# Preprocessing and architecture except for the widths. Part of a network only works under the same conditions.
_FROM_EARLIER_RUN = (
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


def prune_settings(requested: TrainingSettings, earlier: TrainingSettings | None) -> TrainingSettings:
    """Return `requested` with the widths of `earlier`, reduced by the share `prune`, and what must not change.

    Raises BadSettings if nothing can be pruned.
    """
    why = _refusal(requested, earlier)
    if why or earlier is None:
        raise BadSettings(key="prune", value=requested.prune, why=why)
    values: dict[str, Any] = {"widths": shrink(earlier.widths, requested.prune)}
    if values["widths"] == earlier.widths:
        raise BadSettings(key="prune", value=requested.prune, why=Message("prune.too_little"))
    text = "-".join(map(str, earlier.widths))
    reasons = {"widths": Message("plan.pruned_widths", widths=text, n=f"{requested.prune:.0%}")}
    for key in _FROM_EARLIER_RUN:
        values[key] = getattr(earlier, key)
        reasons[key] = Message("plan.as_initial_run")
    values["rate"] = earlier.rate / 2
    reasons["rate"] = Message("plan.half_rate")
    chosen = {key: getattr(requested, key) for key in requested.model_fields_set}
    reasons = {key: reason for key, reason in reasons.items() if key not in chosen}
    return TrainingSettings(**{**values, **chosen, "reasons": {**reasons, **requested.reasons}})


def _refusal(requested: TrainingSettings, earlier: TrainingSettings | None) -> str:
    if earlier is None:
        return Message("prune.no_run")
    if requested.model != "unet" or earlier.model != "unet":
        return Message("prune.unet_only")
    if earlier.encoder != "plain" or requested.encoder != "plain":
        return Message("prune.plain_only")
    if "widths" in requested.model_fields_set:
        return Message("prune.widths_fixed")
    for key in _SAME:
        if key in requested.model_fields_set and getattr(requested, key) != getattr(earlier, key):
            return Message("prune.must_stay", key=key, value=getattr(earlier, key))
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
    """Return True if the UNet of `settings` is that of `earlier` with fewer channels."""
    if settings.model != "unet" or earlier.model != "unet" or settings.widths == earlier.widths:
        return False
    if any(getattr(settings, key) != getattr(earlier, key) for key in _SAME):
        return False
    plain = settings.encoder == earlier.encoder == "plain" and len(settings.widths) == len(earlier.widths)
    return plain and all(now <= before for now, before in zip(settings.widths, earlier.widths))
