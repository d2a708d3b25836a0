"""Services of the session layer. They are created once and outlive a window that is rebuilt."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from workbench.session.click_segmentation import ClickSegmentation
from workbench.session.display_presets import DisplayPresets, ImagePages, ReferenceComparison
from workbench.session.error_log import ErrorLog
from workbench.session.image_suggestions import ImageSuggestions
from workbench.session.instant_overlay import InstantOverlay
from workbench.session.label_queue import LabelIssueReview, LabelQueue, LabelRepair
from workbench.session.prediction_jobs import SuggestAll
from workbench.session.predictions import Predictions, RunThresholds
from workbench.session.preferences import Preferences
from workbench.session.project_jobs import (
    AdoptionJob,
    EvaluationComparisonJob,
    EvaluationReportJob,
    PackingJob,
    ReportJob,
    check_project,
    compute_statistics,
)
from workbench.session.run_evaluation import RunEvaluation
from workbench.session.session import Session
from workbench.session.spot_finder import SpotFinder
from workbench.session.training.saved_overrides import ContinuousTraining, SavedOverrides
from workbench.session.training.shown_runs import RunList, RunMonitor
from workbench.session.training.telemetry import TelemetryThread
from workbench.session.training.trainer_thread import ExportJob
from workbench.session.training.training_control import TrainingControl
from workbench.session.workflow_monitor import WorkflowMonitor


@dataclass(kw_only=True)
class Services:
    """All services. `open` creates them in the order of their dependencies."""

    preferences: Preferences
    session: Session
    training: TrainingControl
    export_job: ExportJob
    adoption: AdoptionJob
    predictions: Predictions
    suggestions: ImageSuggestions
    suggest_all: SuggestAll
    telemetry: TelemetryThread
    display_presets: DisplayPresets
    reference_comparison: ReferenceComparison
    run_monitor: RunMonitor
    run_list: RunList
    label_queue: LabelQueue
    label_issues: LabelIssueReview
    evaluation: RunEvaluation
    saved_overrides: SavedOverrides
    run_thresholds: RunThresholds
    continuous_training: ContinuousTraining
    image_pages: ImagePages
    project_check: ReportJob
    statistics: ReportJob
    label_repair: LabelRepair
    packing: PackingJob
    evaluation_report: EvaluationReportJob
    evaluation_comparison: EvaluationComparisonJob
    workflow: WorkflowMonitor
    spots: SpotFinder
    instant_overlay: InstantOverlay
    clicks: ClickSegmentation
    error_log: ErrorLog = field(default_factory=ErrorLog)

    @classmethod
    def open(cls, preferences: Preferences) -> Services:
        session = Session()
        display_presets = DisplayPresets(session)
        training, telemetry = TrainingControl(session), TelemetryThread()
        run_list = RunList(session, training)
        label_queue = LabelQueue(session, training, run_list)
        export_job = ExportJob()
        export_job.finished.connect(run_list.refresh)
        adoption = AdoptionJob(session)
        adoption.adopted.connect(lambda run: None if run is None else training.follow(run))
        predictions = Predictions(session)
        clicks = ClickSegmentation(preferences)
        clicks.failed.connect(session.problem_met)
        workflow = WorkflowMonitor(session, training, run_list, export_job)
        return cls(
            preferences=preferences,
            session=session,
            training=training,
            export_job=export_job,
            adoption=adoption,
            predictions=predictions,
            suggestions=ImageSuggestions(session, predictions),
            suggest_all=SuggestAll(session),
            telemetry=telemetry,
            display_presets=display_presets,
            reference_comparison=ReferenceComparison(session, display_presets),
            run_monitor=RunMonitor(session, training, telemetry),
            run_list=run_list,
            label_queue=label_queue,
            label_issues=LabelIssueReview(session, label_queue),
            evaluation=RunEvaluation(session, training),
            saved_overrides=SavedOverrides(session),
            run_thresholds=RunThresholds(session),
            continuous_training=ContinuousTraining(training),
            image_pages=ImagePages(session),
            project_check=ReportJob(session, check_project),
            statistics=ReportJob(session, compute_statistics),
            label_repair=LabelRepair(session),
            packing=PackingJob(),
            evaluation_report=EvaluationReportJob(),
            evaluation_comparison=EvaluationComparisonJob(),
            workflow=workflow,
            spots=SpotFinder(session, run_list, workflow),
            instant_overlay=InstantOverlay(session, training, run_list, preferences),
            clicks=clicks,
        )

    def close(self) -> None:
        """Save, and end all threads and child processes."""
        self.telemetry.stop()
        for service in fields(self):
            # The error log is closed last, by the application: the end of the others is still logged.
            close = getattr(getattr(self, service.name), "close", None)
            if close is not None and service.name != "error_log":
                close()
        self.session.end()
