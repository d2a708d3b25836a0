"""The engines behind the window, made once and handed to it; they outlive a window that is built anew."""

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
    """`open` makes them in the order in which they need each other."""

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
        """Save, end every thread and child."""
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
