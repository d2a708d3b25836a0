"""Health of a run: each finding follows from its events and from no others."""

from __future__ import annotations

import dataclasses
import math

import pytest

from workbench.core.messages import Message
from workbench.core.runs.events import Evaluated, Failed, Finished, Started, Step
from workbench.core.runs.gpu_facts import GpuSample, SystemSample
from workbench.core.runs.run_history import SILENT, HealthFinding, RunState, diagnose

STARTED = Started(model="unet", device="cpu", pictures={"train": 20, "val": 5}, seconds_planned=600)
ON_CARD = dataclasses.replace(STARTED, device="gpu:0", precision="fp16")
GB = 1 << 30


def finding(*events, samples=(), **how) -> HealthFinding:
    vitals = RunState()
    for event in events:
        vitals.add_event(event)
        if isinstance(event, Started):
            for sample in samples:
                vitals.add_sample(sample)
    return diagnose(vitals, **how)


def steps(count: int = 60, *, first: int = 1, loss=lambda i: 1 / i, **more) -> list[Step]:
    return [
        Step(
            step=i,
            time=float(i),
            loss=loss(i),
            rate=0.005 * (1 + math.cos(math.pi * i / 600)),
            progress=min(0.99, i / 600),
            **more,
        )
        for i in range(first, first + count)
    ]


def evaluated(minute: float, score: float | None, *, step: int | None = None, **metrics) -> Evaluated:
    return Evaluated(step=step or round(60 * minute), time=60 * minute, score=score, metrics=metrics)


def sample(cpu: float = 30.0, *, ram: float = 0.5, load: float | None = None, slowed: str = "") -> SystemSample:
    gpus = () if load is None else (GpuSample(0, "Card", load, GB, 2 * GB, 91.0, 1.0, 1.0, slowed=slowed),)
    return SystemSample(time=0, cpu=cpu, ram_used=int(ram * 100 * GB), ram_total=100 * GB, gpus=gpus)


def test_before_and_at_the_beginning():
    assert finding().kind == "starting" and finding(STARTED).kind == "starting"
    found = finding(STARTED, *steps(50))
    assert found.kind == "learning" and found.tone == "good" and found.fields["now"] < found.fields["first"] == 1.0


def test_pauses_and_silence():
    assert finding(STARTED, *steps(), paused=True).kind == "paused"
    assert finding(STARTED, *steps(), silent=SILENT + 1) == HealthFinding("silent", "warning", {"seconds": SILENT + 1})
    assert finding(STARTED, *steps(), silent=SILENT - 1).kind == "learning"
    assert finding(STARTED, *steps(), Finished(), silent=1e6, paused=True).kind == "well"


@pytest.mark.parametrize(
    ("cpu", "started", "cause"),
    [(20.0, STARTED, "disk"), (95.0, STARTED, "processor"), (20.0, ON_CARD, "disk"), (None, STARTED, "")],
)
def test_waiting_for_images_names_the_cause(cpu, started, cause):
    samples = [] if cpu is None else [sample(cpu)] * 5
    found = finding(started, *steps(data_wait=0.62), samples=samples)
    assert found == HealthFinding("waits", "warning", {"share": 0.62, "cause": cause, "gpu": started is ON_CARD})
    assert finding(started, *steps(data_wait=0.1), samples=samples).kind != "waits"


def test_overflows_are_reported_after_the_search_of_the_loss_scale():
    def scaled(scales: list[float], first: int = 1, skipped: int = 0) -> list[Step]:
        return [
            dataclasses.replace(event, loss_scale=scale, skipped=skipped)
            for event, scale in zip(steps(len(scales), first=first), scales)
        ]

    search = scaled([65536.0 / 2**i for i in range(8)], skipped=8)
    calm = scaled([256.0] * 40, first=30, skipped=8)
    assert finding(ON_CARD, *search, *calm).kind == "learning"  # overflows while the scale is searched are normal
    falls = scaled([128.0, 64.0, 64.0, 32.0, 16.0], first=80, skipped=12)
    assert finding(ON_CARD, *search, *calm, *falls) == HealthFinding("overflows", "warning", {"times": 4})
    assert finding(ON_CARD, *search, *calm, *falls[:3]).kind == "learning"


def test_diverged_training():
    assert finding(STARTED, *steps(100), *steps(20, first=40)) == HealthFinding("diverged", "warning", {"times": 1})
    resumed = dataclasses.replace(STARTED, resumed=True)
    assert finding(STARTED, *steps(100), resumed, *steps(20, first=40)).kind == "learning"
    rising = (STARTED, *steps(150, loss=lambda i: 0.5), *steps(150, first=151, loss=lambda i: 2.0))
    assert finding(*rising).kind != "rises"  # new labels may be the reason
    assert finding(*rising, evaluated(2, 0.5), evaluated(5, 0.5)).kind != "rises"
    found = finding(*rising, evaluated(2, 0.5), evaluated(5, 0.3))
    assert found.kind == "rises" and found.fields["least"] == pytest.approx(0.5) and found.fields["now"] > 1.9
    assert finding(STARTED, *steps(300, loss=lambda i: 0.5 + 0.2 * (i % 2))).kind != "rises"  # noise


def test_undefined_scores():
    assert finding(dataclasses.replace(STARTED, pictures={"train": 3}), *steps()).kind == "no_validation"
    few = dataclasses.replace(STARTED, pictures={"train": 3}, held_out_note="From 10 such images on, some are used.")
    assert finding(few, *steps()) == HealthFinding("few_held_out", "warning", {"note": few.held_out_note})
    assert finding(STARTED, *steps(), evaluated(1, None, regions={"defects": 0})).kind == "no_defects_held_out"
    nothing = evaluated(1, 0.0, regions={"defects": 3}, only_background=True)
    assert finding(STARTED, *steps(60), nothing).kind == "well"  # too early to judge
    assert finding(STARTED, *steps(300), nothing) == HealthFinding("only_background", "warning")
    assert finding(STARTED, *steps(60), nothing, Finished()).kind == "only_background"
    better = evaluated(2, 0.4, regions={"defects": 3})
    assert finding(STARTED, *steps(300), nothing, better).kind == "improving"


def test_trend_of_the_score():
    worse = [
        evaluated(1, 0.4),
        evaluated(2, 0.6),
        evaluated(3, 0.7),
        evaluated(4, 0.6),
        evaluated(5, 0.55),
        evaluated(6, 0.6),
    ]
    found = finding(STARTED, *steps(500), *worse)
    assert found == HealthFinding("worse", "warning", {"seconds": 180.0, "best": 0.7})
    assert finding(STARTED, *steps(200), *worse).kind == "well"  # the learning rate is still high
    assert finding(STARTED, *steps(500), *worse[:-1]).kind == "well"  # two evaluations may be chance
    assert finding(STARTED, *steps(), *worse, Finished()).kind == "worse"
    assert finding(STARTED, *steps(500), *worse, evaluated(7, 0.64)).kind == "well"  # rising again
    level = [evaluated(1, 0.4), evaluated(2, 0.7), evaluated(3, 0.71), evaluated(4, 0.7), evaluated(5, 0.69)]
    found = finding(STARTED, *steps(500), *level)
    assert found.kind == "level" and found.fields["seconds"] == 120.0
    assert finding(STARTED, *steps(200), *level).kind == "well"
    poor = [evaluated(1, 0.01), evaluated(2, 0.04)]
    assert finding(STARTED, *steps(200), *poor).kind == "improving"
    assert finding(STARTED, *steps(500), *poor) == HealthFinding("poor", "warning", {"score": 0.04})
    found = finding(STARTED, *steps(), evaluated(1, 0.4), evaluated(2, 0.5))
    assert found.kind == "improving" and not found.fields["over"] and found.tone == "good"
    rising = [evaluated(n, n / 10) for n in range(1, 6)]
    assert finding(STARTED, *steps(), *rising, Finished()).fields["over"]


def test_advice_needs_evaluations_and_a_low_learning_rate():
    """No training that was stopped needs more time."""
    early = [evaluated(1, 0.5), evaluated(2, 0.57), evaluated(2.5, 0.56), evaluated(3, 0.56)]
    for events in (steps(500), steps(380)):
        assert finding(STARTED, *events, *early).kind == "well"
    assert finding(STARTED, *steps(380), *early, evaluated(4, 0.56)).kind == "well"
    assert finding(STARTED, *steps(500), *early, evaluated(4, 0.56)).kind == "level"
    rising = [evaluated(n, n / 10) for n in range(1, 6)]
    assert finding(STARTED, *steps(), *rising[:4], Finished()).kind == "well"
    for scores in (rising, rising[::-1], [evaluated(n, 0.6) for n in range(1, 8)]):
        assert finding(STARTED, *steps(), *scores, Finished(why="stopped")).kind == "well"


def test_the_last_evaluation_with_another_threshold_is_no_trend():
    evaluations = [
        evaluated(1, 0.5),
        evaluated(2, 0.6),
        evaluated(2.1, 0.3, step=120),
        evaluated(2.2, 0.2, step=120),
        evaluated(2.3, 0.1, step=120),
    ]
    assert finding(STARTED, *steps(), *evaluations).kind == "improving"


def test_system_samples_during_a_run():
    full = [sample(ram=0.97)]
    assert finding(STARTED, *steps(), samples=full).kind == "memory_full"
    assert finding(STARTED, *steps(), Finished(), samples=full).kind == "well"  # the run is over
    hot = finding(ON_CARD, *steps(), samples=[sample(load=99, slowed="heat")])
    assert hot == HealthFinding("hot", "warning", {"card": "Card", "temperature": 91.0})
    assert finding(ON_CARD, *steps(), samples=[sample(load=99, slowed="power")]).kind == "learning"
    assert finding(ON_CARD, *steps(), samples=[sample(load=12)] * 25) == HealthFinding("idle_gpu", "info", {"load": 12})
    assert finding(ON_CARD, *steps(), samples=[sample(load=12)] * 5).kind == "learning"


def test_few_validation_images_and_a_good_run():
    few = dataclasses.replace(STARTED, held_out_note=Message("dataset.few_images_held_out", n=3))
    assert finding(few, *steps()) == HealthFinding("few_held_out", "info", {"note": few.held_out_note})
    assert finding(STARTED, *steps(), evaluated(1, 0.4)) == HealthFinding("well", "good")
    assert finding(STARTED, *steps(), Failed(why="x")).kind == "well"  # the failure itself is finding elsewhere


def test_advice_concerns_the_gpu_that_trains():
    """By its UUID; without one, by its number. A GPU for the display beside it does not matter."""
    display = GpuSample(0, "Display", 2.0, GB, 2 * GB, 91.0, 1.0, 1.0, slowed="heat", uuid="GPU-a")
    trains = GpuSample(1, "Card", 95.0, GB, 2 * GB, 60.0, 1.0, 1.0, uuid="GPU-b")
    samples = [SystemSample(time=0, cpu=30.0, ram_used=GB, ram_total=100 * GB, gpus=(display, trains))] * 25
    by_uuid = dataclasses.replace(ON_CARD, gpu="GPU-b")
    by_number = dataclasses.replace(ON_CARD, device="gpu:1")
    for started in (by_uuid, by_number):
        assert finding(started, *steps(), samples=samples).kind == "learning"
    assert finding(dataclasses.replace(ON_CARD, gpu="GPU-a"), *steps(), samples=samples).kind == "hot"
    idle = [dataclasses.replace(s, gpus=(trains, dataclasses.replace(display, index=1, slowed=""))) for s in samples]
    assert finding(dataclasses.replace(ON_CARD, gpu="GPU-a"), *steps(), samples=idle).kind == "idle_gpu"
    assert finding(dataclasses.replace(ON_CARD, gpu="GPU-c"), *steps(), samples=idle).kind == "learning"
