"""A card in Chinese: complete, true to what the English one says, and what people have named stays as it is."""

from __future__ import annotations

import ast
import re
import shutil
import string
from pathlib import Path

import pytest

from tests.training.model_card.test_model_card import PARITY, Page, project_of
from workbench.core.problems import BadSettings
from workbench.core.resources import LANGUAGES
from workbench.inference.predictor import Predictor
from workbench.training import model_card
from workbench.training.export import latency, parity
from workbench.training.model_card.card_content import make_card
from workbench.training.model_card.card_document import (
    CardSection,
    CardShare,
    Code,
    Headline,
    ModelCard,
    Table,
    to_markdown,
)
from workbench.training.model_card.card_evaluation import evaluate_holdout
from workbench.training.model_card.card_translation import catalogue, plain, translator
from workbench.training.model_card.card_writer import CARD_FILE, README_FILE, to_html, write_card
from workbench.training.model_card.provenance import CardSources

CHINESE = re.compile(r"[\u4e00-\u9fff]")
WORDS = re.compile(r"[a-z]{3,} +[a-z]{2,} +[a-z]{2,}")  # what only a sentence has
FOLDER = Path(model_card.__file__).parent


def texts(made: ModelCard) -> list[str]:
    """Everything that a card says, as it asks to have it said."""
    heard: list[str] = []

    def say(text: str) -> str:
        heard.append(text)
        return text

    to_markdown(made, say=say)
    to_html(made, say=say)
    return list(dict.fromkeys(heard))


def fields_of(pattern: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(pattern) if name}


def test_every_translation_has_the_fields_of_its_english():
    found = catalogue("zh_CN")
    assert len(found) > 150 and len({english for english, _ in found}) == len(found)
    for english, chinese in found:
        assert fields_of(english) == fields_of(chinese), english


@pytest.mark.parametrize("kind", ["trained", "trained_resnet"])
def test_no_sentence_of_a_whole_card_stays_english(kind, request):
    run = request.getfixturevalue(kind)
    predictor = Predictor.open(run.best)
    found = evaluate_holdout(project_of(run), run.dataset(), predictor)
    measured = {
        "order": ["onnx"],
        "machine": {"processor": "Some processor"},
        "dygraph": {"p50_ms": 9.0, "network_ms": 7.5},
        "note": "onnx was the quickest for the usual picture.",
        "engines": {
            "onnx": {"rows": [{"width": 96, "height": 80, "threads": 0, "p50_ms": 4.25, "p95_ms": 5}]},
            "int8": {"error": "it did not come to an end"},
        },
    }
    reduced = {
        "passed": False,
        "reduced": "int8",
        "max_abs": 0.2,
        "mask_agreement": 0.9,
        "pictures": 7,
        "why": "its Dice on labelled pictures falls from 0.900 to 0.700",
        "held_out": {"before": {"dice": 0.9, "found": 9}, "after": {"dice": 0.7, "found": 5}},
    }
    made = make_card(
        CardSources(
            run, run.dataset(), predictor.settings, found, {**PARITY, "int8": reduced}, measured, {"system": "x"}
        )
    )
    names = [predictor.settings.name, *(c.name for c in predictor.settings.classes), *predictor.settings.verdicts]
    say, reasons = translator("zh_CN", names), set(run.settings().reasons.values())
    heard = [text for text in texts(made) if text not in reasons]
    assert len(heard) > 60
    left = [text for text in heard if WORDS.search(re.sub("`.*?`", "", say(text)))]
    assert left == []
    html = to_html(made, say=say, language="zh_CN")
    Page(html)
    assert "<html lang=zh-CN>" in html and "有多好" in html


def _templates(module: Path) -> list[str]:
    """Sentences in the sources of a module, each value in them a 7. What is only added to others is left out."""
    tree, found = ast.parse(module.read_text("utf-8")), []
    held = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    held |= {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "7" for part in node.values]
            found.append("".join(map(str, parts)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in held:
            found.append(node.value)
    return [text for text in found if WORDS.search(text) and text[0] not in " ,;." and not text.endswith(" ")]


@pytest.mark.parametrize(
    "module",
    [
        *(FOLDER / f"{name}.py" for name in ("content", "origins", "scores", "look", "blocks", "page")),
        Path(latency.__file__),
        Path(parity.__file__),
    ],
    ids=lambda path: path.stem,
)
def test_no_sentence_in_the_sources_is_without_a_translation(module):
    """Also of those that no card of the tests has ever said."""
    say, found = translator("zh_CN"), _templates(module)
    found = [text for text in found if "python predict.py" not in text and "import" not in text]  # code
    assert [text for text in found if not CHINESE.search(say(text))] == []


def test_names_and_code_stay_and_numbers_move_into_the_sentence():
    say = translator("zh_CN", ["all", "small: yes"])
    assert say("all") == "all" and say("small: yes") == "small: yes" and translator("zh_CN")("all") == "全部"
    assert say("with all") == "有 all" and say("what nobody has translated") == "what nobody has translated"
    assert say("33 % (6 to 79 %), 1 of 3") == "33 %（6–79 %），1/3"
    code = Code("python predict.py FOLDER --watch              # and what is dropped there later\nx = 1")
    assert code.said(say) == "python predict.py FOLDER --watch              # 以及之后放进去的图片\nx = 1"
    made = ModelCard(
        "t",
        "l",
        [Headline("Defects found", "1", "nothing to find")],
        [CardSection("Performance", [Table(["class"], [[CardShare(1, 3)]])])],
    )
    assert "找到的缺陷: **1** 没有可找的缺陷" in to_markdown(made, say=say)
    assert "<svg" in to_html(made, say=say) and "1/3" in to_html(made, say=say)


def test_what_the_run_says_is_taken_from_the_windows_translation():
    said = translator("zh_CN")("Only 3 pictures are held out: the scores are rough.")
    assert CHINESE.search(said) and "3" in said


def test_languages_are_a_choice_and_no_other_is_taken(trained, tmp_path):
    assert translator("en") is plain and list(LANGUAGES) == ["en", "zh_CN"]
    with pytest.raises(BadSettings, match="zh_CN"):
        translator("tlh")
    folder = Path(shutil.copytree(trained.best, tmp_path / "export"))
    write_card(folder, trained, project_of(trained), PARITY, {}, language="zh_CN")
    text, html = (folder / README_FILE).read_text("utf-8"), (folder / CARD_FILE).read_text("utf-8")
    assert "## 适用的界限" in text and "scratch" in text and "requirements.txt" in text and "适用的界限" in html
