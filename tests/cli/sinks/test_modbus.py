"""Output modbus against a Modbus TCP server in a thread of the test."""

from __future__ import annotations

import asyncio
import struct
import threading

import pytest

from tests.cli.sinks.conftest import Relay, free_port, record
from workbench.cli.sinks.modbus import REGISTERS, ModbusRegisters, modbus_values
from workbench.cli.sinks.sink_base import DeliveryFailed

pytest.importorskip("pymodbus")

from pymodbus.client import ModbusTcpClient
from pymodbus.datastore import ModbusDeviceContext, ModbusSequentialDataBlock, ModbusServerContext
from pymodbus.server import ModbusTcpServer

FIRST, UNIT = 100, 3


class Plc:
    """Modbus server with 200 holding registers."""

    def __init__(self) -> None:
        self.port = free_port()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = self._run(self._start())

    async def _start(self) -> ModbusTcpServer:
        device = ModbusDeviceContext(hr=ModbusSequentialDataBlock(1, [0] * 200))
        context = ModbusServerContext(devices={UNIT: device}, single=False)
        server = ModbusTcpServer(context, address=("127.0.0.1", self.port))
        await server.serve_forever(background=True)
        return server

    def _run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(30)

    def registers(self, first: int = FIRST, count: int = REGISTERS) -> list[int]:
        with ModbusTcpClient("127.0.0.1", port=self.port) as client:
            return client.read_holding_registers(first, count=count, device_id=UNIT).registers

    def close(self) -> None:
        self._run(self._server.shutdown())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)
        self._loop.close()


@pytest.fixture
def plc():
    plc = Plc()
    yield plc
    plc.close()


def test_registers_hold_the_newest_result(plc):
    sink = ModbusRegisters("127.0.0.1", plc.port, address=FIRST, unit=UNIT)
    sink.deliver(record(3))
    assert plc.registers()[:3] == [1, 0, 0]
    sink.deliver(record(4, "NG", anomaly_score=2.5, name="面板 4"))
    sink.close()
    counter, result, regions, *rest = plc.registers()
    assert (counter, result, regions) == (2, 1, 2)
    data = struct.pack(f">{len(rest)}H", *rest)
    assert struct.unpack(">f", data[:4])[0] == 2.5 and data[4:].rstrip(b"\0").decode() == "面板 4"
    assert plc.registers(FIRST - 1, 1) == plc.registers(FIRST + REGISTERS, 1) == [0]


def test_values_that_do_not_fit_are_limited():
    values = modbus_values(record(0, "ERROR", regions=[{}] * 70_000, anomaly_score=1e300, name="é" * 40))
    assert values[:2] == [2, 65535] and len(values) == REGISTERS - 1 and max(values) < 2**16
    assert struct.pack(">16H", *values[4:]).decode() == "é" * 16


def test_broken_connection_is_opened_again(plc):
    relay = Relay(plc.port)
    sink = ModbusRegisters("127.0.0.1", relay.port, address=FIRST, unit=UNIT)
    try:
        sink.deliver(record(1))
        relay.cut()
        with pytest.raises(DeliveryFailed, match="the Modbus server does not accept it"):
            sink.deliver(record(2))
        sink.deliver(record(2))
        assert plc.registers()[0] == 2
    finally:
        sink.close()
        relay.close()


def test_server_without_the_registers_or_without_an_answer(plc):
    for address, unit, port in ((190, UNIT, plc.port), (FIRST, UNIT, free_port())):
        with pytest.raises(DeliveryFailed, match="the Modbus server does not accept it"):
            ModbusRegisters("127.0.0.1", port, address=address, unit=unit).deliver(record(1))
