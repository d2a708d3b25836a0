"""Name of a run folder: the time of its start, the model, and a number for runs within one second."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

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
