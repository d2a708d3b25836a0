"""Limits of a server: queue, threads, sizes, memory, times and connections."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of one server process.

    queue: waiting requests. threads: images processed at once. bytes: body of one request. pixels: one image.
    seconds: from the arrival of a request to its answer. memory: bytes of all decoded images being processed.
    received: bytes of all request bodies that are arriving or waiting. stall: seconds for the header of a request, and
    between two parts of its body. idle: seconds a connection may stay open between two requests. connections: open at
    once.
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
