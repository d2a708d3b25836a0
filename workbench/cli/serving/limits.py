"""How much a server takes on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limits:
    """queue: requests that may wait. threads: pictures in work at once. bytes: of one request's body. pixels: of
    one picture. seconds: from the arrival of a request to its answer.

    memory: bytes that the decoded pictures in work may take together. received: bytes of all request bodies that are
    arriving or wait for their turn. stall: seconds for the header of a request, and between two parts of its body.
    idle: seconds for which a connection may stay open between two requests. connections: open at once, at most.
    """

    queue: int = 32
    threads: int = 4
    bytes: int = 64 * 2**20
    pixels: int = 100 * 10**6
    seconds: float = 60.0
    memory: int = 1024 * 2**20
    received: int = 512 * 2**20
    stall: float = 10.0
    idle: float = 30.0
    connections: int = 1000
