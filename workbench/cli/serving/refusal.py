"""A request that is not answered as asked."""

from __future__ import annotations


class Refused(Exception):
    """status: of the answer. detail: a sentence for the person who asked. headers: to send along."""

    def __init__(self, status: int, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(status, detail)
        self.status = status
        self.detail = detail
        self.headers = headers or {}
