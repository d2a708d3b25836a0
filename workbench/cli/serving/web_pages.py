"""HTML pages of the server: one to try the model, one that documents the API. They load nothing from other servers."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from html import escape
from importlib import resources
from typing import Any


@cache
def test_page() -> str:
    """Return the page for trying the model on a dropped image. Its language (English, Chinese) is the browser's."""
    return _read("page.html")


def docs_page(schema: dict[str, Any]) -> str:
    """Return the OpenAPI description as an HTML page without scripts."""
    parts = [f"<h1>{escape(schema['info']['title'])} {escape(schema['info']['version'])}</h1>"]
    parts.append(f"<p>{escape(schema['info']['description'])}</p>")
    parts.append(f"<pre>{escape(_EXAMPLES)}</pre>")
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            parts += _operation(method.upper(), path, operation)
    parts.append("<h2>Forms of responses</h2>")
    for name, model in sorted(schema["components"]["schemas"].items()):
        if "properties" in model:
            parts += _model(name, model)
    links = '<a href="openapi.json">openapi.json</a>. <a href="./">Try an image</a>.'
    parts.append(f"<p>For programs: {links}</p>")
    return _read("docs.html").replace("<!-- content -->", "\n".join(parts))


_EXAMPLES = """\
curl -F picture=@part.png http://127.0.0.1:8123/predict                                    # JSON
curl --data-binary @part.tif http://127.0.0.1:8123/predict                                 # raw bytes
curl -F picture=@part.png -H 'Accept: image/png' http://127.0.0.1:8123/predict -o mask.png
curl -F picture=@part.png 'http://127.0.0.1:8123/predict?overlay=1' -o overlay.png
curl -F picture=@part.png -H 'Authorization: Bearer TOKEN' http://127.0.0.1:8123/predict   # with --token TOKEN"""


def _operation(method: str, path: str, operation: dict[str, Any]) -> list[str]:
    parts = [f"<h2><code>{method} {escape(path)}</code> {escape(operation.get('summary', ''))}</h2>"]
    body = operation.get("requestBody")
    if body:
        kinds = ", ".join(f"<code>{escape(kind)}</code>" for kind in body["content"])
        parts.append(f"<p>{_prose(body['description'])} Content-Type: {kinds}.</p>")
    rows = [
        (
            f"<code>?{escape(parameter['name'])}=</code> {_type(parameter['schema'])}",
            escape(parameter.get("description", "")),
        )
        for parameter in operation.get("parameters", [])
        if parameter["in"] == "query"
    ]
    rows += [
        (f"<code>{escape(status)}</code>", escape(response.get("description", "")))
        for status, response in sorted(operation["responses"].items())
    ]
    return [*parts, _table(rows)]


def _model(name: str, model: dict[str, Any]) -> list[str]:
    about = _prose(model.get("description", ""))
    rows = [
        (f"<code>{escape(field)}</code> {_type(schema)}", escape(schema.get("description", "")))
        for field, schema in model["properties"].items()
    ]
    return [f'<h3 id="{escape(name)}">{escape(name)}</h3><p>{about}</p>', _table(rows)]


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f'<a href="#{escape(name)}">{escape(name)}</a>'
    if "anyOf" in schema:
        return " or ".join(_type(choice) for choice in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(f"<code>{escape(json.dumps(value))}</code>" for value in schema["enum"])
    if schema.get("type") == "array" and "items" in schema:
        return f"list of {_type(schema['items'])}"
    return escape(schema.get("type", ""))


def _prose(text: str) -> str:
    """Escape text for HTML and turn words in backticks into <code>."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(text))


def _table(rows: list[tuple[str, str]]) -> str:
    return "<table>" + "".join(f"<tr><td>{left}</td><td>{right}</td></tr>" for left, right in rows) + "</table>"


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
