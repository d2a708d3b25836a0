"""Model cards: metrics of the validation/test images, limitations, escaping."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.training.model_card.card_pages import PARITY, Page, project_of
from workbench.core.documents.document import Document, FigureCell, Headline, Paragraph, Points, Section, Table
from workbench.core.documents.run_blocks import labels_revision
from workbench.core.evaluation.expectation import expectation_of
from workbench.core.evaluation.figures import Figure
from workbench.core.evaluation.operating_point import OperatingPointOrigin
from workbench.core.messages import Message
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.runs.run import Run
from workbench.inference.io.image_io import decode_image
from workbench.inference.model_settings import MODEL_FILE, load_settings, save_settings
from workbench.inference.predictor import Predictor
from workbench.inference.region_table import ANY_CLASS, RegionLimit
from workbench.inference.verdict_rule import VerdictRule
from workbench.training.model_card import (
    CARD_FILE,
    README_FILE,
    CardEvaluation,
    CardSources,
    evaluate_holdout,
    make_card,
    to_html,
    to_markdown,
    write_card,
)


@pytest.fixture
def export(trained, tmp_path) -> Path:
    return Path(shutil.copytree(trained.best, tmp_path / "export"))


def test_card_holds_metrics_of_run(trained, export):
    (export / "latency.json").write_text(
        json.dumps(
            {
                "order": ["onnx"],
                "machine": {"processor": "Some processor"},
                "note": "",
                "engines": {"onnx": {"rows": [{"width": 96, "height": 80, "threads": 0, "p50_ms": 4.25, "p95_ms": 5}]}},
            }
        )
    )
    write_card(export, trained, project_of(trained), PARITY, {"python": "3.99"})
    text, html = (export / README_FILE).read_text("utf-8"), (export / CARD_FILE).read_text("utf-8")
    metrics = trained.ending().result["metrics"]
    regions, dataset = metrics["regions"], trained.dataset()
    for words in (
        trained.name,
        "scratch",
        f"{metrics['any_defect']['dice']:.3f}",
        "3.99",
        "4.2",
        "Some processor",
        f"{regions['found']} of {regions['defects']}",
        labels_revision(dataset),
        "8-bit gray",
        f"validation and test: `{dataset.held_out_hash}`",
        "no CI",
    ):
        assert words in text, words
        assert re.sub("`(.*?)`", r"<code>\1</code>", words) in html, words
    page = Page(html)
    assert all(source.startswith("data:image/jpeg;base64,") for source in page.sources)
    for source in page.sources:
        assert max(decode_image(base64.b64decode(source.partition(",")[2])).shape[:2]) == 480
    assert len(page.sources) == len(re.findall(r"^\* `.*`: .*(missed|alarm|Dice)", text, re.M))


def test_card_of_verdicts(trained_resnet, tmp_path):
    folder = Path(shutil.copytree(trained_resnet.best, tmp_path / "export"))
    write_card(folder, trained_resnet, project_of(trained_resnet), PARITY, {})
    text = (folder / README_FILE).read_text("utf-8")
    metrics = trained_resnet.ending().result["metrics"]
    right = round(metrics["accuracy"] * metrics["pictures"])
    assert f"{right} of {metrics['pictures']}" in text and "Every image is predicted as one of OK, NG" in text
    rows = metrics["confusion"]["rows"]
    assert f"| OK | {rows[0][0]} | {rows[0][1]} |" in text and f"| NG | {rows[1][0]} | {rows[1][1]} |" in text
    Page((folder / CARD_FILE).read_text("utf-8"))


def test_card_explains_unsure_verdicts(trained_resnet, tmp_path):
    folder = Path(shutil.copytree(trained_resnet.best, tmp_path / "export"))
    most_certain = sorted(each.probability for each in evaluated(trained_resnet, folder).evaluation.verdicts.images)
    least = (most_certain[0] + most_certain[1]) / 2  # one image is below
    save_settings(replace(load_settings(folder / MODEL_FILE), unsure=least), folder / MODEL_FILE)
    wrong = evaluated(trained_resnet, folder).evaluation.verdicts.band(least).errors
    for language, words in (
        (
            "en",
            (
                "Every image is predicted as one of",
                "is predicted as one of OK, NG or as “unsure”",
                f"1 of {len(most_certain)} images is “unsure”",
                f"{wrong} of the other {len(most_certain) - 1} verdicts {'is' if wrong == 1 else 'are'} wrong",
                "This operating point was set manually in the evaluation.",
            ),
        ),
        (
            "zh_CN",
            (
                "每张图片都会被预测为",
                "会被预测为 OK, NG 之一或“unsure”",
                f"{len(most_certain)} 张图片中有 1 张为“unsure”",
                f"其余 {len(most_certain) - 1} 个判定中有 {wrong} 个错误",
                "此工作点是在评估中手动设定的。",
            ),
        ),
    ):
        write_card(
            folder,
            trained_resnet,
            project_of(trained_resnet),
            PARITY,
            {},
            point=OperatingPointOrigin("review"),
            language=language,
        )
        content = (folder / README_FILE).read_text("utf-8")
        assert words[0] not in content and [text for text in words[1:] if text not in content] == []


@pytest.mark.parametrize(
    ("point", "statement"),
    [
        (OperatingPointOrigin("training", ("val",)), "were not used for training or for any choice"),
        (OperatingPointOrigin("review", ("val",)), "were not used for training or for any choice"),
        (OperatingPointOrigin("review", ("test",)), "The operating point was chosen on them"),
        (OperatingPointOrigin("export", ("val", "test")), "The operating point was chosen on them"),
        (OperatingPointOrigin("export"), "were not used for training or for any choice"),
    ],
)
def test_card_names_images_of_operating_point(trained, point, statement):
    dataset = trained.dataset()
    for item in dataset.of("val"):
        item.split = "test"
    predictor = Predictor.open(trained.best)
    found = evaluate_holdout(project_of(trained), trained, dataset, predictor)
    content = to_markdown(make_card(CardSources(trained, dataset, predictor.settings, found, PARITY, point=point)))
    statements = ("were not used for training or for any choice", "The operating point was chosen on them")
    assert [text for text in statements if text in content] == [statement]
    named = point.chosen_by in ("review", "export")
    assert ("set manually in the evaluation" in content or "requested for the export" in content) == named
    assert ("validation and test images." in content) == (len(point.chosen_on) == 2)


def test_card_states_the_verdict_rule(trained):
    predictor = Predictor.open(trained.best)
    found = evaluate_holdout(project_of(trained), trained, trained.dataset(), predictor)
    id = predictor.settings.classes[0].id

    def content(rule):
        settings = replace(predictor.settings, verdict_rule=rule)
        return to_markdown(make_card(CardSources(trained, trained.dataset(), settings, found, PARITY)))

    assert "anomaly score" not in content(None)
    assert "An image is NG if its anomaly score" in content(VerdictRule("mass", 81.5))
    assert "above 81.5 px²; otherwise it is OK" in content(VerdictRule("mass", 81.5))
    by_region = content(VerdictRule("region", limits=(RegionLimit(id, 40, 0.75),), bad=""))
    assert "it gets the worst: the class with the greatest share" in by_region
    name = predictor.settings.classes[0].name
    assert f"| 0 | {name} | of area from 40 px² or of probability from 0.75 | the class with the greatest" in by_region
    limits = (RegionLimit(ANY_CLASS, most=3, length_below=10, edge=40, outcome="rework"),)
    drawn = content(VerdictRule("region", limits=limits))
    assert "| 3 | region of any class | shorter than 10 px, nearer to the edge than 40 px | rework |" in drawn


def evaluated(run: Run, folder: Path) -> CardEvaluation:
    return evaluate_holdout(project_of(run), run, run.dataset(), Predictor.open(folder))


def test_card_counts_changed_labels_and_missing_images(trained, tmp_path):
    run = Run(shutil.copytree(trained.project_root, tmp_path / "copy") / "runs" / trained.name)
    changed, gone, *_ = [item.key for item in run.dataset().of("val")]
    with Project.open(run.project_root) as project:
        mask = annotation.load_mask(project, changed)
        annotation.save_mask(project, changed, np.ones_like(mask))
        project.image_path(gone).unlink()
    found = evaluated(run, run.best)
    assert found.split == "val" and found.evaluation.changed == 1 and set(found.evaluation.skipped) == {gone}
    assert found.evaluation.figures.images == found.total - 1
    text = to_markdown(make_card(CardSources(run, run.dataset(), Predictor.open(run.best).settings, found, PARITY)))
    assert "1 label was changed" in text and "1 image is not included" in text


def test_card_states_why_no_image_can_be_used(trained, tmp_path):
    run = Run(shutil.copytree(trained.project_root, tmp_path / "copy") / "runs" / trained.name)
    with Project.open(run.project_root) as project:
        for item in run.dataset().of("val", "test"):
            project.image_path(item.key).unlink()
    found = evaluated(run, run.best)
    text = to_markdown(make_card(CardSources(run, run.dataset(), Predictor.open(run.best).settings, found, PARITY)))
    assert found.evaluation is None and found.why and "can be used: " + str(found.why).replace("\\", "\\\\") in text, (
        text
    )


def test_card_without_validation_images_has_no_metrics(trained, tmp_path):
    dataset = trained.dataset()
    for item in dataset.items:
        item.split = "train"
    predictor = Predictor.open(trained.best)
    found = evaluate_holdout(project_of(trained), trained, dataset, predictor)
    card = make_card(CardSources(trained, dataset, predictor.settings, found, PARITY))
    good = next(section for section in card.sections if section.title == "Performance")
    assert card.headlines == [] and [type(block) for block in good.blocks] == [Paragraph]
    assert "no labeled validation or test images" in to_markdown(card)


def test_evaluation_can_be_cancelled(trained):
    def tick(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate_holdout(project_of(trained), trained, trained.dataset(), Predictor.open(trained.best), tick=tick)


def test_names_are_escaped():
    nasty = '<script>alert("1")</script> | `x` <!-- content -->'
    few = Message("interval.parts", n=3, m=5)
    shares = [Figure("recall", "any", 0, "", value, 1, total, few, 3, 3) for value, total in ((1 / 3, 3), (None, 0))]
    rows = [[nasty, *map(FigureCell, shares)]]
    card = Document(nasty, nasty, [Headline(nasty, "1", nasty)], [Section(nasty, [Table([nasty, "a", "b"], rows)])])
    html = to_html(card)
    Page(html)
    assert "<script" not in html and html.count("&lt;script&gt;") >= 5 and "1 of 3" in html
    text = to_markdown(card)
    assert "<" not in text and text.count("&lt;script&gt;") == 7
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert [len(re.findall(r"(?<!\\)\|", line)) for line in table] == [4, 4, 4]


@pytest.mark.parametrize(
    "name", ["<script>", "a | b", "# a", "*a* [b](http://c) _d_", "`<b>", "a\nb", "```", "per_class"]
)
def test_name_in_markdown_is_text(name):
    blocks = [Paragraph(name), Points([name]), Table(["class"], [[name]]), Paragraph(name, warns=True)]
    card = Document(name, name, [Headline(name, name, name)], [Section(name, blocks)])
    plain = " ".join(name.split())
    for line in filter(None, to_markdown(card).splitlines()):
        if line.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", line)) == 2
            continue
        message = re.sub(r"^(##? (?=\S)|\* )", "", line, count=1).replace(r"**Warning:** ", "").replace("**", "")
        assert not re.search(r"<|(?<!\\)[*\[\]`]", message), line
        shown = re.sub(r"\\([^a-z0-9\s])", r"\1", message.replace("&lt;", "<").replace("&gt;", ">"))
        assert plain in shown


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="there is no sha256sum")
def test_checksums_have_format_of_sha256sum(trained, export):
    from workbench.inference.batch.export_package import verify_checks, write_checks, write_package

    write_package(export)
    write_card(export, trained, project_of(trained), PARITY, {})
    write_checks(export)
    named = {line.split("  ", 1)[1] for line in (export / "SHA256SUMS").read_text("utf-8").splitlines()}
    there = {path.relative_to(export).as_posix() for path in export.rglob("*") if path.is_file()}
    assert named == there - {"SHA256SUMS"} and {"card.html", "predict.py", "inference/batch/results_folder.py"} <= named
    subprocess.run([sys.executable, "-c", "import predict; predict.Predictor()"], cwd=export, check=True)
    assert subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=export, capture_output=True).returncode == 0
    assert verify_checks(export) == []
    (export / "predict.py").write_text("changed")
    assert subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=export, capture_output=True).returncode == 1


def test_card_states_what_to_expect_on_other_parts(trained, export):
    write_card(export, trained, project_of(trained), PARITY, {})
    text, html = (export / README_FILE).read_text("utf-8"), (export / CARD_FILE).read_text("utf-8")
    expected = expectation_of(trained)
    assert "## Other parts and changed lighting" in text and expected.range_text in text and expected.range_text in html
    assert re.search(rf"\| {expected.worst.text} \(worst\) \| {expected.number(expected.worst.value)} \| ", text)
