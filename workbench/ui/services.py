"""Engines behind the window. They are created once and outlive a window that is rebuilt."""

from __future__ import annotations

from dataclasses import dataclass, field

from workbench.session.display_presets import DisplayPresets
from workbench.session.error_log import ErrorLog
from workbench.session.image_pages import ImagePages
from workbench.session.image_suggestions import ImageSuggestions
from workbench.session.label_issue_review import LabelIssueReview
from workbench.session.label_queue import LabelQueue
from workbench.session.predictions import Predictions
from workbench.session.preferences import Preferences
from workbench.session.reference_comparison import ReferenceComparison
from workbench.session.run_evaluation import RunEvaluation
from workbench.session.run_thresholds import RunThresholds
from workbench.session.session import Session
from workbench.session.suggest_all import SuggestAll
from workbench.session.training.continuous_training import ContinuousTraining
from workbench.session.training.export_job import ExportJob
from workbench.session.training.run_list import RunList
from workbench.session.training.run_monitor import RunMonitor
from workbench.session.training.saved_overrides import SavedOverrides
from workbench.session.training.telemetry import TelemetryThread
from workbench.session.training.training_control import TrainingControl


@dataclass
class Services:
    """All engines. `open` creates them in the order of their dependencies."""

    settings: Preferences
    session: Session
    training: TrainingControl
    exporter: ExportJob
    predictions: Predictions
    suggestions: ImageSuggestions
    everywhere: SuggestAll
    telemetry: TelemetryThread
    displays: DisplayPresets
    comparison: ReferenceComparison
    story: RunMonitor
    shelf: RunList
    guide: LabelQueue
    errors: LabelIssueReview
    review: RunEvaluation
    choices: SavedOverrides
    thresholds: RunThresholds
    kept: ContinuousTraining
    pages: ImagePages
    error_log: ErrorLog = field(default_factory=ErrorLog)

    @classmethod
    def open(cls, settings: Preferences) -> Services:
        session = Session()
        displays = DisplayPresets(session)
        training, telemetry = TrainingControl(session), TelemetryThread()
        runs = RunList(session, training)
        guide = LabelQueue(session, training, runs)
        exporter = ExportJob()
        exporter.finished.connect(runs.refresh)
        predictions = Predictions(session)
        return cls(
            settings,
            session,
            training,
            exporter,
            predictions,
            ImageSuggestions(session, predictions),
            SuggestAll(session),
            telemetry,
            displays,
            ReferenceComparison(session, displays),
            RunMonitor(session, training, telemetry),
            runs,
            guide,
            LabelIssueReview(session, guide),
            RunEvaluation(session, training),
            SavedOverrides(session),
            RunThresholds(session),
            ContinuousTraining(training),
            ImagePages(session),
        )

    def close(self) -> None:
        """Save, and end all threads and child processes."""
        self.telemetry.stop()
        self.exporter.close()
        self.training.close()
        self.story.close()
        self.shelf.close()
        self.guide.close()
        self.review.close()
        self.choices.close()
        self.everywhere.close()
        self.predictions.close()
        self.thresholds.close()
        self.comparison.close()
        self.pages.close()
        self.session.end()
