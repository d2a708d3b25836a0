"""Guide and READMEs: links, commands, menu names, generated command reference, equal pages in both languages."""

from __future__ import annotations

import argparse
import importlib.util
import re
import xml.etree.ElementTree as ElementTree
from functools import cache
from pathlib import Path

import pytest
from PySide6.QtGui import QAction

from workbench import cli
from workbench.core import resources
from workbench.core.project.exporting import EXPORT_FORMATS
from workbench.core.project.formats import FORMATS
from workbench.ui.actions import menus
from workbench.ui.actions.command_table import Command, Submenu
from workbench.ui.text.formatting import plain
from workbench.ui.training.curve_legend import PLOTS

ROOT = Path(__file__).resolve().parents[3]
GUIDE = ROOT / "resources" / "guide"
READMES = {"en": ROOT / "README.md", "zh_CN": ROOT / "README.zh-CN.md"}
PAGES = [(language, path) for language in READMES for path in sorted((GUIDE / language).glob("*.md"))]
DOCUMENTS = [*PAGES, *READMES.items()]
every_document = pytest.mark.parametrize("language, path", DOCUMENTS, ids=lambda value: getattr(value, "name", value))
EVERY_VERB = {"--help", "-h", "--json", "--debug"}
# Menu paths are emphasized in English and quoted in Chinese.
MENU_PATH = {"en": r"\*([A-Z][^*\n]*? > [^*\n]+?)\*", "zh_CN": r"“([^“”]*? > [^“”]+?)”"}


@cache
def generator():
    spec = importlib.util.spec_from_file_location("guide_update", GUIDE / "update.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def code(text: str) -> list[str]:
    """Return the command lines in a text: lines of code blocks, joined at a backslash, and code in sentences."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    return lines + re.findall(r"`([^`]+)`", without_code(text).replace("\n", " "))


@cache
def options(verb: str) -> frozenset[str]:
    parser = argparse.ArgumentParser(add_help=False)
    cli.load(verb).add_arguments(parser)
    return frozenset(option for action in parser._actions for option in action.option_strings) | EVERY_VERB


def unknown_commands(text: str) -> list[str]:
    """Return each `workbench VERB --option` in a text that the command line does not have."""
    unknown = []
    for line in code(text):
        for command in re.findall(r"(?:^|[ /\\])workbench( [^&;#]*)", line):
            words = command.split()
            if not words or not re.fullmatch(r"[a-z]+", words[0]) or words[0] == "VERB":
                continue
            verb = words[0]
            if verb not in cli.VERBS:
                unknown.append(command)
                continue
            given = {word.split("=")[0] for word in words[1:] if word.startswith("--")}
            unknown += [f"{verb} {option}" for option in sorted(given - options(verb))]
    return unknown


def targets(text: str) -> list[str]:
    return re.findall(r"\]\(([^)\s]+)\)", without_code(text))


def headings(path: Path) -> list[int]:
    """Return the levels of the headings of a page."""
    return [len(marks) for marks in re.findall(r"^(#+) ", without_code(path.read_text("utf-8")), re.MULTILINE)]


@cache
def translations() -> dict[str, str]:
    root = ElementTree.parse(resources.path("i18n/workbench_zh_CN.ts")).getroot()
    return {message.findtext("source"): message.findtext("translation") or "" for message in root.iter("message")}


def menu_paths(actions: dict[str, QAction]) -> set[tuple[str, ...]]:
    """Return the English texts of each menu entry with those of its menus; the mnemonics are left in."""
    paths = set()

    def add(menu: Submenu, above: tuple[str, ...]) -> None:
        for entry in menu.entries:
            if isinstance(entry, Submenu):
                add(entry, (*above, entry.title))
            elif isinstance(entry, Command):
                paths.add((*above, actions[entry.id].text()))

    for menu in menus.menu_tables():
        add(menu, (menu.title,))
    return paths


def test_both_languages_have_the_same_pages_and_headings():
    names = {language: [path.name for other, path in PAGES if other == language] for language in READMES}
    assert names["en"] == names["zh_CN"] and len(names["en"]) > 10
    for name in names["en"]:
        assert headings(GUIDE / "en" / name) == headings(GUIDE / "zh_CN" / name), name
        assert headings(GUIDE / "en" / name).count(1) == 1, name
    assert headings(READMES["en"]) == headings(READMES["zh_CN"])


@every_document
def test_links_point_to_existing_files(language, path):
    found = targets(path.read_text("utf-8"))
    missing = [link for link in found if not link.startswith("http") and not (path.parent / link).is_file()]
    assert not missing
    if path.parent.parent == GUIDE:  # in a package there is nothing else beside the guide
        assert all(link.startswith("http") or "/" not in link for link in found)


def test_index_links_to_every_page():
    for language in READMES:
        linked = set(targets((GUIDE / language / "index.md").read_text("utf-8")))
        assert linked == {path.name for other, path in PAGES if other == language} - {"index.md"}


@every_document
def test_commands_exist(language, path):
    assert not unknown_commands(path.read_text("utf-8"))


def test_unknown_commands_are_found():
    text = "```sh\n.venv/bin/workbench train p --minuets 5\nworkbench my-project\n```\n"
    text += "`workbench trane p` `workbench export p --out x`"
    assert unknown_commands(text) == ["train --minuets", " trane p"]


def quoted_menu_paths(language: str, text: str) -> set[str]:
    found = re.findall(MENU_PATH[language], without_code(text).replace("\n", " "))
    return {re.sub(r" +", " ", name).rstrip("…") for name in found}


def test_menu_names_exist(application):
    paths = menu_paths({action.objectName(): action for action in application.window.table.all()})
    english = {" > ".join(plain(text).rstrip("…") for text in path) for path in paths}
    chinese, untranslated = set(), set()
    for path in paths:
        texts = [plain(translations().get(text) or "").rstrip("…") for text in path]
        if all(texts):
            chinese.add(" > ".join(texts))
        else:  # a new command, whose menus have names already
            untranslated.add(" > ".join(texts[:-1]))
    assert len(english) > 80 and len(chinese) > 80
    for language, path in DOCUMENTS:
        names = quoted_menu_paths(language, path.read_text("utf-8"))
        if language == "en":
            assert names <= english, path
        else:
            assert {name for name in names - chinese if name.rpartition(" > ")[0] not in untranslated} == set(), path
    for language in READMES:
        texts = [path.read_text("utf-8") for other, path in PAGES if other == language]
        assert len(set().union(*(quoted_menu_paths(language, text) for text in texts))) > 20


@pytest.mark.parametrize("language", list(READMES))
def test_command_reference_is_up_to_date(language):
    """`python resources/guide/update.py` renews it."""
    path = GUIDE / language / generator().FILE
    assert path.read_text("utf-8") == generator().reference(language)


def test_hidden_options_are_not_in_the_command_reference():
    for path in GUIDE.glob("*/command-line.md"):
        text = path.read_text("utf-8")
        assert argparse.SUPPRESS not in text and "`--images DIR`" in text and "`--pictures" not in text


def test_every_verb_has_a_chinese_purpose():
    assert set(generator().CHINESE) == set(cli.VERBS)


@pytest.mark.parametrize("language", list(READMES))
def test_every_curve_and_label_format_is_explained(language):
    titles = [definition.title for definition in PLOTS]
    table = (GUIDE / language / "curves.md").read_text("utf-8").split("\n## ")[1]
    assert [title for title in titles if (title if language == "en" else translations()[title]) not in table] == []
    formats = (GUIDE / language / "label-formats.md").read_text("utf-8")
    assert [name for name in (*FORMATS, *EXPORT_FORMATS) if f"`{name}`" not in formats] == []


@pytest.mark.parametrize("path", READMES.values(), ids=lambda path: path.name)
def test_readme_is_short(path):
    assert 60 <= len(path.read_text("utf-8").splitlines()) <= 80


def test_both_readmes_have_the_same_commands():
    blocks = [
        [re.sub(r"\s+#.*", "", line) for line in code(path.read_text("utf-8")) if "workbench " in line and "--" in line]
        for path in READMES.values()
    ]
    assert blocks[0] == blocks[1]


def test_images_of_the_guide_are_shown_and_small():
    """`python packaging/screenshots.py` makes them; pages in both languages show the same ones at the same places."""
    files = {path for language in READMES for path in (GUIDE / language).glob("*.webp")}
    shown = {path.parent / target for _, path in PAGES for target in targets(path.read_text("utf-8"))}
    assert files <= shown and sum(path.stat().st_size for path in files) <= 4 << 20
    assert (ROOT / "resources" / "stroke.webp").stat().st_size <= 2 << 20
    for _, page in PAGES:
        image = re.compile(r"\]\((\w+\.webp)\)")
        texts = [(GUIDE / language / page.name).read_text("utf-8") for language in READMES]
        assert len({tuple(image.findall(text)) for text in texts}) == 1, page.name


@pytest.mark.parametrize("page", ["first-project.md", "tour.md", "evaluation.md", "production.md"])
def test_each_section_of_the_pages_of_a_first_visit_shows_an_image(page):
    """A table says which program is for which number of computers: there is nothing to see."""
    for language in READMES:
        sections = without_code((GUIDE / language / page).read_text("utf-8")).split("\n## ")[1:]
        without = [section.partition("\n")[0] for section in sections if ".webp)" not in section]
        assert set(without) <= {"Several processes and computers", "多个进程和多台计算机"}
