"""Throughput of `workbench serve`, in comparison with sequential calls of the same predictor and a minimal server.

    python tests/benchmarks/serve.py [--export DIR] [--images DIR | --noise] [--pictures 256] [--requests N]
        [--side 256] [--clients 1,8,64] [--workers 1] [--rounds 1] [--sleep] [--rival]

Without --export a small convolutional network with random weights is served, once for segmentation and once for
classification. The images are surfaces with up to three defects, as in the sample project; noise compresses much less
and may have thousands of regions. Every response is compared with the predictor's result: lost and mixed-up responses
are counted. CPU: time per image of the server or of the predictor. MB: memory of the server after the requests of a
row. --requests: of each row, if not one for each image. --rival: also measure a server of fastapi_server.py, whose
responses are counted only. --rounds: measure predictor and servers in turn so many times; a row shows medians of the
rounds, the greatest 99th percentile and, as its share, the median of its throughput relative to that of the predictor
in the same round, with minimum and maximum. So a change of the machine's speed during the run affects all rows. The
predictor and the servers use the first half of the CPU cores and the clients the other half, because requests from
the same cores would be part of the measured time. A single client polls for its response, unless --sleep is given: to
wake its sleeping core would be part of the measured time, too. The numbers hold for one machine only.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import onnx
import psutil
from onnx import TensorProto, helper, numpy_helper

MATERIALS = ("brushed", "cast", "painted")
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from workbench.core.synthetic_scene import KINDS, SyntheticScene, make_lot  # noqa: E402
from workbench.inference.batch.export_package import write_checks, write_reference_results  # noqa: E402
from workbench.inference.cpu_environment import cores  # noqa: E402
from workbench.inference.io.image_io import decode_image, encode_png, write_png  # noqa: E402
from workbench.inference.model_settings import ClassSettings, ModelSettings, save_settings  # noqa: E402
from workbench.inference.predictor import Predictor  # noqa: E402


def convolutions(path: Path, *, outputs: int, width: int = 32, depth: int = 6, pooled: bool) -> None:
    """Write a plain stack of 3x3 convolutions with random weights, as expensive as a small UNet at full resolution."""
    rng = np.random.default_rng(0)
    nodes, weights, source, channels = [], [], "picture", 1
    for number in range(depth):
        last = number == depth - 1
        made = outputs if last else width
        kernel = rng.normal(0, (2 / (9 * channels)) ** 0.5, (made, channels, 3, 3)).astype(np.float32)
        weights.append(numpy_helper.from_array(kernel, f"kernel {number}"))
        nodes.append(helper.make_node("Conv", [source, f"kernel {number}"], [f"sum {number}"], pads=[1, 1, 1, 1]))
        source, channels = f"sum {number}", made
        if not last:
            nodes.append(helper.make_node("Relu", [source], [f"relu {number}"]))
            source = f"relu {number}"
    if pooled:
        nodes.append(helper.make_node("GlobalAveragePool", [source], ["pooled"]))
        nodes.append(helper.make_node("Flatten", ["pooled"], ["flat"]))
        source = "flat"
    nodes.append(helper.make_node("Softmax", [source], ["probabilities"], axis=1))
    answer = ["n", outputs] if pooled else ["n", outputs, "h", "w"]
    graph = helper.make_graph(
        nodes,
        "stack",
        [helper.make_tensor_value_info("picture", TensorProto.FLOAT, ["n", 1, "h", "w"])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, answer)],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString())


def make_export(folder: Path, *, classify: bool) -> Path:
    folder.mkdir(parents=True)
    convolutions(folder / "network.onnx", outputs=3, pooled=classify)
    common = {"name": "benchmark", "mean": (0.5,), "std": (0.25,), "files": {"onnx": "network.onnx"}}
    if classify:
        settings = ModelSettings(task="classification", verdicts=("OK", "NG", "dirt"), input_size=128, **common)
    else:
        kinds = (ClassSettings(1, "scratch", "#ff0000"), ClassSettings(2, "pit", "#00ff00"))
        settings = ModelSettings(
            task="segmentation", classes=kinds, thresholds=(0.5, 0.5), min_area=(3, 3), tile=256, overlap=32, **common
        )
    save_settings(settings, folder / "model.json")
    sample = folder.parent / f"{folder.name}.png"
    write_png(sample, noise(1, 64)[0])
    write_reference_results(folder, Predictor.open(folder), [("sample", sample)])
    write_checks(folder)
    return folder


def surfaces(count: int, side: int) -> list[np.ndarray]:
    """Return images of four materials with up to three defects each; every fourth has none."""
    lots = [make_lot(np.random.default_rng([1, number]), material) for number, material in enumerate(MATERIALS)]
    made = []
    for number in range(min(count, 64)):
        scene = SyntheticScene(np.random.default_rng([2, number]), lots[number % len(lots)], (side, side))
        scene.add_extras()
        for kind in KINDS[: number // len(lots) % 4]:
            scene.add(kind)
        made.append(scene.render())
    return [made[number % len(made)] for number in range(count)]


def noise(count: int, side: int) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    return [rng.normal(128, 40, (side, side)).clip(0, 255).astype(np.uint8) for _ in range(count)]


def images_of(folder: Path, count: int) -> list[np.ndarray]:
    """Return `count` images of a folder, repeated if it has fewer."""
    paths = sorted(
        path for path in folder.iterdir() if path.suffix.lower() in (".png", ".jpg", ".tif", ".tiff", ".bmp")
    )
    read = [decode_image(path.read_bytes()) for path in paths[:count]]
    return [read[index % len(read)] for index in range(count)]


class Job:
    """Requests to send, and the expected responses."""

    def __init__(self, predictor: Predictor, shown: Sequence[np.ndarray]) -> None:
        self.classify = predictor.settings.task == "classification"
        self.sent = [bytes(encode_png(image)) for image in shown]
        results = [predictor.predict(image) for image in shown]
        self.expected = [entry.probabilities if self.classify else bytes(encode_png(entry.mask)) for entry in results]

    def is_right(self, index: int, answer: bytes) -> bool:
        expected = self.expected[index]
        if not self.classify:
            return answer == expected
        found = json.loads(answer)["probabilities"]
        return all(abs(found[name] - value) < 1e-5 for name, value in expected.items())


def sequential(predictor: Predictor, job: Job) -> dict[str, float]:
    """Decode, predict and encode one image after another in this process."""
    seconds = []
    started, used = time.perf_counter(), cpu_seconds(os.getpid())
    for content in job.sent:
        start_time = time.perf_counter()
        result = predictor.predict(decode_image(content))
        if result.mask is None:
            json.dumps(result.to_json())
        else:
            encode_png(result.mask)
        seconds.append(time.perf_counter() - start_time)
    used = cpu_seconds(os.getpid()) - used
    return _numbers(seconds, time.perf_counter() - started, used, lost=0, mixed=0)


class Client:
    """HTTP client with one connection, kept open: `http.client` takes a quarter of a millisecond for each request.

    The measured time contains that of the client, which is not a property of the server. place: host and port. polls:
    read without sleeping, where the system allows it. To wake a sleeping core takes up to 0.3 ms in a virtual machine.
    """

    def __init__(self, place: str, accept: str, *, polls: bool = False) -> None:
        self._flags = getattr(socket, "MSG_DONTWAIT", 0) if polls else 0
        host, _, port = place.rpartition(":")
        self._address = host.strip("[]"), int(port)
        self._head = f"POST /predict HTTP/1.1\r\nHost: {place}\r\nAccept: {accept}\r\nContent-Length: ".encode()
        self._socket: socket.socket | None = None
        self._connect()

    def ask(self, content: bytes) -> tuple[bool, bytes]:
        """Send an image. Return whether the status is 200, and the body. Raises OSError."""
        connection = self._socket or self._connect()
        connection.sendall(b"%s%d\r\n\r\n%s" % (self._head, len(content), content))
        received = bytearray()
        while (end := received.find(b"\r\n\r\n")) < 0:
            received += self._receive(connection)
        head = bytes(received[:end]).lower()
        _, found, rest = head.partition(b"\r\ncontent-length:")
        if not found:
            raise ConnectionAbortedError("a response without Content-Length")
        length = end + 4 + int(rest.partition(b"\r\n")[0])
        while len(received) < length:
            received += self._receive(connection)
        if b"\r\nconnection: close" in head:
            self.close()
        return head.startswith(b"http/1.1 200"), bytes(received[end + 4 :])

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket = None

    def _connect(self) -> socket.socket:
        self._socket = socket.create_connection(self._address, timeout=300)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._flags:
            self._socket.settimeout(None)  # with a timeout, Python sleeps until there are data
        return self._socket

    def _receive(self, connection: socket.socket) -> bytes:
        part = None
        while part is None:
            try:
                part = connection.recv(2**16, self._flags)
            except BlockingIOError:
                continue
        if not part:
            raise ConnectionResetError("the connection was closed")
        return part


def load(url: str, pid: int, job: Job, clients: int, requests: int, *, sleep: bool) -> dict[str, float]:
    """Send `requests` images, in turn, from `clients` clients with one connection each. sleep: also a single one."""
    place = url.removeprefix("http://")
    numbers = iter(range(requests))
    done: list[tuple[int, float, bytes | None]] = []  # number, seconds, and the body of a response with status 200

    def ask_all(connection: Client) -> None:
        for number in numbers:
            start_time = time.perf_counter()
            try:
                is_ok, body = connection.ask(job.sent[number % len(job.sent)])
            except OSError:
                connection.close()
                is_ok, body = False, b""
            done.append((number, time.perf_counter() - start_time, body if is_ok else None))

    accept = "application/json" if job.classify else "image/png"
    connections = [Client(place, accept, polls=clients == 1 and not sleep) for _ in range(clients)]
    threads = [threading.Thread(target=ask_all, args=(connection,)) for connection in connections]
    started, used = time.perf_counter(), cpu_seconds(pid)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whole, used = time.perf_counter() - started, cpu_seconds(pid) - used
    for connection in connections:
        connection.close()
    # Only now: the comparison would take time from the client while the server waits for its next request.
    answered = [(number % len(job.sent), body) for number, _, body in done if body is not None]
    lost, mixed = requests - len(answered), sum(not job.is_right(index, body) for index, body in answered)
    return _numbers([seconds for _, seconds, _ in done], whole, used, lost=lost, mixed=mixed)


def _numbers(seconds: list[float], whole: float, cpu: float, *, lost: int, mixed: int) -> dict[str, float]:
    p50, p99 = np.percentile(seconds, (50, 99))
    return {
        "per_second": len(seconds) / whole,
        "p50_ms": 1000 * p50,
        "p99_ms": 1000 * p99,
        "cpu_ms": 1000 * cpu / len(seconds),
        "lost": lost,
        "mixed": mixed,
    }


@contextlib.contextmanager
def cores_of(part: str) -> Iterator[None]:
    """Restrict this thread, and the threads and processes that it starts, to the cores of the "server" or "clients"."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    cores = sorted(before)
    half = (len(cores) + 1) // 2
    os.sched_setaffinity(0, cores[:half] if part == "server" else cores[half:] or cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process and its children, which does not depend on other programs."""
    first = psutil.Process(pid)
    return sum(sum(entry.cpu_times()[:2]) for entry in [first, *first.children(recursive=True)])


def memory(pid: int) -> float:
    """Return the resident memory of a process and its children in megabytes."""
    first = psutil.Process(pid)
    return sum(entry.memory_info().rss for entry in [first, *first.children(recursive=True)]) / 2**20


@contextlib.contextmanager
def workbench_server(folder: Path, workers: int) -> Iterator[tuple[str, int]]:
    """Run `workbench serve` on the cores of the server. The value is its URL and its process id."""
    command = [sys.executable, "-m", "workbench", "serve", str(folder), "--port", "0", "--json"]
    command += ["--workers", str(workers)]
    with cores_of("server"):
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}
        )
    try:
        yield json.loads(process.stdout.readline())["url"], process.pid
    finally:
        process.terminate()
        process.wait(60)


@contextlib.contextmanager
def rival_server(folder: Path) -> Iterator[tuple[str, int]]:
    """Run fastapi_server.py on the cores of the server. The value is its URL and its process id."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, str(Path(__file__).with_name("fastapi_server.py")), str(folder), "--port", str(port)]
    with cores_of("server"):
        process = subprocess.Popen([*command, "--threads", str(cores())])
    try:
        for _ in range(300):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}", process.pid
    finally:
        process.terminate()
        process.wait(60)


def measure(folder: Path, options: argparse.Namespace) -> bool:
    """Return True if every request received a response, and the expected one from `workbench serve`."""
    with cores_of("server"):
        predictor = Predictor.open(folder)
        shown = (
            images_of(options.images, options.pictures)
            if options.images
            else (noise if options.noise else surfaces)(options.pictures, options.side)
        )
        job = Job(predictor, shown)
    count = options.requests or options.pictures
    rows: dict[str, list[dict[str, float]]] = {}
    with contextlib.ExitStack() as stack:
        url, pid = stack.enter_context(workbench_server(folder, options.workers))
        rival = stack.enter_context(rival_server(folder)) if options.rival else None
        for _ in range(options.rounds):
            with cores_of("server"):
                rows.setdefault("predictor alone", []).append(sequential(predictor, job))
            with cores_of("clients"):
                for number, clients in enumerate(options.clients):
                    row = {**load(url, pid, job, clients, count, sleep=options.sleep), "mb": memory(pid)}
                    again = options.clients[:number].count(clients)
                    name = f"served, {clients} clients" + (f", {again + 1}" if again else "")
                    rows.setdefault(name, []).append(row)
                for clients in dict.fromkeys(options.clients if rival else ()):
                    # The results of this server differ at thresholds.
                    row = {**load(*rival, job, clients, count, sleep=options.sleep), "mixed": 0}
                    rows.setdefault(f"FastAPI, {clients} clients", []).append(row)
        with urllib.request.urlopen(f"{url}/metrics") as answer:
            lines = answer.read().decode().splitlines()
    print(f"\n{predictor.settings.task}, {len(shown)} images of {shown[0].shape[1]} x {shown[0].shape[0]}")
    print(
        f"{'':>22} {'images/s':>9} {'share':>18} {'p50 ms':>8} {'p99 ms':>8} {'CPU ms':>7}"
        f" {'lost':>5} {'mixed':>6} {'MB':>5}"
    )
    for name, entries in rows.items():
        _show(name, entries, [entry["per_second"] for entry in rows["predictor alone"]])
    numbers = {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if line[0] != "#"}
    calls, observed = (numbers[f"workbench_network_{what}_total"] for what in ("calls", "pictures"))
    print(f"{observed / calls:.2f} images or tiles per call of the network")
    return not any(entry["lost"] or entry["mixed"] for entries in rows.values() for entry in entries)


def _show(name: str, rounds: list[dict[str, float]], predictor: list[float]) -> None:
    """Print a row. predictor: images per second of the predictor in the same rounds."""
    middle = {key: float(np.median([entry[key] for entry in rounds])) for key in rounds[0]}
    shares = [entry["per_second"] / alone for entry, alone in zip(rounds, predictor, strict=True)]
    share = f"{np.median(shares):.2f} ({min(shares):.2f}-{max(shares):.2f})"
    print(
        f"{name:>22} {middle['per_second']:9.1f} {share:>18} {middle['p50_ms']:8.1f} "
        f"{max(entry['p99_ms'] for entry in rounds):8.1f} {middle['cpu_ms']:7.1f} "
        f"{sum(entry['lost'] for entry in rounds):5d} {sum(entry['mixed'] for entry in rounds):6d}"
        + (f" {max(entry['mb'] for entry in rounds):5.0f}" if "mb" in middle else ""),
        flush=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--export", type=Path, help="a folder that 'workbench export' has written")
    parser.add_argument("--images", type=Path, help="a folder of 8-bit images to send instead of generated surfaces")
    parser.add_argument("--noise", action="store_true", help="send noise instead of generated surfaces")
    parser.add_argument("--pictures", type=int, default=256)
    parser.add_argument("--requests", type=int, help="of each row; without it, one for each image")
    parser.add_argument("--side", type=int, default=256)
    parser.add_argument("--clients", type=lambda text: [int(part) for part in text.split(",")], default=[1, 8, 64])
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--sleep", action="store_true", help="let a single client sleep until the response arrives")
    parser.add_argument("--rival", action="store_true", help="also measure fastapi_server.py")
    options = parser.parse_args()
    if options.export:
        return 0 if measure(options.export, options) else 1
    with tempfile.TemporaryDirectory() as place:
        kinds = [make_export(Path(place) / name, classify=name == "verdicts") for name in ("masks", "verdicts")]
        return 0 if all([measure(folder, options) for folder in kinds]) else 1


if __name__ == "__main__":
    sys.exit(main())
