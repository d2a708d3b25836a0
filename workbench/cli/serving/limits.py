"""How much a server takes on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limits:
    """queue: requests that may wait. threads: pictures in work at once. bytes: of one request's body. pixels: of
    one picture. seconds: from the arrival of a request to its answer.
    """

    queue: int = 32
    threads: int = 4
    bytes: int = 64 * 2**20
    pixels: int = 100 * 10**6
    seconds: float = 60.0
