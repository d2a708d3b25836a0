"""Output opcua against an OPC UA server in a thread of the test."""

from __future__ import annotations

import contextlib
import json
import socket
import threading

import pytest

from tests.cli.sinks.conftest import record
from workbench.cli.sinks.opcua import OpcuaVariables
from workbench.cli.sinks.sink_base import DeliveryFailed

pytest.importorskip("asyncua")

from asyncua import ua
from asyncua.sync import Server, ThreadLoop

TYPES = {
    "Result": (ua.VariantType.String, ""),
    "Ok": (ua.VariantType.Boolean, False),
    "Name": (ua.VariantType.String, ""),
    "Verdict": (ua.VariantType.String, ""),
    "Regions": (ua.VariantType.Int16, 0),
    "AnomalyScore": (ua.VariantType.Float, 0.0),
    "Json": (ua.VariantType.String, ""),
    "Counter": (ua.VariantType.UInt16, 0),
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class PlcServer:
    """OPC UA server with the variables of TYPES, as a PLC would have them. read: their present values."""

    def __init__(self, port: int, names=tuple(TYPES)) -> None:
        self._loop = ThreadLoop(timeout=30)
        self._loop.daemon = True
        self._loop.start()
        self._server = Server(tloop=self._loop)
        self.endpoint = f"opc.tcp://127.0.0.1:{port}"
        self._server.set_endpoint(self.endpoint)
        assert self._server.register_namespace("urn:line") == 2
        self._nodes = {}
        for name in names:
            kind, value = TYPES[name]
            node = self._server.nodes.objects.add_variable(f"ns=2;s=Workbench.{name}", f"2:{name}", value, kind)
            node.set_writable()
            self._nodes[name] = node
        self._server.start()

    def read(self) -> dict:
        return {name: node.read_value() for name, node in self._nodes.items()}

    def close(self) -> None:
        self._server.stop()
        self._loop.stop()


@pytest.fixture
def plc():
    """Return a function that starts a server; a second call on its port needs the first to be closed."""
    with contextlib.ExitStack() as stack:

        def start(port: int, **options) -> PlcServer:
            made = PlcServer(port, **options)
            closed = threading.Event()
            close = made.close

            def close_once() -> None:
                if not closed.is_set():
                    closed.set()
                    close()

            made.close = close_once
            stack.callback(close_once)
            return made

        yield start


def test_variables_hold_the_newest_result_in_their_own_types(plc):
    server = plc(free_port())
    sink = OpcuaVariables(server.endpoint)
    sent = record(4, "NG", verdict="划痕", anomaly_score=2.5)
    sink.deliver(record(3))
    assert server.read()["Ok"] is True
    sink.deliver(sent)
    sink.close()
    found = server.read()
    assert json.loads(found.pop("Json")) == sent
    assert found == {
        "Result": "NG",
        "Ok": False,
        "Name": "part 4",
        "Verdict": "划痕",
        "Regions": 2,
        "AnomalyScore": 2.5,
        "Counter": 2,
    }


def test_server_with_some_of_the_variables_that_is_restarted(plc):
    port = free_port()
    server = plc(port, names=("Ok", "Counter"))
    sink = OpcuaVariables(server.endpoint)
    sink.deliver(record(1))
    assert server.read() == {"Ok": True, "Counter": 1}
    server.close()
    with pytest.raises(DeliveryFailed, match="the OPC UA server does not accept it"):
        sink.deliver(record(2, "NG"))
    again = plc(port, names=("Ok",))
    sink.deliver(record(2))
    sink.close()
    assert again.read() == {"Ok": True}


def test_server_without_the_variables(plc):
    server = plc(free_port(), names=("Ok",))
    sink = OpcuaVariables(server.endpoint, "ns=2;s=Other.")
    with pytest.raises(DeliveryFailed, match="no variable ns=2;s=Other.Result"):
        sink.deliver(record(1))
