"""Pages in a real browser: one of another website, and the server's own. Skipped without Chromium."""

from __future__ import annotations

import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs Chromium")

# Posts as a page can without the permission of the server, then reports to its own website.
ATTACK = b"""<!doctype html><script>
const form = new FormData(); form.append("picture", new Blob(["no image"]));
const text = {headers: {"Content-Type": "text/plain"}, body: "no image"};
const bodies = [["FORGED-text", text], ["FORGED-form", {body: form}]];
Promise.allSettled(bodies.map(([name, options]) =>
  fetch("URL/predict?name=" + name, {method: "POST", mode: "no-cors", ...options}))).then(() => fetch("/done"));
</script>"""


@pytest.fixture
def browse(tmp_path):
    """Return a function that opens an address and returns the page as it is when all its requests are answered."""

    def open_page(url):
        rules = "--host-resolver-rules=MAP evil.example 127.0.0.1"
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", rules]
        command = [BROWSER, *options, f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=20000"]
        return subprocess.run([*command, "--dump-dom", url], capture_output=True, timeout=120).stdout.decode()

    return open_page


@pytest.fixture
def website():
    """Return (host name and port, event of the report) of another website, whose page attacks a server."""
    done, page = threading.Event(), bytearray(ATTACK)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path == "/done":
                done.set()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield f"http://evil.example:{site.server_address[1]}", page, done
        site.shutdown()


@pytest.mark.parametrize("with_output", [True, False])
def test_page_of_another_website_is_refused(server, gray_export, tmp_path, browse, website, with_output):
    address, page, done = website
    options = ["--marker", str(tmp_path / "m"), "--spool", str(tmp_path / "spool")] if with_output else []
    running = server(gray_export, *options)
    page[:] = ATTACK.replace(b"URL", running.url.encode())
    browse(address)
    assert done.is_set()
    assert running.metric('workbench_requests_total{status="403"}') == 2
    assert not any(tmp_path.glob("m/*"))


def test_own_page_takes_the_token_from_the_address(server, gray_export, tmp_path, browse):
    running = server(gray_export, "--marker", str(tmp_path / "m"), "--spool", str(tmp_path / "spool"))
    assert ">Ready<" in browse(running.facts["page"])
    assert "requires a token" in browse(running.url)
