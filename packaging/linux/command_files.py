"""Completion and man page of the command line, for the Debian package."""

from __future__ import annotations

import argparse
import gzip
import re
from pathlib import Path

from workbench import __version__, cli


def write_command_files(share: Path) -> list[Path]:
    """Write the files below `share`, the folder usr/share of a package. Return their paths."""
    import shtab

    parser = cli._parser([], complete=True)
    contents = {
        "bash-completion/completions/workbench": shtab.complete(parser, "bash").encode(),
        "zsh/vendor-completions/_workbench": shtab.complete(parser, "zsh").encode(),
        "man/man1/workbench.1.gz": gzip.compress(man_page(parser).encode(), mtime=0),
    }
    for name, content in contents.items():
        (share / name).parent.mkdir(parents=True, exist_ok=True)
        (share / name).write_bytes(content)
    return [share / name for name in contents]


def man_page(parser: argparse.ArgumentParser) -> str:
    """Return the page of a parser with one section per verb, in the format of man(7)."""
    verbs = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction)).choices
    lines = [
        f'.TH WORKBENCH 1 "" "Defect Workbench {__version__}" "Commands"',
        *(".SH NAME", "workbench \\- label surface defects, train models and export them"),
        *(".SH SYNOPSIS", ".B workbench", "[PROJECT]", ".br", ".B workbench", "VERB [OPTIONS]"),
        *(".SH DESCRIPTION", _text(f"{parser.description} {parser.epilog}")),
        *(".SH EXIT STATUS", _text("0: success; 1: a problem, reported in one sentence; 2: wrong use.")),
    ]
    for verb, sub in verbs.items():
        lines += [f".SH {verb.upper()}", _text(sub.description), ".PP", *_preformatted(sub.format_usage())]
        for action in sub._actions:
            if action.help and action.help != argparse.SUPPRESS and not isinstance(action, argparse._HelpAction):
                names = ", ".join(action.option_strings) or str(action.metavar or action.dest)
                value = (
                    f" {action.metavar or action.dest.upper()}" if action.option_strings and action.nargs != 0 else ""
                )
                shown = sub._get_formatter()._expand_help(action)
                lines += [".TP", ".B " + _text(names + value), _text(shown)]
        lines += [".PP", *_preformatted(sub.epilog or "")]
    return "\n".join(lines) + "\n"


def _text(text: str | None) -> str:
    escaped = re.sub(r"\s+", " ", text or "").replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped[:1] in ".'" else escaped


def _preformatted(text: str) -> list[str]:
    return [".nf", *(_text_line(line) for line in text.splitlines()), ".fi"]


def _text_line(line: str) -> str:
    escaped = line.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped[:1] in ".'" else escaped
