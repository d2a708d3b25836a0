"""HTML pages of the server: one to try the model, one that documents the API. They load nothing from other servers."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib import resources
from typing import Any

import jinja2
import yaml

from workbench import __version__


@cache
def test_page() -> str:
    """Return the page for trying the model on a dropped image. Its language (English, Chinese) is the browser's."""
    return _read("page.html")


def description(*, with_token: bool) -> dict[str, Any]:
    """Return the OpenAPI description. with_token: the server requires a token."""
    schema = yaml.safe_load(_read("openapi.yaml"))
    schema["info"]["version"] = __version__
    if not with_token:
        del schema["components"]["securitySchemes"]
        for methods in schema["paths"].values():
            for operation in methods.values():
                operation.pop("security", None)
                operation["responses"].pop("401", None)
    return schema


def docs_page(schema: dict[str, Any]) -> str:
    """Return the OpenAPI description as an HTML page without scripts."""
    template = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(_read("docs.html"))
    return template.render(schema, forms=schema["components"]["schemas"])


@cache
def _read(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hashes(tag: str) -> str:
    """Return the CSP hashes of the pages' inline blocks of `tag`, so that a browser accepts exactly those blocks."""
    text = _read("page.html") + _read("docs.html")
    digests = [hashlib.sha256(block.encode()).digest() for block in re.findall(f"<{tag}>(.*?)</{tag}>", text, re.S)]
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


PAGE_HEADERS = {
    "Content-Security-Policy": (
        f"default-src 'none'; script-src {_hashes('script')}; style-src {_hashes('style')}; "
        "img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
