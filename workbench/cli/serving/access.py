"""Token that requests must send as "Authorization: Bearer TOKEN"."""

from __future__ import annotations

import hmac
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.datastructures import Headers

from workbench.cli.serving.responses import HttpError

_bearer = HTTPBearer(auto_error=False, description="Token with which the server was started.")


def is_authorized(headers: Headers, token: str | None) -> bool:
    """Return True if the headers contain the token, or if the server needs none."""
    if token is None:
        return True
    scheme, _, sent = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        return False
    # Header values are decoded as Latin-1; encoding restores the bytes that were sent.
    return hmac.compare_digest(sent.encode("latin-1", "replace"), token.encode())


def check_token(headers: Headers, token: str | None) -> None:
    """Raise HttpError 401 without the token."""
    if not is_authorized(headers, token):
        raise HttpError(401, "This server requires a token.", {"WWW-Authenticate": "Bearer"})


def need_token(token: str | None) -> list[Any]:
    """Return the dependencies of a route that check the token; none without a token, for the OpenAPI description."""
    if token is None:
        return []

    async def check(
        request: Request, documented: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
    ) -> None:
        check_token(request.headers, token)

    return [Depends(check)]
