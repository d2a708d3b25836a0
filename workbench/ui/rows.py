"""Table of commands: text, action, icon and conditions of each. The rows are defined in the modules rows_<topic>.py."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject

from workbench.session.comparing import Comparison
from workbench.session.displays import DisplayShelf
from workbench.session.keeping_open import KeepingOpen
from workbench.session.pages import Pages
from workbench.session.session import Session
from workbench.ui.advice import Advice
from workbench.ui.appearance import Appearance
from workbench.ui.canvas.canvas import Canvas
from workbench.ui.canvas.regions import RegionWalk
from workbench.ui.commands import Commands
from workbench.ui.overlay import Overlay
from workbench.ui.panels.display import DisplayPanel
from workbench.ui.panels.history import HistoryPanel
from workbench.ui.panels.layers import LayersPanel
from workbench.ui.panels.pictures import PicturesPanel
from workbench.ui.panels.training import TrainingPanel
from workbench.ui.panels.verdict import VerdictPanel
from workbench.ui.proposing import Proposing
from workbench.ui.recipes import Recipes
from workbench.ui.review.opening import Opening


@dataclass(frozen=True)
class Row:
    """One command. `keys`: shortcuts separated by "; ". `when`: whether it is enabled. `on`: whether it is checked."""

    id: str
    text: str
    call: Callable[[], object]
    keys: str = ""
    icon: str = ""
    when: Callable[[], bool] | None = None
    on: Callable[[], bool] | None = None
    group: str = ""  # exactly one command of a group is checked
    tip: str = ""
    touches_image: bool = False  # changes the open label or opens another image; no effect while an editor has focus
    repeats: bool = True  # auto-repeats while its key is held


@dataclass
class Parts:
    """Objects that the commands use."""

    session: Session
    canvas: Canvas
    pictures: PicturesPanel
    verdict: VerdictPanel
    layers: LayersPanel
    training: TrainingPanel
    commands: Commands
    appearance: Appearance
    overlay: Overlay
    walk: RegionWalk
    display: DisplayPanel
    comparison: Comparison
    displays: DisplayShelf
    history: HistoryPanel
    proposing: Proposing
    advice: Advice
    review: Opening
    recipes: Recipes
    kept: KeepingOpen
    pages: Pages


class Rows(QObject):
    """Base class of the modules' parts of the table."""

    @abstractmethod
    def all(self, parts: Parts) -> list[Row]:
        """Return the rows for the given objects."""


def paintable(session: Session) -> bool:
    """Return whether the open image may be painted on."""
    return session.mask is not None and session.writable
