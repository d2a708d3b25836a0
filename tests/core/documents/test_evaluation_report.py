"""Evaluation reports and comparisons: metrics, curves, images, caveats, in one self-contained page."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import datetime

import pytest

from tests.core.documents.report_runs import make_other
from tests.inference.shifted_parts import HEIGHT, WIDTH, part, view
from tests.session.mask_run import FALSE, MISSED, make_mask_project
from tests.session.stored_result import store_result, stored_result
from tests.session.verdict_run import make_verdict_project
from tests.training.model_card.card_pages import Page
from workbench.core.documents.comparison_report import comparison_report, comparison_rows, metric_cells
from workbench.core.documents.document import (
    PRINT_COLORS,
    PRINT_PAGE,
    Chart,
    Document,
    Gallery,
    ImagePairs,
    Paragraph,
    Section,
    Series,
    Table,
    chart_svg,
    to_html,
)
from workbench.core.documents.report_content import MOST, ReportImages, evaluation_report
from workbench.core.documents.run_blocks import operating_point_blocks, rounded_area, size_name, size_range
from workbench.core.evaluation.evaluation_comparison import (
    EvaluationComparison,
    FigureDifference,
    compare_masks,
    compare_verdicts,
)
from workbench.core.evaluation.expectation import CHANGES
from workbench.core.evaluation.figures import Figure
from workbench.core.evaluation.intervals import Interval
from workbench.core.evaluation.split_evaluation import MaskEvaluation, evaluate_like, evaluate_run
from workbench.core.messages import Message
from workbench.core.problems import RunUnusable
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.runs.run import Run
from workbench.inference.inspection_area import AreaPolygon, InspectionArea
from workbench.inference.model_settings import ClassSettings, ModelSettings
from workbench.inference.part_position import PartReference
from workbench.inference.region_table import RegionLimit
from workbench.inference.verdict_rule import VerdictRule

WHEN = datetime(2026, 11, 23, 9, 30)


def nothing(done: int, total: int) -> None:
    """Ignore progress."""


def evaluated(run: Run, split: str = "test"):
    project = Project.open(run.project_root, write=False)
    return project, evaluate_run(project, run, split, progress=nothing)


def make_report(run: Run, split: str = "test") -> Document:
    project, evaluation = evaluated(run, split)
    return evaluation_report(project, evaluation, ReportImages(project), WHEN)


def galleries(document: Document) -> list[Gallery]:
    return [block for section in document.sections for block in section.blocks if isinstance(block, Gallery)]


def test_report_of_masks_holds_metrics_errors_and_caveats(run):
    document = make_report(run)
    html = to_html(document)
    page = Page(html)
    assert page.sources and all(source.startswith("data:image/jpeg;base64,") for source in page.sources)
    assert not re.search(r"<script|https?://(?!www\.w3\.org)|url\(", html)
    text = re.sub(r"<[^>]*>", "", html)
    for words in (
        run.name,
        "项目 &amp; [r], 2026-11-23 09:30",
        "Measured on 8 test images of 4 parts",
        "set apart before the training",
        "Recall, any defect6 of 7",
        "6 of 7 (no CI)",
        "1 on 8 images",
        "none is stated below 5 parts",
        "Threshold",
        "5 minutes",
        "The 8 images show 4 parts",
        "Only 7 labeled defects",
    ):
        assert words in text, words
    missed, false, worst = galleries(document)
    assert [image.name for image in missed.images] == [MISSED] and "pit" in missed.images[0].caption
    assert [image.name for image in false.images] == [FALSE] and "probability 1.00" in false.images[0].caption
    assert {image.name for image in worst.images} == {MISSED, FALSE}
    assert missed.images[0].jpeg != false.images[0].jpeg


def test_report_warns_of_choices_on_its_images_and_of_changed_labels(run):
    with Project.open(run.project_root) as project:
        mask = annotation.load_mask(project, "val/p00.png")
        mask[:5] = 2
        annotation.save_mask(project, "val/p00.png", mask)
    text = re.sub(r"<[^>]*>", "", to_html(make_report(run, "val")))
    assert "chosen on validation images" in text and "1 label was changed after the training" in text
    both = re.sub(r"<[^>]*>", "", to_html(make_report(run, "val+test")))
    assert "13 validation and test images" in both
    everything = re.sub(r"<[^>]*>", "", to_html(make_report(run, "all")))
    assert "Training images are included" in everything


def test_report_of_verdicts_holds_confusion_and_calibration(tmp_path):
    document = make_report(make_verdict_project(tmp_path / "v"))
    html = to_html(document)
    Page(html)
    text = re.sub(r"<[^>]*>", " ", html)
    assert "Labeled (row), predicted (column)" in text and "Mean calibration error" in text
    assert "resemble training images" in text  # most images of this project are alike
    (wrong,) = galleries(document)
    assert not wrong.outlines and "labeled NG, predicted OK" in wrong.images[0].caption


def test_galleries_are_limited_and_state_the_total(tmp_path):
    run = make_mask_project(tmp_path / "p", min_area=(9000, 9000))  # misses every defect
    missed = galleries(make_report(run, "all"))[0]
    assert len(missed.images) == MOST and f"{MOST} of 14 missed defects" in missed.legend


def test_page_for_printing_embeds_charts_as_images(run):
    html = to_html(make_report(run), template=PRINT_PAGE)
    assert html.count("data:image/svg+xml;base64,") == 2 and "<svg" not in html and "flex" not in html


def test_printed_table_does_not_break_short_values():
    """A difference such as "-10 points" has one line, in Chinese as well, where any two characters can be parted."""
    table = Table([Message("compare.metric"), Message("report.metrics")], [["a rather long name", "−100 个百分点"]])
    document = Document("t", "s", [], [Section("x", [table])])
    cells = re.findall(r"<td( style=\"white-space: nowrap;[^\"]*\")?>", to_html(document, template=PRINT_PAGE))
    assert [bool(cell) for cell in cells] == [False, True]


def test_chart_distinguishes_series_without_color():
    chart = Chart("t", "x", "y", [Series("a", [(0, 0), (1, 1)]), Series("<b>", [(0, 1), (1, 0)])], mark=(0.5, "here"))
    svg = chart_svg(chart, str, PRINT_COLORS)
    assert svg.count("stroke-dasharray:7 4") == 2  # its line and its entry in the legend
    assert "&lt;b&gt;" in svg and "<b>" not in svg and ">here<" in svg and 'aria-label="t"' in svg
    undefined = chart_svg(Chart("t", "x", "y", [Series("a", [(0.5, float("nan"))])]), str, PRINT_COLORS)
    assert "nan" not in undefined


# --- two runs -------------------------------------------------------------------------------------


def test_comparison_finds_the_image_that_one_run_gets_right(run):
    other = make_other(run, min_area=[9, 4000])  # predicts no bright spot
    project, first = evaluated(run)
    second = evaluate_like(project, other, first, progress=nothing)
    found = compare_masks(first, second)
    by_name = {(metric.figures[0].id, metric.figures[0].name): metric for metric in found.metrics}
    alarms = by_name["false_alarms", ""]
    assert [figure.value for figure in alarms.figures] == [0.125, 0.0] and alarms.difference == -0.125
    assert alarms.outcome == "unknown" and str(alarms.interval) == "only 4 parts, at least 5 are needed"
    assert by_name["recall", ""].outcome == "equal" and ("dice", "pit") in by_name
    assert [(pair.key, pair.errors) for pair in found.pairs] == [(FALSE, (1, 0))]
    document = comparison_report(project, first, second, found, ReportImages(project), WHEN)
    html = to_html(document)
    page = Page(html)
    assert len(page.sources) == 2 and page.sources[0] != page.sources[1]
    assert "Only 4 parts were compared" in html and other.name in html
    (pairs,) = [block for section in document.sections for block in section.blocks if isinstance(block, ImagePairs)]
    assert [image.caption for image in pairs.pairs[0][1:]] == ["errors: 1, Dice 0.62", "no errors, Dice 1.00"]


def test_images_that_either_run_was_trained_on_are_left_out(run):
    other = make_other(run)
    data = json.loads(other.dataset_path.read_text())
    for item in data["items"]:
        if item["key"] == MISSED:
            item["split"] = "train"
    other.dataset_path.write_text(json.dumps(data))
    project, first = evaluated(run)
    found = compare_masks(first, evaluate_like(project, other, first, progress=nothing))
    assert found.images == 7 and found.left_out == 1


def test_comparison_refuses_runs_without_common_images(run, tmp_path):
    other = make_other(run)
    data = json.loads(other.dataset_path.read_text())
    for item in data["items"]:
        item["split"] = "train"
    other.dataset_path.write_text(json.dumps(data))
    project, first = evaluated(run)
    with pytest.raises(RunUnusable, match="no validation or test images in common"):
        evaluate_like(project, other, first, progress=nothing)
    with pytest.raises(RunUnusable, match="another kind"):
        evaluate_like(project, make_verdict_project(tmp_path / "v"), first, progress=nothing)


def test_difference_is_clear_only_if_its_interval_excludes_zero(tmp_path):
    run = make_verdict_project(tmp_path / "v")
    project, first = evaluated(run)
    names = first.verdicts.names

    def flipped(count: int) -> EvaluationComparison:
        """Compare with an evaluation in which the first `count` right verdicts are wrong."""
        images, left = [], count
        for image in first.verdicts.images:
            if left and names[image.predicted] == image.truth:
                images.append(replace(image, probabilities=image.probabilities[::-1]))
                left -= 1
            else:
                images.append(image)
        verdicts = type(first.verdicts)(names, tuple(images))
        return compare_verdicts(first, replace(first, verdicts=verdicts))

    outcome = {count: flipped(count).metrics[0].outcome for count in (0, 1, 12)}
    assert outcome == {0: "equal", 1: "unclear", 12: "worse"}
    assert len(flipped(3).pairs) == 3 and flipped(3).pairs[0].errors == (0, 1)


def difference(id: str, values, interval, edges=None) -> FigureDifference:
    """Return the difference of a figure. edges: interval of the first value."""
    reason = Message("interval.parts", n=2, m=5)
    both = [
        Figure(id, "any", 0, "", value, round(20 * (value or 0)), 20, Interval(*own, "share") if own else reason, 20, 9)
        for value, own in zip(values, (edges, None))
    ]
    return FigureDifference((both[0], both[1]), Interval(*interval, "difference") if interval else reason)


def test_outcome_of_false_alarms_is_better_when_they_fall():
    assert difference("false_alarms", (2.0, 1.0), (-1.5, -0.5)).outcome == "better"
    assert difference("recall", (0.9, 0.5), (-0.6, -0.2)).outcome == "worse"
    assert difference("recall", (None, None), None).outcome == "unknown"


def test_evaluation_of_the_command_equals_that_of_the_window(run):
    _, evaluation = evaluated(run)
    assert isinstance(evaluation, MaskEvaluation) and evaluation.sweep is not None
    recall, alarms = evaluation.figures.get("recall"), evaluation.figures.get("false_alarms")
    assert (recall.hits, recall.total, alarms.hits) == (6, 7, 1)


# --- other parts ----------------------------------------------------------------------------------


def test_report_states_the_expected_range_and_every_change_of_lighting(run):
    assert "on other parts" not in to_html(make_report(run))  # a run of an earlier version
    store_result(run, **stored_result())
    text = re.sub(r"<[^>]*>", " ", to_html(make_report(run)))
    assert "Other parts and changed lighting" in text and "Expect Dice 0.8" in text
    assert re.search(r"darker \(worst\)\s+0\.91\s+−3\.0", text) and re.search(r"unchanged\s+0\.94", text)
    assert all(str(Message(f"lighting.{change}")) in text for change in CHANGES)


def test_report_states_that_few_parts_give_no_range(run):
    store_result(run, **{**stored_result(parts=2), "lighting": None})
    text = re.sub(r"<[^>]*>", " ", to_html(make_report(run)))
    assert "cannot be stated. Only 2 parts of the validation/test images count in the metric." in text
    assert "Measured at the end of the training" in text and "Difference in points" not in text


def test_report_of_verdicts_states_a_share(tmp_path):
    run = store_result(make_verdict_project(tmp_path / "v"), **stored_result(percent=True))
    text = re.sub(r"<[^>]*>", " ", to_html(make_report(run)))
    assert (
        re.search(r"Expect 8\d% to 9\d% correct verdicts on average over other parts", text)
        and "94.0% on 40 parts" in text
    )


@pytest.mark.parametrize(
    "kind, cells",
    [
        (
            "recall",
            [
                "Recall, any defect",
                "92% (80–97%), 18 of 20",
                "91% (no 95% CI: only 2 parts, at least 5 are needed), 18 of 20",
                "−1 point (−9 to +7)",
                "no clear difference",
            ],
        ),
        (
            "accuracy",
            [
                "Accuracy",
                "92% (80–97%), 18 of 20",
                "91% (no 95% CI: only 2 parts, at least 5 are needed), 18 of 20",
                "−1 point (−9 to +7)",
                "no clear difference",
            ],
        ),
        (
            "dice",
            [
                "Dice, any defect",
                "0.92 (0.80–0.97)",
                "0.91 (no 95% CI: only 2 parts, at least 5 are needed), 20 images of 9 parts",
                "−0.01 (−0.09 to +0.07)",
                "no clear difference",
            ],
        ),
    ],
)
def test_comparison_has_one_number_format(kind, cells):
    assert metric_cells(difference(kind, (0.92, 0.91), (-0.09, 0.07), (0.8, 0.97))) == cells


def test_comparison_has_rows_on_other_parts_if_a_run_states_them(run):
    other = make_other(run)
    project, first = evaluated(run)
    second = evaluate_like(project, other, first, progress=nothing)
    metrics = comparison_rows(compare_masks(first, second))
    assert all(outcome for _, outcome in metrics)
    store_result(other, **stored_result())
    rows = comparison_rows(compare_masks(first, second))
    assert len(rows) == len(metrics) + 2 and [row for row in rows if row[1]] == metrics
    expected, lighting = (cells for cells, outcome in rows[4:6] if not outcome)  # after the metrics of all classes
    assert expected[:2] == ["Expected on other parts", "–"] and re.fullmatch(r"0\.8\d to 0\.9\d", expected[2])
    assert lighting == ["Worst changed lighting", "–", "darker 0.91 (−3 points)", "–", ""]
    store_result(run, **stored_result(parts=2))
    found = compare_masks(first, second)
    expected, lighting = (cells for cells, outcome in comparison_rows(found) if not outcome)
    assert expected[1] == "cannot be stated" and lighting[3] == "0.00"
    html = to_html(comparison_report(project, first, second, found, ReportImages(project), WHEN))
    assert "Worst changed lighting" in html and "on its own validation/test images" in html


def test_areas_have_no_exponent():
    areas = (0.00004, 0.04, 144.25, 75_000, 412_500.4)
    assert [rounded_area(area) for area in areas] == ["0.00004", "0.04", "144.2", "75,000", "412,500"]
    assert rounded_area(0) == "0"


def test_large_areas_are_in_square_millimeters():
    """As in the window: the largest area of a text chooses the unit."""
    classes = (ClassSettings(1, "pit", "#ff0000"), ClassSettings(2, "dent", "#00ff00"))
    limits = {"thresholds": (0.5, 0.5), "min_area": (2499, 2500), "um_per_pixel": 20.0}
    settings = ModelSettings(task="segmentation", name="m", classes=classes, **limits)
    table = operating_point_blocks(settings)[1]
    assert isinstance(table, Table)
    assert [str(row[3]) for row in table.rows] == ["2499 (999,600 µm²)", "2500 (1 mm²)"]
    sizes = [(0, 77), (77, 3300), (3300, None)]
    names = [str(size_name(third, size, 20.0)).rpartition("(")[2] for third, size in enumerate(sizes)]
    assert names == ["below 30,800 µm²)", "0.0308–1.32 mm²)", "1.32 mm² and more)"]
    assert str(size_range((20, 80), None)) == "20–80 px²" and str(size_range((20, 80), 10)) == "2,000–8,000 µm²"


def test_zones_and_an_area_that_moves_have_a_sentence_each():
    square = ((100, 90), (540, 90), (540, 390), (100, 390))
    polygons = AreaPolygon(square), AreaPolygon(square[:3], zone="thread")
    area = InspectionArea(WIDTH, HEIGHT, polygons, reference=PartReference.of(view(part(1)), most_angle=4))
    rule = VerdictRule("region", limits=(RegionLimit(1, zone="thread"),))
    settings = ModelSettings(
        **{"task": "segmentation", "name": "m", "classes": (ClassSettings(1, "pit", "#ff0000"),), "min_area": (0,)},
        **{"thresholds": (0.5,), "areas": (area,), "verdict_rule": rule},
    )
    texts = [str(block.text) for block in operating_point_blocks(settings) if isinstance(block, Paragraph)]
    assert any("is inspected (1 polygon, 43% of the image)" in text for text in texts)
    assert any("by up to 64 px and 4° from a reference image" in text for text in texts)
    assert any("in all images without an area of their own: thread." in text for text in texts)
    assert [str(row[2]) for row in operating_point_blocks(settings)[-1].rows] == ["in zone thread"]
