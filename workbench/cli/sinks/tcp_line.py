"""Output `tcp`: one line of JSON per image over a TCP connection, which is opened again after a failure."""

from __future__ import annotations

import argparse
import contextlib
import socket
import time
from typing import Any

from workbench.cli.sinks.sink_base import DeliveryFailed, Record, Sink, json_line
from workbench.cli.verb_runner import WrongUse

_CONNECT_SECONDS, _SEND_SECONDS = 5.0, 10.0
_MAX_ANSWER = 65536  # bytes of an acknowledgement


def add_arguments(group: Any) -> None:
    group.add_argument("--tcp", metavar="HOST:PORT", help="send each result as one line of JSON over TCP")
    ack = "wait for one line in answer to each result before it counts as delivered"
    group.add_argument("--tcp-ack", action="store_true", help=ack)


def configure(options: argparse.Namespace) -> TcpLine | None:
    """Return the output, None if it was not requested. Raises WrongUse."""
    if options.tcp is None:
        if options.tcp_ack:
            raise WrongUse("--tcp-ack needs --tcp")
        return None
    place = host_and_port(options.tcp)
    if place is None:
        raise WrongUse("--tcp needs HOST:PORT, for example 192.168.0.10:2000")
    return TcpLine(*place, ack=options.tcp_ack)


def host_and_port(text: str, usual: int = 0) -> tuple[str, int] | None:
    """Return host and port of HOST:PORT, None if it is not valid. usual: the port without one; 0: it is required."""
    bare = usual and (text.count(":") != 1 if not text.startswith("[") else text.endswith("]"))
    host, _, port = (text, ":", str(usual)) if bare else text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    valid = host and port.isascii() and port.isdecimal() and 0 < int(port) < 65536
    return (host, int(port)) if valid else None


class TcpLine(Sink):
    """TCP client. ack: a record is delivered once the receiver has answered it with a line.

    Without `ack`, lines that the operating system has accepted are lost if the connection breaks before they arrive.
    """

    name = "tcp"

    def __init__(self, host: str, port: int, *, ack: bool = False) -> None:
        self._address = host, port
        self._ack = ack
        self._connection: socket.socket | None = None

    def deliver(self, record: Record) -> None:
        try:
            connection = self._connect()
            connection.sendall(json_line(record) + b"\n")
            if self._ack:
                _read_line(connection)
        except OSError as error:
            self.close()
            why = error.strerror or str(error) or type(error).__name__
            raise DeliveryFailed(f"{self._address[0]}:{self._address[1]} cannot be reached ({why})") from None

    def close(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(OSError):
                self._connection.close()
            self._connection = None

    def _connect(self) -> socket.socket:
        """Return the open connection, or a new one if the receiver has closed it."""
        if self._connection is not None and _is_closed(self._connection):
            self.close()
        if self._connection is None:
            self._connection = socket.create_connection(self._address, timeout=_CONNECT_SECONDS)
            self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            self._connection.settimeout(_SEND_SECONDS)
        return self._connection


def _is_closed(connection: socket.socket) -> bool:
    """Return True if the other side has closed the connection. Other bytes from there are discarded."""
    connection.setblocking(False)
    try:
        while connection.recv(_MAX_ANSWER):
            pass
    except BlockingIOError:
        return False
    except OSError:
        pass
    finally:
        connection.settimeout(_SEND_SECONDS)
    return True


def _read_line(connection: socket.socket) -> None:
    received, until = 0, time.monotonic() + _SEND_SECONDS
    while received < _MAX_ANSWER and time.monotonic() < until:
        part = connection.recv(4096)
        if not part:
            raise ConnectionResetError("the receiver has closed the connection without an answer")
        if b"\n" in part:
            return
        received += len(part)
    raise ConnectionAbortedError("the answer of the receiver is too long or too slow")
