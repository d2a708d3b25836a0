"""Output opcua against an OPC UA server in a thread of the test."""

from __future__ import annotations

import json

import pytest

from tests.cli.sinks.conftest import Relay, free_port, record
from workbench.cli.sinks.opcua import OpcuaVariables
from workbench.cli.sinks.sink_base import DeliveryFailed

pytest.importorskip("asyncua")

from asyncua import ua
from asyncua.common.callback import CallbackType
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


class PlcServer:
    """OPC UA server with the variables of TYPES, as a PLC would have them. read: their present values.

    Names that begin with "Few" are those of a program that reads two of them.
    """

    def __init__(self, port: int) -> None:
        self._loop = ThreadLoop(timeout=30)
        self._loop.daemon = True
        self._loop.start()
        self._server = Server(tloop=self._loop)
        self.port = port
        self.endpoint = f"opc.tcp://127.0.0.1:{port}"
        self._server.set_endpoint(self.endpoint)
        assert self._server.register_namespace("urn:line") == 2
        self._nodes = {}
        for name in (*(f"Workbench.{name}" for name in TYPES), "Few.Ok", "Few.Counter"):
            kind, value = TYPES[name.partition(".")[2]]
            node = self._server.nodes.objects.add_variable(f"ns=2;s={name}", f"2:{name}", value, kind)
            node.set_writable()
            self._nodes[name] = node
        self._server.start()

    def count_writes(self) -> list[int]:
        """Return a list to which the number of variables of each further write request is appended."""
        counts: list[int] = []
        self._server.aio_obj.subscribe_server_callback(
            CallbackType.PreWrite, lambda event, _: counts.append(len(event.request_params.NodesToWrite))
        )
        return counts

    def read(self, prefix: str = "Workbench.") -> dict:
        return {
            name.removeprefix(prefix): node.read_value()
            for name, node in self._nodes.items()
            if name.startswith(prefix)
        }

    def close(self) -> None:
        self._server.stop()
        self._loop.stop()


@pytest.fixture(scope="module")
def plc():
    server = PlcServer(free_port())
    yield server
    server.close()


def test_variables_hold_the_newest_result_in_their_own_types(plc):
    sink = OpcuaVariables(plc.endpoint)
    sent = record(4, "NG", verdict="划痕", anomaly_score=2.5)
    sink.deliver(record(3))
    assert plc.read()["Ok"] is True
    sink.deliver(sent)
    sink.close()
    found = plc.read()
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


def test_values_of_a_result_arrive_in_one_request(plc):
    counts = plc.count_writes()
    sink = OpcuaVariables(plc.endpoint)
    sink.deliver(record(5))
    sink.close()
    assert counts == [len(TYPES) - 1, 1]  # the counter comes after them


def test_some_of_the_variables_and_a_broken_connection(plc):
    relay = Relay(plc.port)
    sink = OpcuaVariables(f"opc.tcp://127.0.0.1:{relay.port}", "ns=2;s=Few.")
    try:
        sink.deliver(record(1))
        assert plc.read("Few.") == {"Ok": True, "Counter": 1}
        relay.cut()
        with pytest.raises(DeliveryFailed, match="the OPC UA server does not accept it"):
            sink.deliver(record(2, "NG"))
        sink.deliver(record(2, "NG"))
        assert plc.read("Few.") == {"Ok": False, "Counter": 2}
    finally:
        sink.close()
        relay.close()


def test_server_without_the_variables(plc):
    sink = OpcuaVariables(plc.endpoint, "ns=2;s=Other.")
    with pytest.raises(DeliveryFailed, match="no variable ns=2;s=Other.Result"):
        sink.deliver(record(1))
