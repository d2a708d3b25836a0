"""Choice of the images that the event loop predicts itself, without a change to a thread and back."""

from __future__ import annotations

from collections.abc import Callable

from workbench.inference.io.image_header import PNG_SIGNATURE

_STREAK = 8
_MAX_SECONDS = 0.01  # mean duration
_WEIGHT = 1 / 8  # of the last image in the mean
_HEADER = 33  # bytes: signature of a PNG and its first chunk, with the size


class DirectCalls:
    """Choice of the images that are predicted in the event loop. For the event loop only.

    Queue, two changes of the thread and futures take a tenth of the time of a network of 3 ms. Since nothing else is
    answered during a prediction in the event loop, an image is predicted there only if the last 8 images came from the
    same connection, have the same size and took less than 10 ms on average. Such a client waits for each response, so
    that no other work could be done meanwhile. Images of several clients are left to the threads, which share calls of
    the network and work on several cores.

    any_sender: for a server with one core whose network takes one image per call: there threads have no advantage,
    so the last 8 images may come from any connection.
    size: of the last image in bytes, decoded; 0 if it could not be decoded.
    """

    def __init__(self, *, any_sender: bool = False) -> None:
        self.any_sender = any_sender
        self.size = 0
        self._header = b""
        self._sender: object = None
        self._count = 0
        self._mean = 0.0

    def allows(self, sender: object) -> bool:
        """Return True if an image of this size from the connection `sender` may be predicted in the event loop."""
        is_same = self.any_sender or sender is self._sender
        return self._count >= _STREAK and self._mean < _MAX_SECONDS and is_same

    def has_size(self, content: bytearray, size_of: Callable[[bytearray], int]) -> bool:
        """Return True if an image has the size of the last one.

        size_of: returns the size of an image and refuses some. Not called for a PNG with the header of the last one.
        """
        if not self._header or not content.startswith(self._header):
            if size_of(content) != self.size:
                return False
            self._header = bytes(content[:_HEADER]) if content.startswith(PNG_SIGNATURE) else b""
        return True

    def record(self, sender: object, size: int, seconds: float) -> None:
        """Record a processed image. sender: the same object for all images of one connection.

        size: as above. seconds: duration without the time in the queue.
        """
        is_same = self.any_sender or sender is self._sender
        if not is_same or size != self.size or not size:
            self._sender, self.size, self._count, self._mean = sender, size, 0, seconds
            self._header = b""
        self._count += bool(size)
        self._mean += _WEIGHT * (seconds - self._mean)
