"""Help of the verbs: examples that parse, help and default of each option."""

from __future__ import annotations

import argparse

import pytest

from workbench import cli
from workbench.cli.verb_help import EXAMPLES, default_text


def parser_of(verb: str) -> argparse.ArgumentParser:
    return cli._parser([verb])._subparsers._group_actions[0].choices[verb]


@pytest.mark.parametrize("verb", cli.VERBS)
def test_each_verb_has_two_examples_and_explains_its_options(verb, capsys):
    assert len(EXAMPLES[verb]) == 2
    for example in EXAMPLES[verb]:
        words = example.split()
        options = cli._parser(words).parse_args(words)
        assert options.verb == verb
    parser = parser_of(verb)
    shown = [action for action in parser._actions if action.help != argparse.SUPPRESS]
    assert [action.dest for action in shown if not action.help] == []
    text = " ".join(parser.format_help().split())
    for action in shown:
        assert f"(default: {default_text(action)})" in text or not default_text(action)
    assert f"workbench {EXAMPLES[verb][0]}" in text and "options of several commands:" in text


def test_long_help_has_groups_and_every_default_is_stated():
    settings = parser_of("train").format_help().partition("training settings:")[2]
    assert "--device" in settings.partition("options of several commands:")[0]
    serve = " ".join(parser_of("serve").format_help().split())
    assert "library that runs the network (default: auto)" in serve and "(8123;" in serve
    assert "(2.5 and 1.8)" in " ".join(parser_of("demo").format_help().split())
