"""Project of bright and dark images, and a run with a network for their verdicts that needs no training."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.project.storage import write_json
from workbench.core.runs.dataset import Dataset, Item
from workbench.core.runs.events import Finished, encode
from workbench.core.runs.run import Run
from workbench.core.runs.training_settings import request
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import ModelSettings, save_settings

SIDE = 32


def make_verdict_project(root: Path, count: int = 40, *, wrong: int = 3) -> Run:
    """Create images p000.png ...: even ones are bright and OK, odd ones dark and NG, the first `wrong` NG ones bright.

    Three of four are held out: p000 and p001 for val, p002 and p003 for test, and so on.
    """
    rng = np.random.default_rng(4)
    items = []
    with Project.create(root, verdicts=["OK", "NG"]) as project:
        for number in range(count):
            verdict = "NG" if number % 2 else "OK"
            bright = verdict == "OK" or number // 2 < wrong
            key = f"线 [1]/p{number:03d}.png"
            gray = int(rng.integers(150, 230) if bright else rng.integers(40, 120))
            pixels = np.full((40, 48), gray, np.uint8)
            pixels[5:11, 30:38] = 255 if bright else 0
            write_png(project.image_path(key), pixels)
            annotation.save_note(project, key, annotation.Note(verdict=verdict, status="done"))
            split = ("val", "test", "train", "test")[number // 2 % 4]
            items.append(Item(key=key, split=split, width=48, height=40, verdict=verdict))
    run = Run(root / "runs" / "20260102-030405-resnet")
    run.root.mkdir(parents=True)
    dataset = Dataset(model="resnet", verdicts=["OK", "NG"], items=items)
    write_json(run.dataset_path, dataset.model_dump(mode="json"))
    write_json(run.settings_path, request("resnet", reasons={"batch": "Chosen by hand."}).model_dump(mode="json"))
    run.events_path.write_text(encode(Finished()) + "\n", "utf-8")
    run.best.mkdir()
    write_network(run.best / "network.onnx")
    settings = ModelSettings(
        task="classification",
        name="bright",
        run=run.name,
        verdicts=("OK", "NG"),
        mean=(0.5,),
        std=(0.25,),
        input_size=SIDE,
        temperature=2.0,
        files={"onnx": "network.onnx"},
    )
    save_settings(settings, run.best / "model.json")
    return run


def write_network(path: Path) -> None:
    """Write a network that decides by the mean brightness, with maps of 4 x 4 cells of bright and dark parts."""
    kernel = numpy_helper.from_array(np.array([3.0, -3.0], np.float32).reshape(2, 1, 1, 1), "kernel")
    nodes = [
        helper.make_node("AveragePool", ["picture"], ["cells"], kernel_shape=[8, 8], strides=[8, 8], pads=[4, 4, 0, 0]),
        helper.make_node("Conv", ["cells", "kernel"], ["maps"]),
        helper.make_node("GlobalAveragePool", ["maps"], ["pooled"]),
        helper.make_node("Flatten", ["pooled"], ["logits"]),
        helper.make_node("Softmax", ["logits"], ["probabilities"], axis=1),
    ]
    tensor = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "bright",
        [tensor("picture", TensorProto.FLOAT, ["n", 1, SIDE, SIDE])],
        [tensor("probabilities", TensorProto.FLOAT, ["n", 2]), tensor("maps", TensorProto.FLOAT, ["n", 2, 4, 4])],
        [kernel],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    path.write_bytes(model.SerializeToString())
