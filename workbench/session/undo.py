"""Undo and redo: one stack for all changes of a project, on all images."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from PySide6.QtCore import QObject, Signal

from workbench.core.project.history import Patch


class UndoCommand(ABC):
    """A change that was made and can be undone and redone.

    title: kind of change, an identifier that the window translates. key: the image that was changed; None: several, or
    none in particular. needs_image: the image has to be open for undo and redo. nbytes: approximate memory.
    """

    title: str = ""
    key: str | None = None
    needs_image: bool = False
    nbytes: int = 400

    def can_undo(self) -> bool:
        return True

    @abstractmethod
    def undo(self) -> bool:
        """Revert the change. Return False if it is not reverted when this returns."""

    @abstractmethod
    def redo(self) -> bool:
        """Make the change again. Return False if that was not possible."""


class PatchTarget(Protocol):
    """Object that applies patches to the mask of the open image."""

    def apply_patch(self, patch: Patch, *, undone: bool) -> bool: ...


class MaskEdit(UndoCommand):
    """A change of pixels in the mask of one image."""

    needs_image = True

    def __init__(self, target: PatchTarget, patch: Patch) -> None:
        self._target, self.patch = target, patch
        self.title, self.key, self.nbytes = patch.what, patch.key, patch.nbytes

    def undo(self) -> bool:
        return self._target.apply_patch(self.patch, undone=True)

    def redo(self) -> bool:
        return self._target.apply_patch(self.patch, undone=False)


class Barrier(UndoCommand, ABC):
    """A change of the mask files of many images. Earlier changes are out of reach until it is undone.

    contents: those of the `UndoStack` before the change.
    """

    def __init__(self, contents: dict[str, str]) -> None:
        self.contents = contents


@dataclass(frozen=True)
class StackState:
    """Content of an `UndoStack`: commands, oldest first, the next to redo last, and content sums."""

    done: tuple[UndoCommand, ...]
    undone: tuple[UndoCommand, ...]
    contents: dict[str, str]


class UndoStack(QObject):
    """Done and undone commands of all kinds. A new command discards all undone ones.

    Memory is limited in bytes, not in steps: above `limit` the oldest commands are dropped; the newest always stays.
    contents: content sums of the mask files that the commands belong to, by image.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None, *, limit: int = 256 << 20) -> None:
        super().__init__(parent)
        self.limit = limit
        self.contents: dict[str, str] = {}
        self._done: deque[UndoCommand] = deque()
        self._undone: list[UndoCommand] = []
        self._nbytes = 0

    # --- state ------------------------------------------------------------------------------------

    @property
    def next_undo(self) -> UndoCommand | None:
        return self._done[-1] if self._done else None

    @property
    def next_redo(self) -> UndoCommand | None:
        return self._undone[-1] if self._undone else None

    def can_undo(self) -> bool:
        return bool(self._done) and self._done[-1].can_undo()

    def can_redo(self) -> bool:
        return bool(self._undone)

    @property
    def barrier(self) -> Barrier | None:
        """The newest barrier."""
        return next((command for command in reversed(self._done) if isinstance(command, Barrier)), None)

    def patches(self, key: str) -> tuple[list[Patch], list[Patch]]:
        """Return the patches of an image since the last barrier: done, oldest first; undone, the next to redo first."""
        return _patches(self._reachable(), key)[::-1], _patches(reversed(self._undone), key)

    def route(self, key: str, patch: Patch | None) -> list[Patch]:
        """Return the patches to apply, in order, to restore the state after `patch`; None: before the first one."""
        done, undone = self.patches(key)
        for number, other in enumerate(undone):
            if other is patch:
                return undone[: number + 1]
        route = []
        for other in reversed(done):
            if other is patch:
                return route
            route.append(other.inverse())
        return route if patch is None else []

    def _reachable(self) -> Iterator[UndoCommand]:
        """Yield the done commands since the last barrier, newest first."""
        for command in reversed(self._done):
            if isinstance(command, Barrier):
                return
            yield command

    # --- changes ----------------------------------------------------------------------------------

    def push(self, *commands: UndoCommand) -> None:
        """Add changes that have just been made, oldest first; undone commands can no longer be redone."""
        if not commands:
            return
        self._undone.clear()
        for command in commands:
            self._append(command)
        self.changed.emit()

    def undo(self) -> None:
        """Undo the last command."""
        command = self.next_undo
        if command is None or not command.can_undo():
            return
        if command.undo() and self.next_undo is command:
            self._done.pop()
            self._nbytes -= command.nbytes
            self._undone.append(command)
            self.changed.emit()

    def redo(self) -> None:
        """Redo the command that was undone last."""
        command = self.next_redo
        if command is not None and command.redo() and self.next_redo is command:
            self._undone.pop()
            self._append(command)
            self.changed.emit()

    def drop_image(self, key: str) -> None:
        """Drop the commands that need an image which cannot be opened, or whose mask they no longer fit."""
        self.drop(lambda command: command.needs_image and command.key == key)

    def drop(self, obsolete: Callable[[UndoCommand], bool]) -> None:
        """Drop the commands for which `obsolete` returns True."""
        self._set(
            [command for command in self._done if not obsolete(command)],
            [command for command in self._undone if not obsolete(command)],
        )

    def check_content(self, key: str, content: str) -> bool:
        """Drop the commands of an image whose mask file another program has written, as `content` shows.

        Return True if there were any.
        """
        if self.contents.setdefault(key, content) == content:
            return False
        self.contents[key] = content
        before = len(self._done) + len(self._undone)
        self.drop_image(key)
        return len(self._done) + len(self._undone) < before

    def start_barrier(self, barrier: Barrier) -> None:
        """Add a barrier."""
        self.contents = {}
        self.push(barrier)

    def drop_barriers(self, obsolete: Callable[[Barrier], bool]) -> None:
        """Drop the barriers for which `obsolete` returns True, with all that lies before them."""
        done = list(self._done)
        ends = [n for n, command in enumerate(done, 1) if isinstance(command, Barrier) and obsolete(command)]
        self._set(done[max(ends, default=0) :], self._undone)

    def remove_barrier(self, *, to_undone: bool = False) -> None:
        """Remove the newest barrier, as its change was reverted. to_undone: it can be redone.

        If it is the last command, those before it can be undone again. Otherwise they are dropped.
        """
        barrier = self.barrier
        if barrier is None:
            self.changed.emit()
        elif self.next_undo is barrier:
            self.contents = barrier.contents
            self._set(list(self._done)[:-1], [*self._undone, barrier] if to_undone else [])
        else:
            self.drop_barriers(lambda command: command is barrier)

    def move_barrier_to_done(self) -> None:
        """Move a barrier that is the next command to redo to the done commands, as its change was repeated."""
        barrier = self.next_redo
        if isinstance(barrier, Barrier):
            barrier.contents, self.contents = self.contents, {}
            self._set([*self._done, barrier], self._undone[:-1])

    def clear(self) -> None:
        self.contents = {}
        self._set([], [])

    @property
    def state(self) -> StackState:
        """The whole content, for another `UndoStack` or a later time."""
        return StackState(tuple(self._done), tuple(self._undone), dict(self.contents))

    @state.setter
    def state(self, state: StackState) -> None:
        self.contents = dict(state.contents)
        self._set(state.done, state.undone)

    def _append(self, command: UndoCommand) -> None:
        self._done.append(command)
        self._nbytes += command.nbytes
        while self._nbytes > self.limit and len(self._done) > 1:
            self._nbytes -= self._done.popleft().nbytes

    def _set(self, done: Iterable[UndoCommand], undone: Iterable[UndoCommand]) -> None:
        self._done, self._undone = deque(done), list(undone)
        self._nbytes = sum(command.nbytes for command in self._done)
        self.changed.emit()


def _patches(commands: Iterable[UndoCommand], key: str) -> list[Patch]:
    return [command.patch for command in commands if isinstance(command, MaskEdit) and command.key == key]
