"""Export options: reduced precision, operating point and target time."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import onnx
import pytest

from tests.conftest import scratched
from tests.training.conftest import MEASURED_SIDES, make_run
from tests.training.export.export_settings import SETTINGS, bright, spots
from workbench.core.evaluation import operating_point
from workbench.core.evaluation.operating_point import ChosenRule
from workbench.core.evaluation.verdict_rules import RuleChoice
from workbench.core.problems import BadSettings
from workbench.core.runs.export_options import ExportOptions
from workbench.inference.engines.registry import KINDS
from workbench.inference.io.image_io import read_image, write_png
from workbench.inference.model_settings import EngineOptions, load_settings
from workbench.inference.predictor import Predictor
from workbench.inference.verdict_rule import VerdictRule
from workbench.training.export import export_images, latency
from workbench.training.export.parity import Parity, check_cost, compare

# An independent program, written after the description of model.json.
_INDEPENDENT_PROGRAM = """
import sys, json, cv2, numpy as np, onnx, onnxruntime
folder, picture, out = sys.argv[1:]
onnx.checker.check_model(folder + "/network.onnx", full_check=True)
m = json.load(open(folder + "/model.json", encoding="utf-8"))
x = cv2.imdecode(np.fromfile(picture, np.uint8), cv2.IMREAD_GRAYSCALE).astype(np.float32) * (m["full_scale"] / 255)
h, w = x.shape
x = np.clip((x - m["low"]) / (m["high"] - m["low"]), -0.5, 1.5)
x = np.pad((x - m["mean"][0]) / m["std"][0], ((0, -h % m["multiple"]), (0, -w % m["multiple"])), "reflect")
run, x = onnxruntime.InferenceSession(folder + "/network.onnx").run, x[None, None].astype(np.float32)
ways = [(), *({"left_right": (3,), "upside_down": (2,), "both": (2, 3)}[way] for way in m.get("mirrored", []))]
p = np.mean([np.flip(run(None, {"picture": np.flip(x, axes)})[0], axes) for axes in ways], axis=0)
scores = np.rint(255 * p[0, 1:, :h, :w]).astype(np.uint8)
mask = np.uint8(scores[0] >= np.ceil(255 * m["thresholds"][0] - 1e-9)) * m["classes"][0]["id"]
n, labels, stats, _ = cv2.connectedComponentsWithStats(np.uint8(mask > 0), connectivity=8)
mask[np.isin(labels, [i for i in range(1, n) if stats[i, 4] < m["min_area"][0]])] = 0
cv2.imencode(".png", mask)[1].tofile(out)
"""


def readme(folder):
    return (folder / "README.md").read_text("utf-8")


def test_mask_equals_that_of_an_independent_program(exported, tmp_path):
    out, _ = exported
    assert len(_INDEPENDENT_PROGRAM.strip().splitlines()) <= 16 and "workbench" not in _INDEPENDENT_PROGRAM
    write_png(tmp_path / "p.png", scratched(np.random.default_rng(11), 150, 101, defects=4)[0])
    command = [
        sys.executable,
        "-I",
        "-c",
        _INDEPENDENT_PROGRAM,
        str(out),
        str(tmp_path / "p.png"),
        str(tmp_path / "m.png"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    model = Predictor.open(out, engine="onnx")
    assert model.settings.mirrored == ("both",)
    ours = model.predict(read_image(tmp_path / "p.png"))
    assert ours.regions and read_image(tmp_path / "m.png").tobytes() == ours.mask.tobytes()


def test_network_has_opset_17_and_free_batch_and_size(exported):
    model = onnx.load(str(exported[0] / "network.onnx"))
    assert [entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")] == [17]
    shapes = [
        [d.dim_param or d.dim_value for d in v.type.tensor_type.shape.dim]
        for v in (*model.graph.input, *model.graph.output)
    ]
    assert shapes[0][0] == "N" and shapes[0][1] == 1 and all(isinstance(side, str) for side in shapes[0][2:])
    assert all(isinstance(side, str) for side in (shapes[1][0], *shapes[1][2:]))


def test_reduced_precision_is_reported_with_its_cost(exported):
    out, events = exported
    report = json.loads((out / "parity.json").read_text("utf-8"))
    for name, found in report["formats"].items():
        assert ("held_out" in found) == bool(KINDS[name].reduced)
    held = report["formats"]["int8"]["held_out"]
    assert held["before"]["pictures"] == held["after"]["pictures"] > 0 and held["before"]["dice"] > 0.5
    assert abs(held["before"]["dice"] - held["after"]["dice"]) <= report["limits_reduced"]["dice_loss"]
    assert report["formats"]["int8"]["max_abs"] > 1e-4  # a different network, not a copy
    types = {
        init.data_type for init in onnx.load(str(out / "network.int8.onnx")).graph.initializer if len(init.dims) == 4
    }
    assert onnx.TensorProto.INT8 in types
    assert load_settings(out / "model.json").order[-1] in ("int8", "bf16")  # never chosen by default


def test_speed_is_measured_and_engine_options_are_stored(exported):
    out, events = exported
    content = json.loads((out / latency.LATENCY_FILE).read_text("utf-8"))
    settings = load_settings(out / "model.json")
    assert set(content["engines"]) == set(settings.files) == set(settings.order) == set(settings.engines)
    for name, found in content["engines"].items():
        assert found["load_ms"] > 0 and EngineOptions.from_json(found["tuning"]) == settings.engines[name]
        measured = {(row["height"], row["threads"]) for row in found["rows"]}
        assert measured >= {(side, threads) for side in MEASURED_SIDES for threads in (0, 1)}
    whole = [name for name in settings.order if not KINDS[name].reduced]
    times = [latency.p50(content["engines"][name]) for name in whole]
    assert times == sorted(times) and content["order"] == list(settings.order)
    assert content["dygraph"]["p50_ms"] > 0
    readme = (out / "README.md").read_text("utf-8")
    assert all(f"| {name} | " in readme for name in settings.files) and "in Paddle takes" in readme
    assert not list(out.rglob("__pycache__"))


def found(**times: float | None) -> dict:
    return {
        name: {"tuning": {"threads": 0}, "rows": [{"height": 9, "width": 9, "threads": 0, "p50_ms": time}]}
        for name, time in times.items()
    }


@pytest.mark.parametrize(
    ("times", "target", "first", "words"),
    [
        ({"onnx": 9.0, "openvino": 7.0}, None, "openvino", "openvino is the fastest"),
        ({"onnx": 9.0, "int8": 3.0}, None, "onnx", "of the 32-bit formats"),
        ({"onnx": 9.0, "int8": 3.0}, 10, "onnx", "onnx is the fastest"),
        (
            {"onnx": 9.0, "int8": 3.0, "bf16": 4.0},
            5,
            "int8",
            "Only int8, in reduced precision, reaches the requested 5 ms",
        ),
        ({"onnx": 9.0, "int8": 6.0}, 5, "onnx", "No format reaches the requested 5 ms"),
        ({"int8": 6.0, "bf16": 5.0}, None, "bf16", "only formats in reduced precision"),
        ({"onnx": None, "paddle": 50.0}, None, "paddle", "paddle is the fastest"),
    ],
)
def test_order_of_engines(times, target, first, words):
    names, why = latency.order(found(**times), target)
    assert names[0] == first and set(names) == set(times) and words in why


def test_engine_without_measurement_comes_last(exported, tmp_path):
    tick = []
    wrong = latency.measure_engines(
        exported[0], ["lite"], tmp_path / "no.png", [(9, 9)], seconds=0.1, tick=lambda: tick.append(1)
    )
    assert "no.png" in wrong["lite"]["error"] and tick
    assert latency.order({**wrong, **found(onnx=3.0)}, None)[0] == ["onnx", "lite"]


def test_usual_size_is_the_median():
    assert latency.usual_size([(10, 10), (100, 50), (40_000, 20_000), (900, 900), (20, 20)]) == (100, 50)
    assert latency.usual_size([(40_000, 20_000)]) == (2048, 2048)
    assert latency.sizes_for((512, 512), "segmentation") == [(512, 512), (2048, 2048)]
    assert latency.sizes_for((99, 88), "classification") == [(99, 88)]


# --- parity check of reduced precision ----------------------------------------------------------------------


def rough(batch: np.ndarray) -> np.ndarray:
    return np.clip(bright(batch) + np.float32(0.01), 0, 1)


def test_reduced_precision_may_differ_within_limits():
    assert compare(SETTINGS, bright, {"int8": rough}, [("a", spots)])["int8"].passed
    assert not compare(SETTINGS, bright, {"onnx": rough}, [("a", spots)])["onnx"].passed
    nothing = compare(SETTINGS, bright, {"int8": lambda batch: bright(batch * 0)}, [("a", spots)])["int8"]
    assert not nothing.passed and "results agree" in nothing.why


BEFORE = {"pictures": 9, "dice": 0.8, "found": 50, "defects": 60, "false_per_picture": 0.1}


@pytest.mark.parametrize(
    ("after", "why"),
    [
        ({**BEFORE, "dice": 0.785, "found": 49}, ""),
        ({**BEFORE, "dice": 0.77}, "Dice on labeled images falls from 0.800 to 0.770"),
        ({**BEFORE, "dice": None}, "to nothing"),
        ({**BEFORE, "found": 48}, "48 of 60 labeled defects are detected instead of 50"),
        (None, "no labeled image"),
    ],
)
def test_cost_limits_of_reduced_precision(after, why):
    parity = Parity(reduced="int8", images=9)
    check_cost(parity, BEFORE, after, "")
    assert parity.passed == (not why) and why in parity.why
    assert parity.summary()["held_out"]["before"] == BEFORE


def test_earlier_reason_is_not_overwritten():
    parity = Parity(reduced="int8", why="it could not be quantised")
    check_cost(parity, BEFORE, {**BEFORE, "dice": 0.1}, "")
    assert parity.why == "it could not be quantised" and parity.summary()["mask_agreement"] is None


# --- the operating point --------------------------------------------------------------------------


def test_operating_points_lie_around_the_validated_one(labeled_project):
    run = make_run(labeled_project, widths=[4, 8])
    items, note = export_images.measure_effects(run.dataset())
    assert items and not note

    def dark(batch):  # detects dark pixels, with a wide border of uncertain ones
        chance = 1 / (1 + np.exp(12 * batch[:, 0] - 4))
        return np.stack([1 - chance, chance], axis=1).astype(np.float32)

    settings = replace(SETTINGS, thresholds=(0.5,))
    received = []
    moved = {
        point: export_images.move_thresholds(
            point, settings, dark, labeled_project, items, tick=received.append
        ).thresholds[0]
        for point in ("balanced", "more", "fewer", "0.35")
    }
    assert moved["more"] <= moved["balanced"] == 0.5 <= moved["fewer"] and moved["0.35"] == 0.35
    assert moved["more"] < moved["fewer"] and received[-1] == 1.0


def test_rule_is_chosen_again_for_other_thresholds(labeled_project):
    run = make_run(labeled_project, widths=[4, 8])
    items, _ = export_images.measure_effects(run.dataset())
    settings = replace(SETTINGS, thresholds=(0.9,), verdict_rule=VerdictRule("mass", 1e6))
    budget = ChosenRule(settings.verdict_rule, RuleChoice("budget", 5), ("val",))
    again = export_images.refit_rule(budget, settings, bright, labeled_project, items).verdict_rule
    assert again.kind == "mass" and again.mass < 1e6
    fixed = ChosenRule(settings.verdict_rule, RuleChoice("mass", 1e6))
    for stored in (None, fixed):
        assert export_images.refit_rule(stored, settings, bright, labeled_project, items) == settings
    assert export_images.refit_rule(budget, settings, bright, labeled_project, []) == settings


@pytest.mark.parametrize("point", ["often", "0", "1.5", "nan"])
def test_invalid_operating_point_is_reported(labeled_project, point):
    with pytest.raises(BadSettings, match="point cannot be"):
        export_images.move_thresholds(point, SETTINGS, bright, labeled_project, [], tick=print)


@pytest.mark.parametrize("options", [ExportOptions(("tflite",)), ExportOptions(()), ExportOptions(target_ms=0.0)])
def test_invalid_options_are_reported(options):
    with pytest.raises(BadSettings):
        options.check()


def test_point_rule_and_target_reach_the_export(trained, inside, tmp_path, request):
    before = load_settings(trained.best / "model.json").thresholds
    rule = VerdictRule("mass", 7.5, bad="", unsure=1.5)
    point = operating_point.OperatingPoint.of(operating_point.settings_of(trained))
    operating_point.store(trained, point, chosen_on=(), rule=ChosenRule(rule, RuleChoice.of(rule)))
    request.addfinalizer(lambda: operating_point.restore(trained))
    exporter = inside(
        "export",
        trained.root,
        "--out",
        tmp_path / "out",
        "--formats",
        "onnx,lite",
        "--point",
        "0.97",
        "--target",
        0.0001,
        "--seconds",
        0.2,
        "--language",
        "zh_CN",
    )
    assert exporter.end() == 0, exporter.stderr[-3000:]
    assert load_settings(tmp_path / "out" / "model.json").thresholds == (0.97,) * len(before)
    assert load_settings(tmp_path / "out" / "model.json").verdict_rule == rule
    assert exporter.last.result["point"]["verdict_rule"]["mass"] == 7.5 and " 7.5 " in readme(tmp_path / "out")
    assert "1.5 px²" in readme(tmp_path / "out")
    golden = json.loads((tmp_path / "out" / "golden" / "1.json").read_text("utf-8"))
    assert isinstance(golden["verdict"], str) and golden["verdict_reason"]["threshold"] == 7.5
    content = json.loads((tmp_path / "out" / latency.LATENCY_FILE).read_text("utf-8"))
    assert content["target_met"] is False and "No format reaches" in content["note"]
    assert "没有格式达到要求的 0.0001 ms" in readme(tmp_path / "out")
    if find_spec("paddlelite") is None:
        assert any("lite cannot be created" in getattr(event, "what", "") for event in exporter.events)
        assert exporter.last.result["formats"] == ["onnx"]
