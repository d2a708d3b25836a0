"""Verb `serve`: HTTP server for an export, by default reachable from this machine only."""

from __future__ import annotations

import argparse
import json
import os
import secrets
import urllib.parse
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli import kept_images
from workbench.cli.sinks import result_outputs
from workbench.cli.sinks.sink_base import RecordMaker
from workbench.cli.verb_runner import Console, WrongUse, number_in
from workbench.core import problems
from workbench.core.runs.model_lookup import open_model
from workbench.core.runs.pip_commands import pip_command, requirement
from workbench.inference.batch.results_folder import KEEP_VERDICTS
from workbench.inference.cpu_environment import cores, keep_freed_memory
from workbench.inference.engines import NAMES
from workbench.inference.model_settings import MODEL_FILE
from workbench.inference.predictor import Predictor

if TYPE_CHECKING:
    from workbench.cli.serving.responses import Limits

_LIBRARIES = ("starlette", "uvicorn", "httptools", "python_multipart")
TOKEN_VARIABLE = "WORKBENCH_TOKEN"
_MEMORY, _CONNECTIONS = 1536, 1000  # MB, and their number
_POSITIVE = number_in(0, kind=float, above=True)


class ServerMissing(problems.Problem):
    message = "The server needs {libraries}."
    advice = "Install the missing packages with: {command}"


class NotAnExport(problems.Problem):
    message = "{path} is not an export: it has no {file}."
    advice = "Choose a folder written by 'workbench export'."


class CannotListen(problems.Problem):
    message = "Cannot listen on {host}:{port}: {why}."
    advice = "Choose another --port or --host."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("export", type=Path, metavar="EXPORT", help="folder written by 'workbench export'")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1: only this machine)")
    parser.add_argument("--port", type=number_in(0, 65535), default=8123, help="port (8123; 0 = any free port)")
    tokens = parser.add_mutually_exclusive_group()
    tokens.add_argument(
        "--token",
        default=None,
        help=f"token that requests must send as 'Authorization: Bearer TOKEN' (or {TOKEN_VARIABLE}); with a result "
        "output or --inbox one is generated if there is none",
    )
    tokens.add_argument("--token-file", type=Path, metavar="FILE", help="file with this token")
    limits = parser.add_argument_group("limits")
    parser.add_argument("--workers", type=number_in(1, 64), default=1, metavar="N", help="number of processes (1)")
    limits.add_argument(
        "--max-mb", type=_POSITIVE, default=64, metavar="N", help="maximum size of a request in MB (64)"
    )
    limits.add_argument(
        "--max-megapixels",
        type=_POSITIVE,
        default=100,
        metavar="N",
        help="maximum size of an image in megapixels (100)",
    )
    limits.add_argument(
        "--timeout", type=_POSITIVE, default=60, metavar="S", help=("request timeout in seconds (default: 60)")
    )
    memory = f"memory for requests (a third) and decoded images, per process, in MB ({_MEMORY})"
    limits.add_argument("--memory", type=_POSITIVE, metavar="MB", help=memory)
    connections = f"connections per process ({_CONNECTIONS}, or fewer if the system allows fewer open files)"
    limits.add_argument("--connections", type=number_in(1, 100_000), metavar="N", help=connections)
    for option, kind in _FORMER.items():
        parser.add_argument(option, type=kind, help=argparse.SUPPRESS)
    name = "additional accepted host name of this machine; may be repeated"
    parser.add_argument("--allow-host", action="append", default=[], metavar="NAME", help=name)
    parser.add_argument("--engine", choices=("auto", *NAMES), default="auto", help="library that runs the network")
    parser.add_argument("--keep-verdicts", action="store_true", help=KEEP_VERDICTS)
    result_outputs.add_arguments(parser, spool="spool")
    kept_images.add_arguments(parser)
    replace = "let a marker replace an earlier one of the same name; otherwise the later gets its id as an addition"
    parser.add_argument("--replace", action="store_true", help=replace)


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    _need_libraries()
    token = _token(options)
    sinks, inbox = result_outputs.plan_sinks(options, spool=Path("spool")), kept_images.plan_inbox(options)
    # Without one, any program on this machine could send a result to the line, or an image to the next training.
    if (sinks or inbox) and token is None:
        token = secrets.token_urlsafe(24)
    if options.replace and options.marker is None:
        raise WrongUse("--replace needs --marker")
    if not (options.export / MODEL_FILE).is_file():
        raise NotAnExport(path=str(options.export), file=MODEL_FILE)

    from workbench.cli.serving import http_app, http_server

    try:
        bound = http_server.bind(options.host, options.port)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise CannotListen(host=options.host, port=options.port, why=why[0].lower() + why[1:]) from error
    keep_freed_memory()
    with bound:
        predictor, is_local = open_model(options.export, engine=options.engine), http_server.is_local(bound)
        settings = predictor.settings
        if sinks or inbox:
            RecordMaker(settings, options.ok_verdict)  # a problem is reported before the server starts
        plan = http_server.ServerPlan(
            folder=str(options.export.absolute()),
            engine=options.engine,
            keep_verdicts=options.keep_verdicts,
            token=token,
            workers=options.workers,
            sinks=sinks,
            inbox=inbox,
            # Any name is accepted for an address that other machines can reach.
            hosts=frozenset(map(http_app.host_name, (options.host, *options.allow_host)))
            if is_local or options.allow_host
            else None,
            # A model that takes all cores shares them with the other processes.
            threads=None if options.workers == 1 or settings.threads else max(1, cores() // options.workers),
            limits=limits_of(options, console.note),
        )
        if settings.not_compared:
            console.note(settings.not_compared)
        if token is None and not is_local:
            console.note("Warning: anyone who can reach this machine can use the model. Set --token to prevent this.")
        announce = partial(_announce, options, console, predictor, http_server.address_of(bound), token)
        try:
            if plan.workers == 1:
                plan.serve(predictor, bound, announce)
            else:
                http_server.serve_with_workers(plan, bound, announce)
        except OSError as error:
            raise CannotListen(host=options.host, port=options.port, why=error.strerror or str(error)) from error
    console.note("Stopped.")
    return {}


def limits_of(options: argparse.Namespace, note: Callable[[str], None]) -> Limits:
    """Return the limits that the options request. Options of single limits set the memory or the connections."""
    from workbench.cli.serving.responses import Limits

    memory = options.memory
    if memory is None:
        # A third is for requests, the rest for images, see `Limits`: neither part is smaller than requested.
        memory = max(3 * (options.max_received_mb or 0), 1.5 * (options.max_memory_mb or 0)) or _MEMORY
    connections = options.connections or options.max_connections
    if connections is None:  # each waiting image has its own
        connections = max(_CONNECTIONS, options.queue or 0)
    if options.stall_timeout is not None or options.idle_timeout is not None:
        note(f"Stalled connections are closed after {Limits.stall:g} s, idle ones after {Limits.idle:g} s.")
    return Limits(
        bytes=int(options.max_mb * 2**20),
        pixels=int(options.max_megapixels * 1e6),
        seconds=options.timeout,
        memory=int(memory * 2**20),
        connections=connections,
    )


def _announce(options: argparse.Namespace, console: Console, predictor: Predictor, url: str, token: str | None) -> None:
    """Print the address of the server, as text or as one JSON object."""
    engine = getattr(predictor.engine, "name", "")
    settings = predictor.settings
    # The part after # is never sent to a server; the page reads it.
    page = url if token is None else f"{url}/#token={urllib.parse.quote(token, safe='')}"
    header = "" if token is None else f" -H 'Authorization: Bearer {token}'"
    if options.json:
        fields = {"url": url, "model": settings.name, "run": settings.run, "task": settings.task, "engine": engine}
        fields |= {"page": page, "workers": options.workers, "token_needed": token is not None}
        print(json.dumps(fields), flush=True)
        options.json = False  # exactly one object is printed, so none may follow at the end
    console.line(f"{settings.name} ({engine}) is served at {page}")
    console.line(f"  Open it in a browser, or: curl -F image=@part.png{header} {url}/predict    Press Ctrl+C to stop.")


def _need_libraries() -> None:
    missing = [library for library in _LIBRARIES if find_spec(library) is None]
    if missing:
        command = pip_command(*(requirement(library.replace("_", "-")) for library in missing))
        raise ServerMissing(libraries=" and ".join(missing).replace("_", "-"), command=command)


def _token(options: argparse.Namespace) -> str | None:
    token = options.token
    if options.token_file is not None:
        try:
            token = options.token_file.read_text("utf-8-sig").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or error
            raise WrongUse(f"the token in {options.token_file} cannot be read ({reason})") from None
    elif token is None:
        token = os.environ.get(TOKEN_VARIABLE)
    if token is None:
        return None
    if not token or not token.isascii() or any(char <= " " or char == "\x7f" for char in token):
        raise WrongUse("a token must consist of visible ASCII characters without spaces")
    return token


# Options of single limits, which are part of --memory and --connections.
_FORMER: dict[str, Callable[[str], float]] = {
    "--max-memory-mb": _POSITIVE,
    "--max-received-mb": _POSITIVE,
    "--max-connections": number_in(1, 100_000),
    "--queue": number_in(0, 100_000),
    "--stall-timeout": _POSITIVE,
    "--idle-timeout": _POSITIVE,
}
