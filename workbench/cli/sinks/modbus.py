"""Output `modbus`: the newest result in registers of a Modbus TCP server, such as a PLC. Needs the extra `modbus`."""

from __future__ import annotations

import argparse
import struct
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from workbench.cli.sinks.sink_base import NG, OK, DeliveryFailed, Record, Sink
from workbench.cli.sinks.tcp_line import host_and_port
from workbench.cli.verb_runner import WrongUse, number_in
from workbench.core.problems import Problem
from workbench.core.runs.pip_commands import pip_command, requirement

if TYPE_CHECKING:
    from pymodbus.client import ModbusTcpClient

_PORT = 502
_TIMEOUT = 5.0  # seconds
_NAME_BYTES = 32
RESULTS = {OK: 0, NG: 1}  # ERROR: 2
REGISTERS = 1 + 1 + 1 + 2 + _NAME_BYTES // 2  # see `modbus_values`


class ModbusMissing(Problem):
    message = "The output --modbus needs pymodbus."
    advice = "Install it with: {command}"


def add_arguments(group: Any) -> None:
    layout = (
        "write each result to holding registers of a Modbus TCP server: counter, result (0 OK, 1 NG, 2 ERROR), number "
        f"of regions, anomaly score (2 registers, float, high word first), name ({_NAME_BYTES} bytes of UTF-8)"
    )
    group.add_argument("--modbus", metavar="HOST[:PORT]", help=layout)
    addresses, units = number_in(0, 2**16 - REGISTERS), number_in(0, 255)
    group.add_argument("--modbus-address", type=addresses, metavar="N", help="address of the first register (0)")
    group.add_argument("--modbus-unit", type=units, metavar="N", help="unit of the Modbus server (1)")


def configure(options: argparse.Namespace) -> ModbusRegisters | None:
    """Return the output, None if it was not requested. Raises WrongUse, ModbusMissing."""
    address, unit = options.modbus_address, options.modbus_unit
    if options.modbus is None:
        if address is not None or unit is not None:
            raise WrongUse("--modbus-address and --modbus-unit need --modbus")
        return None
    place = host_and_port(options.modbus, _PORT)
    if place is None:
        raise WrongUse("--modbus needs HOST or HOST:PORT, for example 192.168.0.10:502")
    if find_spec("pymodbus") is None:
        raise ModbusMissing(command=pip_command(requirement("pymodbus")))
    return ModbusRegisters(*place, address=address or 0, unit=1 if unit is None else unit)


def modbus_values(record: Record) -> list[int]:
    """Return the values of a record in the registers after the counter, 0 to 65,535 each."""
    name = record["name"].encode("utf-8", "replace")[:_NAME_BYTES].decode("utf-8", "ignore").encode()
    score = struct.pack(">f", min(float(record.get("anomaly_score") or 0.0), 3e38))
    words = struct.unpack(f">{2 + _NAME_BYTES // 2}H", score + name.ljust(_NAME_BYTES, b"\0"))
    return [RESULTS.get(record["result"], 2), min(len(record.get("regions", ())), 65535), *words]


class ModbusRegisters(Sink):
    """Modbus TCP client that writes the values of a record in one request, and then increments the counter."""

    name = "modbus"

    def __init__(self, host: str, port: int, *, address: int = 0, unit: int = 1) -> None:
        self._place = host, port
        self._address, self._unit = address, unit
        self._client: ModbusTcpClient | None = None

    def deliver(self, record: Record) -> None:
        from pymodbus.client import ModbusTcpClient
        from pymodbus.exceptions import ModbusException

        try:
            if self._client is None:
                host, port = self._place
                self._client = ModbusTcpClient(host, port=port, timeout=_TIMEOUT, retries=0)
            if not self._client.connected and not self._client.connect():
                raise ModbusException("no connection")
            self._write(self._address + 1, modbus_values(record))
            found = self._client.read_holding_registers(self._address, count=1, device_id=self._unit)
            if found.isError():
                raise ModbusException(str(found))
            self._write(self._address, [(found.registers[0] + 1) % 2**16])  # last: the values are complete then
        except (OSError, ModbusException) as error:
            self.close()
            raise DeliveryFailed(f"the Modbus server does not accept it ({error})") from None

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def _write(self, address: int, values: list[int]) -> None:
        from pymodbus.exceptions import ModbusException

        assert self._client is not None
        answer = self._client.write_registers(address, values, device_id=self._unit)
        if answer.isError():
            raise ModbusException(str(answer))
