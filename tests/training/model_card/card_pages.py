"""Model cards: parser of their pages, and runs to describe."""

from __future__ import annotations

from html.parser import HTMLParser

from workbench.core.project.project import Project
from workbench.core.runs.run import Run

PARITY = {"onnx": {"passed": True, "why": "", "max_abs": 1e-6, "mask_agreement": 1.0, "pictures": 7}}


def project_of(run: Run) -> Project:
    return Project.open(run.project_root, write=False)


class Page(HTMLParser):
    """Parser that checks that all tags are closed, and collects the sources of images and links."""

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
