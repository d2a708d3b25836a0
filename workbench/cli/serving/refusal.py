"""Exception for a refused request."""

from __future__ import annotations


class Refused(Exception):
    """Refused request. status: HTTP status. detail: a sentence for the user. headers: additional headers."""

    def __init__(self, status: int, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(status, detail)
        self.status = status
        self.detail = detail
        self.headers = headers or {}
