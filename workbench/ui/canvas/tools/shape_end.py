"""Time of the last closed shape: Return soon after closing belongs to the shape, not to "label next"."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from workbench.ui.canvas.tools.tool_base import Tool

GRACE = 0.5  # seconds


class ShapeEnd:
    """Clock of closed shapes. `clock` returns seconds and can be replaced."""

    def __init__(self) -> None:
        self.clock: Callable[[], float] = time.monotonic
        self._closed_at = -math.inf

    def watched(self, tool: Tool, call: Callable[[], Any]) -> Any:
        """Call a function and store the time if it closes the tool's shape."""
        begun = tool.busy
        result = call()
        if begun and tool.closes and not tool.busy:
            self._closed_at = self.clock()
        return result

    def forget(self) -> None:
        self._closed_at = -math.inf

    @property
    def recent(self) -> bool:
        return self.clock() - self._closed_at < GRACE
