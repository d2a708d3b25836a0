"""Telemetry: values of this machine, and a stand-in for the NVIDIA driver."""

from __future__ import annotations

import sys
import time
import types

import pytest

from tests.gpu_stand_ins import NvmlModule, StandInGpu
from workbench.core.messages import Message
from workbench.core.runs.gpu_facts import GpuSample, SystemSample
from workbench.session.training.telemetry import NoGpu, NvmlReader, TelemetryThread

CARD = GpuSample(0, "Card", 50.0, 1 << 30, 4 << 30, 60.0, 120.5, 1500.0)


@pytest.fixture
def watch():
    threads = []

    def watch(**how) -> TelemetryThread:
        thread = TelemetryThread(interval=0.01, **how)
        threads.append(thread)
        return thread

    yield watch
    for thread in threads:
        thread.stop()
        assert thread.isFinished() or not thread.isRunning()


def first_sample(thread, qtbot) -> SystemSample:
    with qtbot.waitSignal(thread.sampled, timeout=10_000) as sampled:
        thread.start()
    return sampled.args[0]


def no_driver():
    raise NoGpu(Message("device.no_driver"))


def test_cpu_and_memory_are_sampled_without_gpu(watch, qtbot):
    sample = first_sample(watch(open_gpus=no_driver), qtbot)
    assert 0 <= sample.cpu <= 100 and 0 < sample.ram_used < sample.ram_total
    assert abs(sample.time - time.time()) < 60
    assert sample.disk_read_mb_s is None or sample.disk_read_mb_s >= 0
    assert sample.gpus == () and sample.reason == Message("device.no_driver")


def test_system_that_does_not_report_its_load(watch, qtbot, monkeypatch, caplog):
    def no_file():
        raise FileNotFoundError("/proc/meminfo")

    monkeypatch.setattr("psutil.virtual_memory", no_file)
    thread = watch(open_gpus=no_driver)
    thread.start()
    assert thread.wait(10_000) and "/proc/meminfo" in caplog.text


def test_this_machine_has_gpus_or_a_reason(watch, qtbot):
    sample = first_sample(watch(), qtbot)
    assert bool(sample.gpus) != bool(sample.reason)


def test_gpu_that_fails_and_recovers(watch, qtbot):
    class Reader:
        answers = iter([(CARD,), RuntimeError("GPU is lost"), (CARD,)])
        closed = False

        def read(self):
            answer = next(self.answers, (CARD,))
            if isinstance(answer, Exception):
                raise answer
            return answer

        def close(self):
            self.closed = True

    reader, samples = Reader(), []
    thread = watch(open_gpus=lambda: reader)
    thread.sampled.connect(samples.append)
    thread.start()
    qtbot.waitUntil(lambda: len(samples) >= 3)
    thread.stop()
    assert samples[0].gpus == (CARD,) and samples[0].reason == ""
    assert samples[1].gpus == () and "GPU is lost" in samples[1].reason
    assert samples[2].gpus == (CARD,) and samples[2].reason == ""
    assert reader.closed


def test_broken_driver_does_not_affect_other_values(watch, qtbot):
    def broken():
        raise OSError("libnvidia-ml.so: undefined symbol")

    sample = first_sample(watch(open_gpus=broken), qtbot)
    assert "undefined symbol" in sample.reason and sample.ram_total > 0


class NvmlStandIn(types.ModuleType):
    """Stand-in for the driver library; `refuses` are the queries that it does not support."""

    NVML_ERROR_LIBRARY_NOT_FOUND, NVML_ERROR_DRIVER_NOT_LOADED = 12, 9
    NVML_TEMPERATURE_GPU, NVML_CLOCK_SM = 0, 1

    class NVMLError(Exception):
        def __init__(self, value):
            super().__init__(f"error {value}")
            self.value = value

    def __init__(self, fails_with=0, cards=1, refuses=()):
        super().__init__("pynvml")
        self.fails_with, self.gpu_count, self.refuses, self.shut = fails_with, cards, refuses, False

    def nvmlInit(self):
        if self.fails_with:
            raise self.NVMLError(self.fails_with)

    def nvmlShutdown(self):
        self.shut = True

    def nvmlDeviceGetCount(self):
        return self.gpu_count

    def nvmlDeviceGetHandleByIndex(self, index):
        return index

    def nvmlDeviceGetName(self, handle):
        return b"Card"

    def __getattr__(self, name):
        answers = {
            "nvmlDeviceGetMemoryInfo": types.SimpleNamespace(used=1 << 30, total=4 << 30),
            "nvmlDeviceGetUtilizationRates": types.SimpleNamespace(gpu=50),
            "nvmlDeviceGetPowerUsage": 120_500,
            "nvmlDeviceGetTemperature": 60,
            "nvmlDeviceGetClockInfo": 1500,
        }
        if name not in answers:
            raise AttributeError(name)

        def answer(*_):
            if name in self.refuses:
                raise self.NVMLError(3)
            return answers[name]

        return answer


def test_gpu_values_and_unsupported_queries(monkeypatch):
    stand_in = NvmlStandIn()
    monkeypatch.setitem(sys.modules, "pynvml", stand_in)
    reader = NvmlReader()
    assert reader.read() == (CARD,)
    reader.close()
    assert stand_in.shut
    monkeypatch.setitem(sys.modules, "pynvml", NvmlStandIn(refuses=("nvmlDeviceGetPowerUsage",)))
    assert NvmlReader().read()[0].power is None


class NewerNvml(NvmlStandIn):
    """Driver that also reports reserved memory, power limit, and the reason for throttling."""

    nvmlMemory_v2 = 2
    nvmlClocksThrottleReasonHwThermalSlowdown, nvmlClocksThrottleReasonSwThermalSlowdown = 64, 32
    nvmlClocksThrottleReasonSwPowerCap, nvmlClocksThrottleReasonHwPowerBrakeSlowdown = 4, 128
    reasons = 0

    def nvmlDeviceGetMemoryInfo(self, handle, version=None):
        used = types.SimpleNamespace(used=1 << 30, total=4 << 30)
        if version == 2:
            used.reserved = 1 << 28
        return used

    def nvmlDeviceGetEnforcedPowerLimit(self, handle):
        return 300_000

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle):
        return self.reasons


@pytest.mark.parametrize(("reasons", "slowed"), [(0, ""), (1, ""), (4, "power"), (64 | 4, "heat"), (32, "heat")])
def test_newer_driver_reports_throttling(monkeypatch, reasons, slowed):
    stand_in = NewerNvml(cards=2)
    stand_in.reasons = reasons
    monkeypatch.setitem(sys.modules, "pynvml", stand_in)
    samples = NvmlReader().read()
    assert [sample.index for sample in samples] == [0, 1]
    assert samples[0].memory_reserved == 1 << 28 and samples[0].power_limit == 300 and samples[0].slowed == slowed


@pytest.mark.parametrize(
    ("stand_in", "reason"),
    [
        (NvmlStandIn(fails_with=12), "no NVIDIA driver is installed"),
        (NvmlStandIn(fails_with=9), "no NVIDIA driver is installed"),
        (NvmlStandIn(fails_with=4), "does not respond"),
        (NvmlStandIn(cards=0), "reports no GPU"),
        (None, "nvidia-ml-py"),
    ],
)
def test_reason_for_a_missing_gpu(monkeypatch, stand_in, reason):
    monkeypatch.setitem(sys.modules, "pynvml", stand_in)
    with pytest.raises(NoGpu, match=reason):
        NvmlReader()


def test_lost_gpu_does_not_hide_the_others(monkeypatch):
    lost = StandInGpu("RTX 3060", uuid="GPU-aa", lost=True)
    monkeypatch.setitem(sys.modules, "pynvml", DriverStandIn(lost, StandInGpu("RTX 4090", uuid="GPU-bb")))
    assert [(gpu.index, gpu.uuid) for gpu in NvmlReader().read()] == [(1, "GPU-bb")]
    monkeypatch.setitem(sys.modules, "pynvml", DriverStandIn(lost))
    with pytest.raises(NoGpu, match="does not respond .GPU is lost"):
        NvmlReader()


def test_gpus_and_their_partitions_are_identified(monkeypatch):
    whole = StandInGpu("RTX 4090", uuid="GPU-aa")
    split = StandInGpu("H100", uuid="GPU-bb", mig=("MIG-1", "MIG-2"))
    monkeypatch.setitem(sys.modules, "pynvml", DriverStandIn(whole, split))
    assert [(gpu.uuid, gpu.mig) for gpu in NvmlReader().read()] == [("GPU-aa", []), ("GPU-bb", ["MIG-1", "MIG-2"])]


class DriverStandIn(NvmlModule):
    """Driver that also answers the queries of the telemetry."""

    NVML_TEMPERATURE_GPU, NVML_CLOCK_SM = 0, 1

    def __getattr__(self, name):
        if not name.startswith("nvmlDeviceGet") or "Throttle" in name:
            raise AttributeError(name)

        def refuse(*_):
            raise self.NVMLError("Not Supported")

        return refuse
