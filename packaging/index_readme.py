"""README of the distribution: README.md without links to files, which lead nowhere on the page of an index."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_PICTURE = re.compile(r"^!\[[^\]]*\]\([^)]*\)\n+", re.MULTILINE)
_COMMENT = re.compile(r"^<!--.*?-->\n", re.MULTILINE | re.DOTALL)
_LANGUAGE = re.compile(r"^\[[^\]]*\]\([^)]*\.md\) · ", re.MULTILINE)  # the same page in another language
_LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|#)[^)]*\)")


def index_readme(text: str) -> str:
    """Return a README without pictures and comments, and with the text of each relative link instead of the link."""
    for left_out in (_PICTURE, _COMMENT, _LANGUAGE):
        text = left_out.sub("", text)
    return _LINK.sub(r"\1", text)


class CustomMetadataHook(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        text = Path(self.root, "README.md").read_text("utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": index_readme(text)}
