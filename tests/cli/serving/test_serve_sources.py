"""Requests of other websites, tokens of servers with result outputs, and names of parts, by raw requests."""

from __future__ import annotations

import socket
import sys
from urllib.parse import quote

import httpx
import numpy as np
import pytest

from tests.cli.serving.conftest import png, read_responses
from workbench import cli

IMAGE = png(np.full((30, 40), 250, np.uint8))
FOREIGN = [
    ["Origin: http://evil.example"],
    ["Origin: null"],
    ["Origin: http://127.0.0.1:1"],
    ["Origin: http://127.0.0.1.evil.example:PORT"],
    ["Origin: http://127.0.0.1:PORT", "Origin: http://evil.example"],
    ["Sec-Fetch-Site: cross-site"],
    ["Sec-Fetch-Site: same-site"],
    ["sec-fetch-site: CROSS-SITE", "Origin: http://127.0.0.1:PORT"],
]
OWN = [[], ["Origin: http://127.0.0.1:PORT"], ["Origin: HTTP://127.0.0.1:PORT", "Sec-Fetch-Site: same-origin"]]


def ask(running, line, *headers, body=b""):
    """Return (status, whole response) of a request whose header has exactly these lines. PORT: that of the server."""
    port = running.url.rpartition(":")[2]
    lines = [f"{line} HTTP/1.1", "Host: 127.0.0.1:PORT", *headers, f"Content-Length: {len(body)}", "", ""]
    request = "\r\n".join(lines).replace("PORT", port).encode() + body
    with socket.create_connection(("127.0.0.1", int(port)), 60) as connection:
        connection.sendall(request)
        ((head, content),) = read_responses(connection, 1)
    return int(head.split()[1]), head + content


def test_requests_of_other_websites_are_refused_in_every_path(server, gray_export):
    running = server(gray_export)
    for line in ("POST /predict", "POST /predict?overlay=1", "GET /", "GET /docs", "GET /health", "GET /metrics"):
        body = IMAGE if line.startswith("POST") else b""
        for headers in FOREIGN:
            assert ask(running, line, *headers, body=body)[0] == 403, (line, headers)
        for headers in OWN:
            assert ask(running, line, *headers, body=body)[0] == 200, (line, headers)
    assert ask(running, "OPTIONS /predict", FOREIGN[0][0], "Access-Control-Request-Method: POST")[0] == 403


def test_page_behind_a_proxy_that_replaces_the_host_is_the_own_one(server, gray_export):
    running = server(gray_export, "--allow-host", "line.example")
    for line in ("POST /predict", "POST /predict?overlay=1"):
        assert ask(running, line, "Origin: https://line.example", body=IMAGE)[0] == 200
        assert ask(running, line, "Origin: https://line.example.evil.example", body=IMAGE)[0] == 403


@pytest.fixture
def line_device(server, gray_export, tmp_path):
    def start(*options):
        return server(gray_export, "--marker", str(tmp_path / "m"), "--spool", str(tmp_path / "spool"), *options)

    return start


def markers(tmp_path):
    return sorted(path.relative_to(tmp_path / "m").as_posix() for path in (tmp_path / "m").rglob("[!.]*.*"))


def test_output_requires_a_token_that_no_response_contains(line_device, tmp_path):
    running = line_device()
    assert running.facts["token_needed"] and len(running.token) >= 32 and running.token not in running.url
    assert running.facts["page"] == f"{running.url}/#token={running.token}"
    right, wrong = f"Authorization: Bearer {running.token}", "Authorization: Bearer x"
    for line in ("POST /predict?name=1", "POST /predict?name=2&overlay=1"):
        for headers in ([], [wrong], ["Cookie: token=" + running.token]):
            assert ask(running, line, *headers, body=IMAGE)[0] == 401
    for line in (
        "GET /",
        "GET /docs",
        "GET /openapi.json",
        "GET /health",
        "GET /metrics",
        "GET /x",
        "POST /predict?name=3",
    ):
        for headers in ([], [right], [wrong], [right, FOREIGN[0][0]]):
            assert running.token.encode() not in ask(running, line, *headers, body=b"x" * line.startswith("POST"))[1]
    assert ask(running, "POST /predict?name=4", right, body=IMAGE)[0] == 200
    running.wait_for(lambda: "4.NG" in markers(tmp_path))
    assert markers(tmp_path) == ["3.ERROR", "4.NG"]


def test_kept_images_require_a_token(server, gray_export, tmp_path):
    running = server(gray_export, "--inbox", str(tmp_path / "inbox"))
    assert running.facts["token_needed"] and ask(running, "POST /predict", body=IMAGE)[0] == 401


def test_token_of_a_file(line_device, tmp_path, capsys, gray_export):
    (tmp_path / "token").write_text("\ufeff" + "of the file#&"[7:] + "\n", "utf-8")
    running = line_device("--token-file", str(tmp_path / "token"))
    assert running.token == "file#&" and running.facts["page"].endswith("/#token=file%23%26")
    assert ask(running, "POST /predict", "Authorization: Bearer file#&", body=IMAGE)[0] == 200
    for options in (
        ["--token-file", str(tmp_path / "none")],
        ["--token", "a", "--token-file", str(tmp_path / "token")],
    ):
        assert cli.main(["serve", str(gray_export), *options]) == 2
        assert "token" in capsys.readouterr().err


BAD_NAMES = [
    *("..", "../a", "a/../b", "/a", "a//b", "a/", "", "a\\b", "C:a", "a:b", "a*", 'a"', "a|b"),
    *("\x1b[31ma", "a\nb", "a\0", "a\x7f", "a\u202eb", "a\u2028b", "\ud800"),
    *("NUL", "con.png", "lot/COM1", "Lpt9.a.b", ".a", "lot/.hidden", "a.", "a ", " a", "lot /a"),
    *("x" * 201, "图" * 67, "/".join("abcdefghi"), "7.OK/x", "7.ng/x"),
]


LONGEST = "x" * (200 if sys.platform != "win32" else 60)  # a path has at most 259 characters there


def test_names_of_parts(line_device, tmp_path):
    running = line_device("--token", "t")
    headers = {"Authorization": "Bearer t"}
    for name in BAD_NAMES:
        for more in ("", "&overlay=1"):
            query = "name=" + quote(name.encode("utf-8", "surrogatepass"), safe="") + more
            answer = httpx.post(f"{running.url}/predict?{query}", content=IMAGE, headers=headers)
            assert answer.status_code == 422 and "ame" in answer.json()["detail"], (name, answer.text)
    good = ["part-7", "lot/3/部件 7", LONGEST, "console", "/".join("abcdefgh"), "7.OK"]
    for name in good:
        query = {"name": name}
        assert httpx.post(f"{running.url}/predict", params=query, content=IMAGE, headers=headers).status_code == 200
    running.wait_for(lambda: len(markers(tmp_path)) == len(good))
    assert markers(tmp_path) == sorted(f"{name}.NG" for name in good)


@pytest.mark.parametrize("replace", [False, True])
def test_repeated_name_replaces_a_marker_only_on_request(line_device, tmp_path, replace):
    log = tmp_path / "log.jsonl"
    running = line_device("--log-jsonl", str(log), *(["--replace"] if replace else []))
    for value in (250, 128, 128):
        content = png(np.full((30, 40), value, np.uint8))
        query = {"name": "part-7"}
        answer = httpx.post(f"{running.url}/predict", params=query, content=content, headers=running.headers)
        assert answer.status_code == 200
    running.wait_for(lambda: running.metric('workbench_sink_sent_total{sink="marker"}') == 3)
    running.wait_for(lambda: running.metric('workbench_sink_sent_total{sink="log-jsonl"}') == 3)
    if replace:
        assert markers(tmp_path) == ["part-7.OK"]
    else:
        found = markers(tmp_path)
        assert found.count("part-7.NG") == 1 and len(found) == 3
        assert all(name.startswith("part-7-") and name.endswith(".OK") for name in found if name != "part-7.NG")


def test_replace_needs_a_marker(gray_export, capsys):
    assert cli.main(["serve", str(gray_export), "--replace"]) == 2
    assert "--marker" in capsys.readouterr().err
