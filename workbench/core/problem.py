"""Base class of the errors that are shown to the user, see `problems`."""

from __future__ import annotations

from functools import partial
from typing import Any

from workbench.core.text_patterns import fill


class Problem(Exception):
    """Base class of errors that the user can understand and fix. `str(problem)` is the English text, no traceback."""

    message = "Something went wrong."
    advice = ""

    def __init__(self, **fields: Any) -> None:
        super().__init__(fields)
        self.fields = fields

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **self.fields), ()  # without it, a process pool cannot return a problem

    def __str__(self) -> str:
        return fill(" ".join(part for part in (self.message, self.advice) if part), **self.fields)
