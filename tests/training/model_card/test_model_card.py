"""The card of a model: its numbers are those of the held-out pictures, and it says what it does not know."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.runs.run import Run
from workbench.inference.io.image_io import decode_image
from workbench.inference.model_settings import MODEL_FILE, load_settings, save_settings
from workbench.inference.predictor import Predictor
from workbench.training.model_card.card_content import labels_revision, make_card
from workbench.training.model_card.card_document import (
    CardSection,
    CardShare,
    CardText,
    Headline,
    ModelCard,
    Points,
    Table,
    to_markdown,
)
from workbench.training.model_card.card_evaluation import HoldoutResult, evaluate_holdout
from workbench.training.model_card.card_writer import CARD_FILE, README_FILE, to_html, write_card
from workbench.training.model_card.provenance import CardSources
from workbench.training.operating_point_origin import OperatingPointOrigin

PARITY = {"onnx": {"passed": True, "why": "", "max_abs": 1e-6, "mask_agreement": 1.0, "pictures": 7}}


@pytest.fixture
def export(trained, tmp_path) -> Path:
    return Path(shutil.copytree(trained.best, tmp_path / "export"))


def project_of(run: Run) -> Project:
    return Project.open(run.project_root, write=False)


class Page(HTMLParser):
    """Every tag that opens must close, and nothing may come from elsewhere."""

    EMPTY = {"meta", "img", "br", "i", "rect"}

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.sources: list[str] = []
        self.feed(text)
        assert self.open == [], self.open

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.sources += [values[name] for name in ("src", "href", "action") if name in values]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.EMPTY:
            assert self.open.pop() == tag


def test_the_card_tells_what_the_run_measured(trained, export):
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
        "`val`",
        f"{metrics['any_defect']['dice']:.3f}",
        "3.99",
        "4.2",
        "Some processor",
        f"{regions['found']} of {regions['defects']}",
        labels_revision(dataset),
        "8-bit grey",
        f"held out: `{dataset.held_out_hash}`",
        "too few for an interval",
    ):
        assert words in text, words
        assert re.sub("`(.*?)`", r"<code>\1</code>", words) in html, words
    page = Page(html)
    assert all(source.startswith("data:image/jpeg;base64,") for source in page.sources)
    for source in page.sources:
        assert max(decode_image(base64.b64decode(source.partition(",")[2])).shape[:2]) == 480
    assert len(page.sources) == len(re.findall(r"^\* `.*`: .*(missed|alarm|Dice)", text, re.M))


def test_verdicts_have_a_card_too(trained_resnet, tmp_path):
    folder = Path(shutil.copytree(trained_resnet.best, tmp_path / "export"))
    write_card(folder, trained_resnet, project_of(trained_resnet), PARITY, {})
    text = (folder / README_FILE).read_text("utf-8")
    metrics = trained_resnet.ending().result["metrics"]
    right = round(metrics["accuracy"] * metrics["pictures"])
    assert f"{right} of {metrics['pictures']}" in text and "It always says one of OK, NG" in text
    rows = metrics["confusion"]["rows"]
    assert f"| OK | {rows[0][0]} | {rows[0][1]} |" in text and f"| NG | {rows[1][0]} | {rows[1][1]} |" in text
    Page((folder / CARD_FILE).read_text("utf-8"))


def test_a_band_in_which_no_verdict_is_given_is_told_of(trained_resnet, tmp_path):
    folder = Path(shutil.copytree(trained_resnet.best, tmp_path / "export"))
    surest = sorted(each.confidence for each in looked_at(trained_resnet, folder).verdicts)
    least = (surest[0] + surest[1]) / 2  # one picture lies below
    save_settings(replace(load_settings(folder / MODEL_FILE), unsure=least), folder / MODEL_FILE)
    found = looked_at(trained_resnet, folder)
    wrong = sum(each.truth != each.said for each in found.verdicts if each.confidence >= least)
    for language, words in (
        (
            "en",
            (
                "It always says one of",
                "called one of OK, NG all the same, or “unsure”",
                f"1 of {len(surest)} are “unsure”",
                f"of the {len(surest) - 1} that get a verdict {wrong} are wrong",
                "This operating point was set manually in the evaluation.",
            ),
        ),
        (
            "zh_CN",
            (
                "它总会说出",
                "仍会说出 OK, NG 中的一个，或“unsure”",
                f"{len(surest)} 张中有 1 张为“unsure”",
                f"给出判定的 {len(surest) - 1} 张中有 {wrong} 张判错",
                "这个工作点由人在审查中选定。",
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
        text = (folder / README_FILE).read_text("utf-8")
        assert words[0] not in text and [one for one in words[1:] if one not in text] == []


@pytest.mark.parametrize(
    ("point", "honest"),
    [
        (OperatingPointOrigin("training", ("val",)), "they had no say in any choice"),
        (OperatingPointOrigin("review", ("val",)), "they had no say in any choice"),
        (OperatingPointOrigin("review", ("test",)), "its operating point was chosen by them"),
        (OperatingPointOrigin("export", ("val", "test")), "its operating point was chosen by them"),
        (OperatingPointOrigin("export"), "they had no say in any choice"),
    ],
)
def test_test_pictures_by_which_the_point_was_chosen_did_have_a_say(trained, point, honest):
    dataset = trained.dataset()
    for item in dataset.of("val"):
        item.split = "test"
    predictor = Predictor.open(trained.best)
    found = evaluate_holdout(project_of(trained), dataset, predictor)
    text = to_markdown(make_card(CardSources(trained, dataset, predictor.settings, found, PARITY, point=point)))
    said = [
        words for words in ("they had no say in any choice", "its operating point was chosen by them") if words in text
    ]
    assert said == [honest]
    told = point.chosen_by in ("review", "export")
    assert ("operating point in review" in text or "operating point was asked for" in text) == told
    assert ("pictures of `val` and `test`." in text) == (len(point.chosen_on) == 2)


def looked_at(run: Run, folder: Path) -> HoldoutResult:
    return evaluate_holdout(project_of(run), run.dataset(), Predictor.open(folder))


def test_labels_that_changed_and_pictures_that_are_gone_are_said(trained, tmp_path):
    run = Run(shutil.copytree(trained.project_root, tmp_path / "copy") / "runs" / trained.name)
    changed, gone, *_ = [item.key for item in run.dataset().of("val")]
    with Project.open(run.project_root) as project:
        mask = annotation.load_mask(project, changed)
        annotation.save_mask(project, changed, np.ones_like(mask))
        project.image_path(gone).unlink()
    found = evaluate_holdout(project_of(run), run.dataset(), Predictor.open(run.best))
    assert found.split == "val" and found.changed == 1 and found.unreadable == 1
    assert len(found.facts) == found.total - 1
    text = to_markdown(make_card(CardSources(run, run.dataset(), Predictor.open(run.best).settings, found, PARITY)))
    assert "1 labels were changed" in text and "1 held-out pictures are left out" in text


def test_without_held_out_pictures_no_number_is_invented(trained, tmp_path):
    dataset = trained.dataset()
    for item in dataset.items:
        item.split = "train"
    predictor = Predictor.open(trained.best)
    found = evaluate_holdout(project_of(trained), dataset, predictor)
    card = make_card(CardSources(trained, dataset, predictor.settings, found, PARITY))
    good = next(section for section in card.sections if section.title == "Performance")
    assert card.headlines == [] and [type(block) for block in good.blocks] == [CardText]
    assert "no labelled pictures were held out" in to_markdown(card)


def test_one_that_is_told_to_end_ends(trained):
    def tick(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate_holdout(project_of(trained), trained.dataset(), Predictor.open(trained.best), tick=tick)


def test_what_people_have_named_stays_text():
    nasty = '<script>alert("1")</script> | `x` <!-- content -->'
    rows = [[nasty, CardShare(1, 3), CardShare(0, 0)]]
    card = ModelCard(
        nasty, nasty, [Headline(nasty, "1", nasty)], [CardSection(nasty, [Table([nasty, "a", "b"], rows)])]
    )
    html = to_html(card)
    Page(html)
    assert "<script" not in html and html.count("&lt;script&gt;") >= 5 and "33 % (6 to 79 %), 1 of 3" in html
    text = to_markdown(card)
    assert "<" not in text and text.count("&lt;script&gt;") == 7
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert [len(re.findall(r"(?<!\\)\|", line)) for line in table] == [4, 4, 4]


@pytest.mark.parametrize(
    "name", ["<script>", "a | b", "# a", "*a* [b](http://c) _d_", "`<b>", "a\nb", "```", "per_class"]
)
def test_a_name_in_markdown_is_text(name):
    blocks = [CardText(name), Points([name]), Table(["class"], [[name]]), CardText(name, warns=True)]
    card = ModelCard(name, name, [Headline(name, name, name)], [CardSection(name, blocks)])
    plain = " ".join(name.split())
    for line in filter(None, to_markdown(card).splitlines()):
        if line.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", line)) == 2
            continue
        said = re.sub(r"^(##? (?=\S)|\* )", "", line, count=1).replace(r"**Beware:** ", "").replace("**", "")
        assert not re.search(r"<|(?<!\\)[*\[\]`]", said), line
        shown = re.sub(r"\\([^a-z0-9\s])", r"\1", said.replace("&lt;", "<").replace("&gt;", ">"))
        assert plain in shown


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="there is no sha256sum")
def test_sums_of_every_file_are_in_the_form_of_sha256sum(trained, export):
    from workbench.inference.batch.checksums import verify_checks, write_checks
    from workbench.inference.batch.export_package import write_package

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
