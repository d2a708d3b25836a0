"""Progress of a training between two steps."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class TrainingProgress:
    """Progress of a run, saved completely in state.json."""

    step: int = 0
    skipped: int = 0  # steps skipped because gradients overflowed
    validated: int = 0  # number of validations made
    rollbacks: int = 0
    rate_factor: float = 1.0  # halved after every divergence
    halvings: int = 0  # of the patch, after running out of memory
    fp32: str = ""  # id of the message that states why a run in mixed precision continues in 32 bits
    reserve: float | None = None  # seconds reserved for the end; None: not measured yet
    subset: list[str] | None = None  # validation images evaluated during the run; None: not chosen yet
    round: int = 0  # of a run kept open, see training.continuous_rounds; 0 is the planned round
    round_step: int = 0  # first step of the round
    round_time: float = 0.0
