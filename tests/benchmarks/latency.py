"""Prediction time by engine, for the classic UNet 64-128-256-512 and the fast settings for CPUs.

    python tests/benchmarks/latency.py [--nets fast,classic] [--sizes 512,2048] [--seconds 20] [--engines onnx,...]

The networks have random weights. The engines of an export are compared with the same network in plain Paddle (dygraph)
and with the ONNX file of the converter, run by ONNX Runtime with its default options. Aims: the chosen engine is never
slower than the fastest one measured; six times faster than plain Paddle; an image of 512 × 512 with the fast settings
within 35 ms on two cores, within 15 ms with INT8. The times hold for one machine only.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from workbench.core.runs.training_settings import TrainingSettings, request  # noqa: E402
from workbench.inference.batch.benchmark import fit, time_calls  # noqa: E402
from workbench.inference.batch.export_package import write_package  # noqa: E402
from workbench.inference.engines.registry import KINDS, cannot_make  # noqa: E402
from workbench.inference.io.image_io import write_png  # noqa: E402
from workbench.inference.model_settings import ClassSettings, ModelSettings, save_settings  # noqa: E402
from workbench.inference.predictor import Predictor  # noqa: E402
from workbench.training.export import latency  # noqa: E402

NETS: dict[str, dict[str, Any]] = {
    "fast": {"widths": [16, 32, 64, 96], "stem": 4, "local_contrast": True},
    "classic": {"widths": [64, 128, 256, 512], "stem": 1, "local_contrast": False},
}
AIMS_MS = {"onnx": 35.0, "int8": 15.0}  # fast settings, 512 x 512, two cores
TIMES_DYGRAPH = 6.0


def build(folder: Path, training_settings: TrainingSettings, engines: list[str]) -> tuple[ModelSettings, Any]:
    """Write an export without reference images; return it and the network. folder/raw.onnx: file of the converter."""
    import paddle
    import paddle2onnx

    from workbench.core.runs.onnx_files import OPSET
    from workbench.training.export.export_formats import quantize, save_program
    from workbench.training.networks import UNet, multiple_of
    from workbench.training.onnx_graph import write_onnx

    paddle.seed(0)
    net = UNet(1, 3, training_settings.widths, stem=training_settings.stem, contrast=training_settings.local_contrast)
    net.train()
    for _ in range(3):  # fill the running statistics of the norms
        net(paddle.randn([2, 1, 128, 128]))
    net.eval()
    side = multiple_of(training_settings.widths, stem=training_settings.stem, contrast=training_settings.local_contrast)
    settings = ModelSettings(
        task="segmentation",
        name="benchmark",
        mean=(0.5,),
        std=(0.25,),
        tile=512 // side * side,
        overlap=64,
        multiple=side,
        thresholds=(0.99, 0.99),
        min_area=(3, 3),
        files={name: KINDS[name].file for name in engines},
        classes=(ClassSettings(1, "scratch", "#ff0000"), ClassSettings(2, "pit", "#00ff00")),
    )
    stem = folder / "paddle" / "network"
    save_program(net, training_settings, stem)
    write_onnx(net, training_settings, folder / "network.onnx")
    paddle2onnx.export(
        f"{stem}.json", f"{stem}.pdiparams", str(folder / "raw.onnx"), opset_version=OPSET, optimize_tool="none"
    )
    if "int8" in engines:
        rng = np.random.default_rng(0)
        batches = (rng.normal(0, 1, (1, 1, 256, 256)).astype(np.float32) for _ in range(8))
        quantize(folder / "network.onnx", folder / KINDS["int8"].file, batches)
    save_settings(settings, folder / "model.json")
    write_package(folder)
    return settings, net


def plain(settings: ModelSettings, engine: Callable[[np.ndarray], np.ndarray], image: np.ndarray, seconds: float):
    predictor = Predictor(settings, engine)
    return 1000 * np.percentile(time_calls(lambda: predictor.predict(image), seconds), (50, 95))


def raw_onnx(path: Path) -> Callable[[np.ndarray], np.ndarray]:
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return lambda batch: session.run(None, {name: batch})[0]


def measure(name: str, sizes: list[int], engines: list[str], seconds: float, place: Path) -> None:
    """Print the table of one network."""
    from workbench.training.evaluator import DygraphEngine

    training_settings = request("unet", **NETS[name])
    folder = place / name
    folder.mkdir()
    settings, net = build(folder, training_settings, engines)
    shown = np.random.default_rng(1).normal(128, 40, (512, 512)).clip(0, 255).astype(np.uint8)
    write_png(place / "picture.png", shown)
    times: dict[int, dict[str, float]] = {}
    print(f"\n{name}: {'-'.join(map(str, training_settings.widths))}, stem {training_settings.stem}")
    headers = (("picture", 6), ("threads", 10), ("p50 ms", 9), ("p95 ms", 9), ("network", 9), ("load ms", 8), ("MB", 6))
    print(" " * 22, *(f"{text:>{width}}" for text, width in headers))
    found = latency.measure_engines(
        folder, engines, place / "picture.png", [(side, side) for side in sizes], seconds=seconds
    )
    for engine, reported in found.items():
        if "error" in reported:
            print(f"{engine:>22} {reported['error']}")
            continue
        for row in reported["rows"]:
            head = f"{engine:>22} {row['width']:>5}² {row['threads'] or 'all':>10}"
            if "why" in row:
                print(f"{head} not measured: {row['why']}")
                continue
            memory = reported["memory_mb"] or float("nan")
            print(
                f"{head} {row['p50_ms']:9.1f} {row['p95_ms']:9.1f} {row['network_ms']:9.1f} "
                f"{reported['load_ms']:8.0f} {memory:6.0f}",
                flush=True,
            )
            if row["threads"] == reported["tuning"]["threads"]:
                times.setdefault(row["width"], {})[engine] = row["p50_ms"]
        print(f"{'':>22} chosen: {reported['tuning']}")
    for side in sizes:
        image = fit(shown, side, side)
        for engine, run in (("ONNX Runtime, raw", raw_onnx(folder / "raw.onnx")), ("dygraph", DygraphEngine(net))):
            p50, p95 = plain(settings, run, image, seconds / 4)
            times.setdefault(side, {})[engine] = float(p50)
            print(f"{engine:>22} {side:>5}² {'':>10} {p50:9.1f} {p95:9.1f}", flush=True)
    order, note = latency.order(found, None)
    print(f"{'':>22} {note}")
    for side, of_size in times.items():
        _check_aims(name, side, of_size, order[0])


def _check_aims(name: str, side: int, times: dict[str, float], chosen: str) -> None:
    if chosen not in times:
        return
    whole = {engine: time for engine, time in times.items() if engine not in KINDS or not KINDS[engine].reduced}
    quickest = min(whole, key=lambda engine: whole[engine])
    print(f"{side}²: {chosen} takes {times[chosen] / whole[quickest]:.2f} of the quickest ({quickest})")
    if "dygraph" in times:
        share = times["dygraph"] / times[chosen]
        output = _output(share >= TIMES_DYGRAPH)
        print(f"{side}²: {share:.1f} times as quick as plain Paddle (aim {TIMES_DYGRAPH:g}){output}")
    if name == "fast" and side == 512:
        for engine, aim in AIMS_MS.items():
            if engine in times:
                print(f"{side}²: {engine} {times[engine]:.1f} ms (aim {aim:g}){_output(times[engine] <= aim)}")


def _output(reached: bool) -> str:
    return "" if reached else "  <- not reached"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nets", default="fast,classic")
    parser.add_argument("--sizes", default="512,2048")
    parser.add_argument("--engines", default="onnx,openvino,paddle,int8,bf16")
    parser.add_argument("--seconds", type=float, default=20.0, help="for each engine")
    options = parser.parse_args()
    engines = [name for name in options.engines.split(",") if not cannot_make(name)]
    with tempfile.TemporaryDirectory() as place:
        for name in options.nets.split(","):
            measure(name, [int(side) for side in options.sizes.split(",")], engines, options.seconds, Path(place))


if __name__ == "__main__":
    main()
