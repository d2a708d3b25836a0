"""Engines behind the window. They are created once and outlive a window that is rebuilt."""

from __future__ import annotations

from dataclasses import dataclass, field

from workbench.session.comparing import Comparison
from workbench.session.displays import DisplayShelf
from workbench.session.error_log import ErrorLog
from workbench.session.exporter import Exporter
from workbench.session.keeping_open import KeepingOpen
from workbench.session.label_errors import LabelErrors
from workbench.session.pages import Pages
from workbench.session.predictions import Predictions
from workbench.session.proposals import Proposals
from workbench.session.proposing import AllPictures
from workbench.session.queue import Guide
from workbench.session.review import Review
from workbench.session.run_shelf import RunShelf
from workbench.session.session import Session
from workbench.session.settings import Settings
from workbench.session.story import Story
from workbench.session.telemetry import TelemetryThread
from workbench.session.thresholds import Thresholds
from workbench.session.training import Training
from workbench.session.training_wishes import TrainingWishes


@dataclass
class Rooms:
    """All engines. `open` creates them in the order of their dependencies."""

    settings: Settings
    session: Session
    training: Training
    exporter: Exporter
    predictions: Predictions
    proposals: Proposals
    everywhere: AllPictures
    telemetry: TelemetryThread
    displays: DisplayShelf
    comparison: Comparison
    story: Story
    shelf: RunShelf
    guide: Guide
    errors: LabelErrors
    review: Review
    wishes: TrainingWishes
    thresholds: Thresholds
    kept: KeepingOpen
    pages: Pages
    error_log: ErrorLog = field(default_factory=ErrorLog)

    @classmethod
    def open(cls, settings: Settings) -> Rooms:
        session = Session()
        displays = DisplayShelf(session)
        training, telemetry = Training(session), TelemetryThread()
        guide = Guide(session, training)
        predictions = Predictions(session)
        return cls(settings, session, training, Exporter(), predictions, Proposals(session, predictions),
                   AllPictures(session), telemetry,
                   displays, Comparison(session, displays), Story(session, training, telemetry),
                   RunShelf(session, training), guide, LabelErrors(session, guide),
                   Review(session, training), TrainingWishes(session), Thresholds(session),
                   KeepingOpen(training), Pages(session))  # fmt: skip

    def close(self) -> None:
        """Save, and end all threads and child processes."""
        self.telemetry.stop()
        self.exporter.close()
        self.training.close()
        self.story.close()
        self.shelf.close()
        self.guide.close()
        self.review.close()
        self.wishes.close()
        self.everywhere.close()
        self.predictions.close()
        self.thresholds.close()
        self.comparison.close()
        self.pages.close()
        self.session.end()
