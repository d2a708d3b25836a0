"""Operators and synchronizing calls of one training step, counted on a CPU.

    python -m tests.benchmarks.step_operators [--before FOLDER]

On a GPU, each operator is launched by the CPU, at 5 to 20 microseconds, and each synchronizing call (a value read from
the device, an array copied to it from pageable memory) waits until all launched work is done. A late read, of a value
that was copied to the host when the step before was computed, waits for that copy only. The counts are the same on a
CPU, where this program makes the step of a GPU: mixed precision with loss scaling, no replicas. --before: checkout of
an earlier version to compare with.
"""

from __future__ import annotations

import argparse
import contextlib
import inspect
import json
import os
import subprocess
import sys
import tempfile
import types
import warnings
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
READS = ("numpy", "item", "tolist", "__bool__", "__float__", "__int__", "__array__")
KINDS = ("read", "late read", "copy")
NETWORKS = ("unet", "resnet")


def count(model: str) -> dict[str, int]:
    """Return the counts of a step of the version that is imported."""
    import numpy as np
    import paddle
    from paddle.profiler import Profiler, ProfilerTarget

    from workbench.training import losses
    from workbench.training.learner import Learner
    from workbench.training.optimizers import make_optimizer
    from workbench.training.precision import Precision, PrecisionChoice
    from workbench.training.resnet import ResNet
    from workbench.training.unet import UNet

    scaler = __import__("paddle.amp.grad_scaler", fromlist=["x"])
    place = types.SimpleNamespace(is_gpu_place=lambda: True)
    scaler._dygraph_tracer = lambda: types.SimpleNamespace(_expected_place=place)
    generator = np.random.default_rng(0)
    if model == "unet":
        nets = [UNet(1, 2, [16, 24, 32, 48]) for _ in range(2)]
        loss = partial(losses.segmentation_loss, dice_weight=1.0, cross_entropy_weight=1.0)
        images, kind = generator.normal(size=(4, 1, 64, 64)).astype(np.float32), "muon"
        truth = (images[:, 0] > 1).astype(np.uint8)
    else:
        nets = [ResNet(3, 4, depth=50, width=0.25, input_size=64) for _ in range(2)]
        loss = partial(losses.verdict_loss, label_smoothing=0.05)
        images, kind = generator.normal(size=(4, 3, 64, 64)).astype(np.float32), "adamw"
        truth = generator.integers(0, 4, 4)
    for net in nets:
        for layer in net.sublayers():
            if hasattr(layer, "interpolated"):
                layer.interpolated = True
    options = {"fused": True} if "fused" in inspect.signature(make_optimizer).parameters else {}
    optimizer = make_optimizer(nets[0], kind, weight_decay=0.01, masters=True, **options)
    options = {"on_gpu": True} if "on_gpu" in inspect.signature(Learner).parameters else {}
    precision = Precision(PrecisionChoice("fp16", ""))
    learner = Learner(*nets, loss, precision, optimizer, grad_clip=1e-3, average=0.99, **options)
    batch: tuple[Any, Any] = (images, truth)
    if options:  # copied while the step before was computed
        batch = paddle.to_tensor(images), paddle.to_tensor(truth)
    step = getattr(learner, "advance", learner.step)
    for _ in range(3):
        step(*batch, 1e-3)
    calls = _counting(paddle)
    step(*batch, 1e-3)
    found = dict(calls)
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        profiler = Profiler(targets=[ProfilerTarget.CPU], on_trace_ready=lambda p: p.export(str(trace), format="json"))
        profiler.start()
        step(*batch, 1e-3)
        profiler.stop()
        events = json.loads(trace.read_text("utf-8"))["traceEvents"]
    operators = sum(event.get("cat") == "Operator" for event in events)
    return {"operators": operators, **{kind: found.get(kind, 0) for kind in KINDS}}


def _counting(paddle: Any) -> Counter[str]:
    """Count outermost reads of tensors, and copies of arrays, from now on."""
    calls: Counter[str] = Counter()
    inside: list[str] = []

    def counted(function: Any, name: str) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            # The power of AdamW's decay rates and the learning rate are on the CPU in any case.
            if not inside:
                calls[name] += 1
            inside.append(name)
            try:
                return function(*arguments, **options)
            finally:
                inside.pop()

        return call

    for name in READS:
        setattr(paddle.Tensor, name, counted(getattr(paddle.Tensor, name), "read"))
    paddle.to_tensor = counted(paddle.to_tensor, "copy")
    with contextlib.suppress(ImportError):  # earlier versions
        from workbench.training.flat_tensors import HostCopy

        HostCopy.read = counted(HostCopy.read, "late read")
    return calls


def measured(root: Path, model: str) -> dict[str, int]:
    environment = {**os.environ, "PYTHONPATH": str(root), "GLOG_minloglevel": "2", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(Path(__file__).resolve()), "--count", model]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="checkout of an earlier version")
    parser.add_argument("--count", choices=NETWORKS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.count:
        warnings.simplefilter("ignore")
        print(json.dumps(count(options.count)))
        return 0
    roots = {"before": options.before.resolve()} if options.before else {}
    roots["now"] = ROOT
    print("| step | version | operators | reads | late reads | copies |\n|---|---|---:|---:|---:|---:|")
    for model in NETWORKS:
        for version, root in roots.items():
            row = measured(root, model)
            counts = " | ".join(str(row[kind]) for kind in ("operators", *KINDS))
            print(f"| {model} | {version} | {counts} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
