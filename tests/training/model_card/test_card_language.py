"""Model cards in Chinese: complete, with names, code and numbers unchanged."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.training.model_card.card_pages import PARITY, Page, project_of
from workbench.core.documents.document import Code, Document, FigureCell, Headline, Paragraph, Points, Section, Table
from workbench.core.evaluation.figures import Figure
from workbench.core.evaluation.intervals import Interval
from workbench.core.messages import Message, catalog
from workbench.core.problems import BadSettings
from workbench.core.resources import LANGUAGES
from workbench.core.runs.export_options import ExportOptions
from workbench.core.runs.training_settings import TrainingSettings
from workbench.inference.predictor import Predictor
from workbench.training.model_card import (
    CARD_FILE,
    README_FILE,
    CardSources,
    evaluate_holdout,
    make_card,
    to_html,
    to_markdown,
    write_card,
)

SENTENCE = re.compile(r"[a-z]{3,} +[a-z]{2,} +[a-z]{2,}")


@pytest.mark.parametrize("kind", ["trained", "trained_resnet"])
def test_whole_card_is_chinese(kind, request):
    run = request.getfixturevalue(kind)
    predictor = Predictor.open(run.best)
    found = evaluate_holdout(project_of(run), run, run.dataset(), predictor)
    measured = {
        "order": ["onnx"],
        "machine": {"processor": "Some processor"},
        "dygraph": {"p50_ms": 9.0, "network_ms": 7.5},
        "note": Message("latency.quickest", engine="onnx"),
        "engines": {
            "onnx": {"rows": [{"width": 96, "height": 80, "threads": 0, "p50_ms": 4.25, "p95_ms": 5}]},
            "int8": {"error": Message("latency.timeout")},
        },
    }
    reduced = {
        "passed": False,
        "reduced": "int8",
        "max_abs": 0.2,
        "mask_agreement": 0.9,
        "pictures": 7,
        "why": Message("parity.metric", name="Dice", n="0.900", m="0.700"),
        "held_out": {
            "before": {"dice": 0.9, "found": 9, "defects": 9},
            "after": {"dice": 0.7, "found": 5, "defects": 9},
        },
    }
    sources = CardSources(
        run, run.dataset(), predictor.settings, found, {**PARITY, "int8": reduced}, measured, {"system": "x"}
    )
    card = make_card(sources)
    for content in (to_markdown(card, "zh_CN"), to_html(card, "zh_CN").partition("<body>")[2]):
        text = re.sub(r"`[^`]*`|<code>.*?</code>|<pre>.*?</pre>|<[^>]*>", "", content, flags=re.DOTALL)
        assert [line for line in text.splitlines() if SENTENCE.search(line)] == []
    html = to_html(card, "zh_CN")
    Page(html)
    assert "<html lang=zh-CN>" in html and "性能" in html


def test_every_setting_has_a_name():
    settings = {id.removeprefix("setting.") for id in catalog() if id.startswith("setting.")}
    assert settings == TrainingSettings.model_fields.keys() - {"format", "reasons"}


def test_names_and_code_are_not_translated():
    third = Figure("recall", "any", 0, "", 1 / 3, 20, 60, Interval(0.06, 0.79, "share"), 60, 9)
    rows = [["all", FigureCell(third)], [Message("card.all"), "The label is not learned from."]]
    blocks = [Table(["class", Message("card.class")], rows), Code([("python x.py  ", Message("card.code_watch"))])]
    blocks += [Paragraph("the file is empty"), Points([Message("card.images_with", name="all")])]
    detail = Message("report.no_errors")
    card = Document("t", "l", [Headline(Message("figure.recall"), "1", detail)], [Section("s", blocks)])
    text = to_markdown(card, "zh_CN")
    assert "* 召回率: **1** 没有错误\n" in text and "| class | 类别 |" in text and "* 含 all\n" in text
    assert "| all | 33%（6–79%），20 / 60 |" in text and "| 全部 | The label is not learned from. |" in text
    assert "```\npython x.py  # 也预测之后加入的图片\n```" in text and "\nthe file is empty\n" in text
    assert "<svg" in to_html(card, "zh_CN")


def test_language_is_checked_and_used(trained, tmp_path):
    assert {"en", "zh_CN"} <= {*LANGUAGES}
    with pytest.raises(BadSettings, match="zh_CN"):
        ExportOptions(language="tlh").check()
    folder = Path(shutil.copytree(trained.best, tmp_path / "export"))
    write_card(folder, trained, project_of(trained), PARITY, {}, language="zh_CN")
    text, html = (folder / README_FILE).read_text("utf-8"), (folder / CARD_FILE).read_text("utf-8")
    assert "## 局限" in text and "scratch" in text and "requirements.txt" in text and "局限" in html
