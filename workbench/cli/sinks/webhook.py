"""Output `webhook`: one HTTP POST per image, signed as specified by Standard Webhooks (standardwebhooks.com)."""

from __future__ import annotations

import argparse
import base64
import binascii
import contextlib
import hashlib
import hmac
import http.client
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from workbench import __version__
from workbench.cli.sinks.sink_base import DeliveryFailed, Record, Sink, json_line
from workbench.cli.verb_runner import WrongUse

SECRET_VARIABLE = "WORKBENCH_WEBHOOK_SECRET"
_TIMEOUT = 10.0  # seconds
# Statuses below 500 after which the request is repeated; 407 is the answer of a proxy, not of the receiver.
_TEMPORARY = (407, 408, 425, 429)
_PREFIX = "whsec_"  # of a secret in base64


def add_arguments(group: Any) -> None:
    group.add_argument("--webhook", metavar="URL", help="send each result as JSON with HTTP POST")
    group.add_argument(
        "--webhook-secret-file",
        type=Path,
        metavar="FILE",
        help=f"file with the secret that signs the requests (or the variable {SECRET_VARIABLE})",
    )


def configure(options: argparse.Namespace) -> Webhook | None:
    """Return the output, None if it was not requested. Raises WrongUse."""
    if options.webhook is None:
        if options.webhook_secret_file is not None:
            raise WrongUse("--webhook-secret-file needs --webhook")
        return None
    try:
        parts = urllib.parse.urlsplit(options.webhook)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid or not options.webhook.isascii() or any(char <= " " for char in options.webhook):
        raise WrongUse("--webhook needs a URL that begins with http:// or https://")
    if "@" in parts.netloc:
        raise WrongUse("the URL of --webhook must not contain a user name or password")
    return Webhook(options.webhook, secret(options.webhook_secret_file))


class Webhook(Sink):
    """HTTP client for one URL. secret: key of the signature, b"" for unsigned requests."""

    name = "webhook"

    def __init__(self, url: str, secret: bytes = b"") -> None:
        self._url = url
        self.secret = secret
        self._opener: urllib.request.OpenerDirector | None = None

    def deliver(self, record: Record) -> None:
        if self._opener is None:
            # A proxy would look for a receiver on this computer on its own.
            host = urllib.parse.urlsplit(self._url).hostname or ""
            is_here = host in ("localhost", "::1") or host.startswith("127.")
            proxy = urllib.request.ProxyHandler({} if is_here else None)
            self._opener = urllib.request.build_opener(_NoRedirect, proxy)
        body = json_line(record)
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"Defect-Workbench/{__version__}",
            **signed_headers(self.secret, record["id"], int(time.time()), body),
        }
        request = urllib.request.Request(self._url, data=body, headers=headers, method="POST")
        try:
            with self._opener.open(request, timeout=_TIMEOUT) as response:
                _discard(response)
        except urllib.error.HTTPError as error:
            with error:
                refused = error.code < 500 and error.code not in _TEMPORARY
                raise DeliveryFailed(
                    f"the receiver answers {error.code}", refused=refused, retry_after=_seconds(error.headers)
                ) from None
        except urllib.error.URLError as error:
            reason = error.reason
            why = (reason.strerror or str(reason)) if isinstance(reason, OSError) else str(reason)
            raise DeliveryFailed(f"the receiver cannot be reached ({why})") from None
        except http.client.HTTPException as error:
            raise DeliveryFailed(f"the answer is not HTTP ({type(error).__name__})") from None


def signed_headers(secret: bytes, key: str, seconds: int, body: bytes) -> dict[str, str]:
    """Return the headers webhook-id, webhook-timestamp and, with a secret, webhook-signature.

    The signature is "v1," and the HMAC-SHA256 of "ID.TIMESTAMP.BODY" in base64. seconds: Unix time.
    """
    headers = {"webhook-id": key, "webhook-timestamp": str(seconds)}
    if secret:
        digest = hmac.new(secret, f"{key}.{seconds}.".encode() + body, hashlib.sha256).digest()
        headers["webhook-signature"] = "v1," + base64.b64encode(digest).decode()
    return headers


def _discard(response: http.client.HTTPResponse) -> None:
    """Read the body of an answer for a limited time. Its status alone decides, so that errors are ignored."""
    until = time.monotonic() + _TIMEOUT
    with contextlib.suppress(OSError, http.client.HTTPException):
        while time.monotonic() < until and response.read1(65536):
            pass


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refusal of redirections, after which the body of a POST would not be sent."""

    def redirect_request(self, *args: Any, **options: Any) -> None:
        return None


def _seconds(headers: Any) -> float:
    value = headers.get("Retry-After", "") if headers else ""
    return float(value) if value.isdecimal() and len(value) < 6 else 0.0


def secret(file: Path | None) -> bytes:
    """Return the key of the signature, b"" if there is no secret. Raises WrongUse."""
    if file is None:
        text = os.environ.get(SECRET_VARIABLE)
        if text is None:
            return b""
        source = SECRET_VARIABLE
    else:
        source = str(file)
        try:
            text = file.read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise WrongUse(
                f"the secret in {file} cannot be read ({getattr(error, 'strerror', None) or error})"
            ) from None
    text = text.strip()
    if not text:
        raise WrongUse(f"the secret in {source} is empty")
    if not text.startswith(_PREFIX):
        return text.encode()
    try:
        return base64.b64decode(text[len(_PREFIX) :], validate=True)
    except binascii.Error:
        raise WrongUse(f"the secret in {source} begins with {_PREFIX} but is not base64") from None
