"""Commands of rank 0 to the other processes of a distributed training."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class RankCommand(IntEnum):
    """Next command of rank 0 to the other processes."""

    STEP = 0  # step, rate
    RELABEL = 1  # item: index in the list of labels that joined the data set
    LOAD = 2  # restore the state of last/
    WAIT = 3  # until the next command, without time limit
    END = 4
    FP32 = 5  # continue in 32 bits


@dataclass(frozen=True)
class CommandMessage:
    """One command. rate is transmitted exactly, in 64 bits."""

    command: RankCommand
    step: int = 0
    rate: float = 0.0
    item: int = 0
