"""Views of the pages of the window: each function brings a new window into the state that its name describes."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QPoint
from screenshot_stage import Stage

from workbench.core.project.annotation import ids_in, read_mask
from workbench.core.project.exporting import export_labels
from workbench.core.project.formats.label_export import LabelExportOptions
from workbench.core.project.project import DONT_CARE
from workbench.core.runs.run import find_run
from workbench.inference.io.image_io import read_image, write_png
from workbench.ui.evaluation.comparison_dialog import ComparisonDialog
from workbench.ui.evaluation.part_dialogs import GaugeDialog, PartPlanDialog
from workbench.ui.evaluation.verdict_evaluation_page import VerdictEvaluationPage
from workbench.ui.label_files.label_file_dialogs import ImportDialog
from workbench.ui.training.model_dialogs import ExportReport
from workbench.ui.training.settings_dialog import TrainingSettingsDialog
from workbench.ui.widgets.dialogs import Question

View = Callable[[Stage], None]

# --- start ----------------------------------------------------------------------------------------


def welcome(stage: Stage) -> None:
    stage.window.project_commands.recent.menu.clear()


def recent_projects(stage: Stage) -> None:
    """Recent projects, one of them not found."""
    stage.open_project()
    stage.services.preferences.recent_projects.append(str(stage.sample.parent / "line-3" / "castings"))
    stage.session.close_project()
    stage.pause(0.5)


def new_project(stage: Stage) -> None:
    stage.run("new_project")


def quick_project(stage: Stage) -> None:
    """Dialog after a folder of images was dropped on the window."""
    stage.window.project_commands.make_project(stage.sample / "pictures")
    stage.pause(1.5)


def new_images(stage: Stage) -> None:
    """Project without any label: the window offers spots."""
    stage.open_copy("new-surfaces")
    stage.wait(lambda: stage.services.spots.offered)


def spots(stage: Stage) -> None:
    stage.open_copy("new-surfaces")
    stage.run("spots")
    stage.wait(lambda: stage.services.spots.spots)
    stage.run("next_spot")


# --- labels ---------------------------------------------------------------------------------------


def labeling(stage: Stage) -> None:
    stage.follow("unet")
    stage.wait(lambda: stage.window.overlay.maps is not None)
    stage.pause(3)  # thumbnails of the list


def text_of_150_percent(stage: Stage) -> None:
    stage.follow("unet")
    stage.window.view_settings.set_text_size(150)
    stage.cleanup.append(lambda: stage.window.view_settings.set_text_size(100))  # it is that of the application
    stage.pause(1)


def contact_sheet(stage: Stage) -> None:
    stage.open_project()
    stage.run("thumbnails")
    stage.pause(1.5)


def table_of_images(stage: Stage) -> None:
    contact_sheet(stage)
    stage.window.images.thumbnail_view.show_table(True)
    stage.pause(0.5)


def image_menu(stage: Stage) -> None:
    stage.follow("unet")
    place = stage.window.images.mapToGlobal(QPoint(80, 200))
    stage.window.image_menus.show_menu([stage.session.key or ""], place)
    stage.pause(0.3)


def class_merge(stage: Stage) -> None:
    stage.open_project()
    stage.window.classes.change(2, merge=True).show()
    stage.pause(1)


def done_message(stage: Stage) -> None:
    stage.open_copy("in-training", labels=True)
    stage.run("done_next")
    stage.pause(0.5)


def label_next(stage: Stage) -> None:
    stage.follow("unet")
    stage.run("label_next")
    stage.wait(lambda: not stage.services.label_queue.running)


def label_errors(stage: Stage) -> None:
    stage.follow("unet")
    stage.run("label_errors")
    stage.wait(lambda: not stage.services.label_queue.running and stage.window.overlay.maps is not None)


def import_labels(stage: Stage) -> None:
    """Preview of the import of a COCO file, exported from the sample."""
    stage.open_project()
    project = stage.session.project
    assert project is not None
    labels = stage.sample.with_name("labels")
    if not labels.exists():
        export_labels(project, labels, format="coco", options=LabelExportOptions(images=True))
    stage.window.label_files.show_import(labels)
    dialog = stage.window.findChild(ImportDialog)
    assert dialog is not None
    stage.wait(dialog.import_button.isEnabled)


# --- training and prediction ----------------------------------------------------------------------


def calm_overlay(stage: Stage) -> None:
    """First preview of a training, by an immature model."""
    _train(stage)
    stage.wait(lambda: stage.window.overlay.immature)


def live_training(stage: Stage) -> None:
    """Training, some steps after its first preview."""
    _train(stage)
    stage.wait(lambda: stage.window.overlay.maps is not None)
    stage.pause(10)


def _train(stage: Stage) -> None:
    stage.open_copy("in-training", labels=True)
    stage.open_image(_image_with_defects(stage))
    stage.window.training.controls.set_values("unet", 3, "cpu")
    stage.run("train")
    stage.wait(lambda: stage.services.training.running)


def _image_with_defects(stage: Stage) -> str:
    run = find_run(stage.sample, "best", "unet")
    return next(item.key for item in run.dataset().of("val", "test") if item.pixels and sum(item.pixels) > 500)


def leave_question(stage: Stage) -> None:
    _train(stage)
    stage.run("close_project")
    stage.wait(lambda: stage.window.findChildren(Question))


def prediction(stage: Stage) -> None:
    stage.follow("unet")
    stage.run("predict")
    stage.wait(lambda: stage.window.overlay.maps is not None)


def suggestions(stage: Stage) -> None:
    """Suggestions on an image without a label: stored ones, as a model of a short training may suggest nothing."""
    stage.open_copy("with-model", runs=True)
    key = _image_with_defects(stage)
    stage.store_suggestions(key)
    stage.open_image(key)
    stage.wait(lambda: stage.services.suggestions.shown)
    stage.pause(1)


def training_settings(stage: Stage) -> None:
    stage.follow("unet")
    stage.run("training_settings")
    dialog = stage.window.findChild(TrainingSettingsDialog)
    stage.wait(lambda: dialog.settings is not None)  # the automatic values are planned in a thread


def run_settings(stage: Stage) -> None:
    stage.follow("unet")
    stage.run("run_settings")


def export_options(stage: Stage) -> None:
    stage.follow("unet")
    stage.run("export_options")


def export_report(stage: Stage) -> None:
    """Report on an export with options."""
    stage.follow("unet")
    folder = next((stage.sample / "exports").glob("*-unet"))
    parity = json.loads((folder / "parity.json").read_text("utf-8"))["formats"]
    engines = json.loads((folder / "latency.json").read_text("utf-8"))["engines"]
    result = {
        "path": str(folder),
        "formats": list(parity),
        "parity": parity,
        "latency": {name: entry["rows"][0]["p50_ms"] for name, entry in engines.items()},
    }
    ExportReport(result, lambda path: None, stage.window).show()
    stage.pause(0.5)


# --- evaluation -----------------------------------------------------------------------------------


def evaluation(stage: Stage) -> None:
    stage.follow("unet")
    stage.run("evaluation")
    stage.wait(lambda: stage.services.evaluation.result is not None and not stage.services.evaluation.busy)
    stage.pause(1)


def evaluation_images(stage: Stage) -> None:
    """Choice of the images, and what is to be known about them."""
    evaluation(stage)
    page = stage.window.evaluation
    stage.parts = (*page.splits.values(), page.expectation, page.segmentation.notices)


def evaluation_classes(stage: Stage) -> None:
    """Labeled regions by their class and by the predicted class."""
    evaluation(stage)
    browser = stage.window.evaluation.segmentation.browser
    browser.tabs["classes"].click()
    stage.pause(0.5)
    stage.parts = browser.tabs["missed"], browser.matrix


def evaluation_metrics(stage: Stage) -> None:
    """Evaluation with its details."""
    evaluation(stage)
    stage.window.evaluation.segmentation.details.heading.setChecked(True)
    stage.cleanup.append(lambda: stage.window.evaluation.segmentation.details.heading.setChecked(False))
    stage.wait(lambda: stage.services.evaluation.sweep is not None)
    stage.pause(1)


def operating_point(stage: Stage) -> None:
    evaluation(stage)
    stage.parts = (stage.window.evaluation.segmentation.points,)


def verdict_rule(stage: Stage) -> None:
    """Rule that limits the false alarms, with what it does to the shown images."""
    evaluation(stage)
    panel = stage.window.evaluation.segmentation.verdict
    panel.rule.setCurrentIndex(panel.rule.findData("budget"))
    panel.rule.activated.emit(panel.rule.currentIndex())
    stage.pause(2)
    stage.parts = (panel,)


def parts_needed(stage: Stage) -> None:
    evaluation(stage)
    stage.run("plan_parts")
    dialog = stage.window.findChild(PartPlanDialog)
    assert dialog is not None
    stage.wait(lambda: dialog.plans())
    dialog.start()
    stage.wait(lambda: not dialog.job.running)
    stage.parts = (dialog,)


def gauge_study(stage: Stage) -> None:
    """Study of moved and slightly darker copies of images, with two inspectors, one of whom errs now and then."""
    stage.follow("unet")
    folder = stage.sample.with_name("gauge")
    rows = ["part,inspector 1,inspector 2"]
    masks = stage.sample / "masks"
    labeled = sorted(path.relative_to(masks).with_suffix("") for path in masks.glob("lot-*/panel-*.png"))
    for number, key in enumerate(labeled[:30], 1):
        part = folder / f"part{number:02}"
        part.mkdir(parents=True, exist_ok=True)
        image = read_image(stage.sample / "pictures" / key)
        for copy in range(3):
            write_png(part / f"{copy + 1}.png", (np.roll(image, 5 * copy, 1) * (1 - 0.02 * copy)).astype(image.dtype))
        defective = any(0 < id < DONT_CARE for id in ids_in(read_mask(masks / f"{key}.png")))
        verdict = "NG" if defective else "OK"
        rows.append(f"{part.name},{verdict},{verdict if number % 9 else 'OK'}")
    table = folder.with_name("inspectors.csv")
    table.write_text("\n".join(rows), "utf-8")
    stage.run("study_gauge")
    dialog = stage.window.findChild(GaugeDialog)
    assert dialog is not None
    dialog.images.line.setText(str(folder))
    dialog.inspectors.line.setText(str(table))
    dialog.start()
    stage.wait(lambda: not dialog.job.running and dialog.figures.isVisible())
    stage.parts = (dialog,)


def evaluation_lighting(stage: Stage) -> None:
    """Evaluation with the metrics under changed lighting."""
    evaluation(stage)
    stage.window.evaluation.expectation.lighting.setChecked(True)
    stage.pause(0.5)


def evaluation_of_verdicts(stage: Stage) -> None:
    stage.follow("resnet")
    stage.run("evaluation")
    page = stage.window.findChild(VerdictEvaluationPage)
    stage.wait(lambda: page is not None and page.isVisible() and page.evaluation is not None)
    stage.pause(1)


def evaluation_without_model(stage: Stage) -> None:
    stage.open_copy("new-surfaces")
    stage.run("evaluation")
    stage.pause(0.5)


def comparison(stage: Stage) -> None:
    stage.follow("unet")
    stage.run("compare_evaluations")
    dialog = stage.window.findChild(ComparisonDialog)
    assert dialog is not None
    stage.wait(dialog.save_button.isEnabled)


PAGE_VIEWS: dict[str, View] = {
    view.__name__: view
    for view in (
        welcome,
        recent_projects,
        new_project,
        quick_project,
        new_images,
        spots,
        labeling,
        text_of_150_percent,
        contact_sheet,
        table_of_images,
        class_merge,
        done_message,
        label_next,
        label_errors,
        import_labels,
        calm_overlay,
        live_training,
        leave_question,
        prediction,
        suggestions,
        evaluation,
        evaluation_images,
        evaluation_classes,
        evaluation_metrics,
        evaluation_lighting,
        operating_point,
        verdict_rule,
        parts_needed,
        gauge_study,
        evaluation_of_verdicts,
        evaluation_without_model,
        comparison,
    )
}
