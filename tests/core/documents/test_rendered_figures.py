"""All figures wherever they are shown: page, report, model card, comparison, command text and JSON.

Each place is read as a user does: words that name a quantity, and the text beside them. Every name must be that of a
figure, and every text must state its value, counts and interval.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from html.parser import HTMLParser
from typing import Any

import pytest

from tests.core.documents.report_runs import make_other
from tests.session.mask_run import make_mask_project
from tests.session.verdict_run import make_verdict_project
from tests.training.model_card.card_pages import PARITY
from workbench import cli
from workbench.cli.train import summary
from workbench.core.documents import run_blocks
from workbench.core.documents.comparison_report import compare_evaluations, comparison_report
from workbench.core.documents.document import Document, Section, Table, to_html
from workbench.core.documents.report_content import ReportImages, evaluation_report
from workbench.core.evaluation import figure_texts
from workbench.core.evaluation.figure_texts import mask_report, stored_figures, verdict_report
from workbench.core.evaluation.figures import Figure, Figures
from workbench.core.evaluation.split_evaluation import FIGURES_ONLY, SplitEvaluation, evaluate_like, evaluate_run
from workbench.core.messages import Message
from workbench.core.project.project import Project
from workbench.core.runs.run import Run
from workbench.inference.predictor import Predictor
from workbench.training.model_card import CardSources, evaluate_holdout, make_card, to_markdown
from workbench.ui.evaluation.confusion_table import ConfusionTable, HeadlineMetrics
from workbench.ui.evaluation.evaluation_tables import ClassTable
from workbench.ui.widgets.theme import ThemeManager

Shown = Iterable[tuple[str, str]]  # words and text
Rows = set[tuple[Any, ...]]
WHEN = datetime(2026, 11, 23, 9, 30)
HEADLINES = ("recall", "recall_right_class", "false_alarms", "dice")
SIZES = ((0, 30), (30, 900), (900, None))  # areas of defects in pixels


def named(figures: Figures, words: str) -> Figure:
    """Return the figure with a name. "Any defect" may be added to the name of a metric that says it by itself."""
    names = {str(figure_texts.name(row)).casefold(): row for row in figures.rows}
    words = " ".join(words.split()).casefold()
    found = names.get(words) or names.get(words.removesuffix(", any defect"))
    assert found is not None, (words, sorted(names))
    return found


def states(figure: Figure, text: str) -> bool:
    """Return True if a text states the value of a figure, rounded to its digits, with the interval or the reason."""
    if figure.missing:
        return text in ("–", "Not measured", f"– ({figure.missing})")
    text, _, why = text.partition(" (no 95% CI: ")
    if why and not why.startswith(f"{figure.interval})"):
        return False
    text, brief, _ = text.partition(" (no CI)")  # the reason stands once beside the table
    if brief and (figure.edges is not None or "at least 5 are needed" not in figure.interval):
        return False
    scale = 100 if "%" in text else 1
    numbers = [float(each.replace("−", "-")) for each in re.findall(r"−?\d+(?:\.\d+)?", text)]
    digits = re.findall(r"−?\d+(?:\.(\d+))?", text)
    if found := re.match(r"(\d+) of (\d+)", text):
        return (int(found[1]), int(found[2])) == (figure.hits, figure.total)
    if re.match(r"[\d.]+–", text):  # only an interval, because too little was counted for one number
        expected = list(figure.edges or ())
    elif re.match(r"[\d.]+%? \([\d.]+–", text):
        expected = [figure.value, *(figure.edges or ())]
    else:
        expected = [figure.value]
    numbers = numbers[: len(expected)]
    errors = [abs(scale * wanted - number) for wanted, number in zip(expected, numbers, strict=True)]
    return bool(errors) and all(error <= 0.5001 * 10 ** -len(places) for error, places in zip(errors, digits))


def check(figures: Figures, shown: Shown) -> Rows:
    """Compare everything that is shown with the figures. Return the shown ones."""
    seen = set()
    for words, text in shown:
        row = named(figures, words)
        assert states(row, text), (words, text, row)
        seen.add((row.id, row.scope, row.of))
    assert seen
    return seen


def of_scopes(figures: Figures, *scopes: str) -> Rows:
    """Return figures of classes and verdicts that tables show, and all figures of other scopes."""
    shown = {row.id for row in figures.rows if row.scope in ("class", "verdict") and row.metric.shown}
    each = {"class", "verdict", "mean"}
    rows = [row for row in figures.rows if row.scope in scopes and (row.scope not in each or row.id in shown)]
    return {(row.id, row.scope, row.of) for row in rows}


# --- places -------------------------------------------------------------------------------------------


class HtmlTables(HTMLParser):
    """Texts of the cells of all tables."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self._inside = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self._inside = True

    def handle_endtag(self, tag):
        self._inside = self._inside and tag not in ("td", "th")

    def handle_data(self, data):
        if self._inside:
            self.tables[-1][-1][-1] += data


def markdown_tables(text: str) -> Iterator[list[list[str]]]:
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if line.startswith("|")]
        if len(lines) > 2:
            rows = [[re.sub(r"\\(.)", r"\1", cell.strip()) for cell in line.strip("|").split("|")] for line in lines]
            yield [rows[0], *rows[2:]]


def table_cells(figures: Figures, tables: Iterable[list[list[str]]]) -> Shown:
    """Yield the figures in tables of classes, whose columns are metrics, and in lists of figures."""
    metrics = {str(figure_texts.metric_name(row.id)).casefold() for row in figures.rows}
    for head, *lines in tables:
        heads = [" ".join(text.split()) for text in head]
        for label, *cells in ([" ".join(text.split()) for text in line] for line in lines):
            if heads == [str(Message("card.of_whole")), str(Message("card.value"))]:
                yield label, cells[0]
            elif set(map(str.casefold, heads[1:])) <= metrics:
                # A table has no cell where there is no such figure, such as the recall as a mean of classes.
                known = [(metric, text) for metric, text in zip(heads[1:], cells) if text not in ("–", "")]
                yield from ((f"{metric}, {label}", text) for metric, text in known)


def document_cells(figures: Figures, document: Document) -> Shown:
    yield from ((head.name, head.value) for head in document.headlines if not head.value.endswith("ms"))
    yield from table_cells(figures, HtmlTables(to_html(document)).tables)


def qt_cells(table: ClassTable) -> list[list[str]]:
    columns = range(table.columnCount())
    heads = [table.horizontalHeaderItem(column).text() for column in columns]
    return [heads, *([table.item(row, column).text() for column in columns] for row in range(table.rowCount()))]


def page_cells(evaluation: SplitEvaluation, theme: ThemeManager) -> Shown:
    figures = evaluation.figures
    unet = evaluation.dataset.model == "unet"
    headline = HeadlineMetrics(*(HEADLINES if unet else ("accuracy", "f1")))
    headline.show_figures(figures, None)
    yield from ((metric.caption.text(), metric.number.text()) for metric in headline.metrics.values())
    if unet:
        table = ClassTable()
        table.show_figures(figures, {id: (name, "#ff0000") for id, name in figures.classes.items()}, None, masks=True)
        yield from table_cells(figures, [qt_cells(table)[: 1 + len(figures.classes) + 2]])  # without sizes of defects
        return
    matrix = ConfusionTable(theme)
    matrix.show_verdicts(figures)
    last = matrix.columnCount() - 1
    recall = matrix.horizontalHeaderItem(last).text()
    for row in range(matrix.rowCount()):
        yield f"{recall}, {matrix.item(row, 0).text()}", matrix.item(row, last).text()


def sentence_cells(figures: Figures, text: str) -> Shown:
    """Yield the figures in lines that name each before its value, except those of single classes."""
    for name in figures.classes.values():
        text = re.sub(rf"^  {re.escape(name)}: .*$", "", text, flags=re.MULTILINE)
    for row in figures.rows:
        name = str(figure_texts.name(row))
        for found in re.finditer(rf"(?:^|[;·] *|  ){re.escape(name)}:? ([\d–][^;·\n]*)", text, re.MULTILINE):
            yield name, found[1].strip()


def class_lines(figures: Figures, text: str) -> Shown:
    """Yield the figures of the lines of single classes in the text of a command."""
    for name in figures.classes.values():
        for line in re.findall(rf"^  {re.escape(name)}: (.*)$", text, re.MULTILINE):
            for entry in line.split("; "):
                metric, value = re.fullmatch(r"(.*?) ([\d–].*)", entry).groups()
                yield f"{metric}, {name}", value


def json_cells(figures: Figures, found: dict[str, Any]) -> Rows:
    """Compare the JSON object: its rows, and the keys of main figures."""
    assert found["figures"] == json.loads(json.dumps([row.to_json() for row in figures.rows]))
    seen = set()
    for row in figures.rows:
        if row.scope in ("any", "mean"):
            key = {"f1": "macro_f1"}.get(row.id, row.id)
            keys = [key] if row.scope == "mean" or key in found else [f"{key}_any"]
            keys += [f"{key}_any"] if row.scope == "any" and f"{key}_any" in found else []
            stated = [(found[each], found[f"{each}_interval"]) for each in keys]
            seen |= {(row.id, row.scope, row.of)} if (row.value, row.edges) in stated else set()
        elif row.scope in ("class", "verdict"):
            entry, own = found["per_class"][row.name], row.id.removeprefix("verdict_").removeprefix("pixel_")
            own = "recall_defects" if row.id == "recall" else own
            assert entry[own] == row.value, row
            seen.add((row.id, row.scope, row.of))
    return seen


# --- tests ----------------------------------------------------------------------------------------------


@pytest.fixture(params=["unet", "resnet"])
def evaluated(request, tmp_path) -> tuple[Project, Run, SplitEvaluation]:
    run = (make_mask_project if request.param == "unet" else make_verdict_project)(tmp_path / "project")
    project = Project.open(run.project_root, write=False)
    return project, run, evaluate_run(project, run, "all", progress=lambda done, total: None)


def test_page_report_and_card_show_the_figures_with_their_names(evaluated, qapp):
    project, run, evaluation = evaluated
    figures, theme = evaluation.figures, ThemeManager(qapp)
    assert any(row.edges is not None for row in figures.rows if row.value is not None)
    report = evaluation_report(project, evaluation, ReportImages(project), WHEN)
    everything = of_scopes(figures, "any", "good", "class", "verdict", "mean")
    assert check(figures, document_cells(figures, report)) == everything
    found = evaluate_holdout(project, run, run.dataset(), Predictor.open(run.best))
    own = found.evaluation.figures
    card = make_card(CardSources(run, run.dataset(), evaluation.settings, found, PARITY))
    expected = of_scopes(own, "any", "good", "class", "verdict", "mean")
    expected -= {(row.id, row.scope, row.of) for row in own.rows if row.value is None}
    assert check(own, document_cells(own, card)) >= expected
    accuracy = {("accuracy", "any", 0)}  # a headline of the card, which the file for Markdown writes as a list
    assert check(own, table_cells(own, markdown_tables(to_markdown(card)))) >= expected - accuracy
    page = check(figures, page_cells(evaluation, theme))
    if run.dataset().model == "unet":
        assert page >= of_scopes(figures, "class", "mean")
    else:
        assert page == {("accuracy", "any", 0), ("f1", "mean", 0)} | {
            ("verdict_recall", "verdict", name) for name in figures.classes
        }


@pytest.mark.parametrize("split", ["all", "test"])  # with intervals, and with too few parts for them
def test_end_of_the_training_shows_the_same_texts(evaluated, split):
    project, run, _ = evaluated
    figures = evaluate_run(project, run, split, options=FIGURES_ONLY, progress=lambda done, total: None).figures
    report = (mask_report if run.dataset().model == "unet" else verdict_report)(figures)
    for row in stored_figures(json.loads(json.dumps(report))):
        assert str(figure_texts.text(row)) == str(figure_texts.text(figures.get(row.id, row.scope)))


def test_reason_for_missing_intervals_is_stated_once(tmp_path):
    run = make_mask_project(tmp_path / "project")
    project = Project.open(run.project_root, write=False)
    evaluation = evaluate_run(project, run, "test", progress=lambda done, total: None)
    assert evaluation.figures.parts < 5
    found = evaluate_holdout(project, run, run.dataset(), Predictor.open(run.best))
    card = make_card(CardSources(run, run.dataset(), evaluation.settings, found, PARITY))
    for document in (evaluation_report(project, evaluation, ReportImages(project), WHEN), card):
        html = to_html(document)
        cells = [cell for table in HtmlTables(html).tables for line in table for cell in line]
        assert html.count("none is stated below 5 parts") == 1 and any("(no CI)" in cell for cell in cells)
        assert not any("are needed" in text for text in (*cells, *(each.detail for each in document.headlines)))


def test_what_is_not_measured_has_its_reason_everywhere(tmp_path, qapp):
    """A class without labels, and false alarms of images that all have a defect, which would be 0.00."""
    run = make_mask_project(tmp_path / "project")
    project = Project.open(run.project_root, write=False)
    items = [item for item in run.dataset().items if item.classes]
    rest = {"options": FIGURES_ONLY, "progress": lambda done, total: None}
    evaluation = evaluate_run(project, run, "all", items=[each for each in items if each.classes == [1]], **rest)
    figures = evaluation.figures
    assert figures.good == 0 and len(figures.classes) > 1
    document = Document("", "", run_blocks.headlines(figures), [Section("", run_blocks.tables(evaluation))])
    html, printed = to_html(document), summary(mask_report(figures))
    assert "Not measured" in html and "– (no good images)" in html and "– (no labels)" in html
    assert "False alarms per image – (no good images)" in printed and "Dice, any defect 0" in printed
    headline = HeadlineMetrics("false_alarms")
    headline.show_figures(figures, None)
    metric = headline.metrics["false_alarms"]
    assert (metric.number.text(), metric.detail.text()) == ("Not measured", "no good images")


def test_sizes_of_defects_have_the_same_words(tmp_path, qapp):
    rows = [Figure("recall", "size", of, "", 0.9, 27, 30, Message("interval.not_stored"), 9, 9) for of in SIZES]
    run = make_mask_project(tmp_path / "project")
    project = Project.open(run.project_root, write=False)
    evaluation = evaluate_run(project, run, "all", options=FIGURES_ONLY, progress=lambda done, total: None)
    settings = replace(evaluation.settings, um_per_pixel=None)
    figures = replace(evaluation.figures, rows=(*(r for r in evaluation.figures.rows if r.scope != "size"), *rows))
    evaluation = replace(evaluation, settings=settings, images=replace(evaluation.images, figures=figures))
    lines = [line for block in run_blocks.tables(evaluation) if isinstance(block, Table) for line in block.rows]
    report = {str(line[0]).partition(": ")[2]: line[1].text for line in lines if ": " in str(line[0])}
    table = ClassTable()
    table.show_figures(figures, {id: (name, "#ff0000") for id, name in figures.classes.items()}, None, masks=True)
    page = {line[0]: line[1] for line in qt_cells(table)}
    for of, row in zip(SIZES, rows):
        words = str(run_blocks.size_range(of, None))
        assert states(row, report[words]) and states(row, page[words])


def test_command_and_comparison_show_the_figures_with_their_names(evaluated, capsys):
    project, run, evaluation = evaluated
    figures, command = evaluation.figures, ["evaluate", str(run.project_root), "--run", run.name, "--split", "all"]
    assert cli.main(command) == 0
    text = capsys.readouterr().out
    seen = check(figures, [*sentence_cells(figures, text), *class_lines(figures, text)])
    main = [("recall", "any", 0), ("recall_right_class", "any", 0), ("false_alarms", "good", 0), ("dice", "any", 0)]
    whole = main if run.dataset().model == "unet" else [("accuracy", "any", 0), ("f1", "mean", 0)]
    assert seen >= {*whole, *of_scopes(figures, "class")}
    assert cli.main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert json_cells(figures, found) >= of_scopes(figures, "any", "mean", "class", "verdict")
    other = make_other(run)
    second = evaluate_like(project, other, evaluation, progress=lambda done, total: None)
    comparison = compare_evaluations(evaluation, second)
    compared = evaluate_run(
        project, run, "", items=run.dataset().of("val", "test"), progress=lambda done, total: None
    ).figures
    document = comparison_report(project, evaluation, second, comparison, ReportImages(project), WHEN)
    head, *lines = HtmlTables(to_html(document)).tables[0]
    assert head[1:3] == [run.name, other.name]
    for column in (1, 2):
        cells = [(line[0], line[column]) for line in lines]
        assert check(compared, cells) >= {*whole} - {("false_alarms", "good", 0), ("f1", "mean", 0)}
