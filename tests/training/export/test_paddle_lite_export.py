"""Format lite, made and run by Paddle Lite itself in a Python 3.8, where there is one."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import scratched
from tests.training.conftest import run_inside
from workbench.inference.engines.paddle_lite_engine import PYTHON_VARIABLE
from workbench.inference.predictor import Predictor

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def lite_python(tmp_path_factory) -> Path:
    """Return a Python 3.8 with paddlelite."""
    known = [*filter(None, [shutil.which("python3.8")]), *Path.home().glob(".pyenv/versions/3.8*/bin/python")]
    python = next((path for path in known if subprocess.run([path, "-c", ""]).returncode == 0), None)
    if python is None:
        pytest.skip("there is no Python 3.8")
    folder = tmp_path_factory.mktemp("python 3.8")
    subprocess.run([python, "-m", "venv", folder], check=True)
    own = folder / "bin" / "python"
    done = subprocess.run([own, "-m", "pip", "install", "-q", "paddlelite==2.13rc0", "numpy"], capture_output=True)
    if done.returncode:
        pytest.skip("paddlelite 2.13rc0 cannot be installed here")
    return own


@pytest.mark.parametrize("name", ["trained", "trained_resnet"])
def test_paddle_lite_gives_the_results_of_the_run(name, lite_python, tmp_path, monkeypatch, request):
    run = request.getfixturevalue(name)
    monkeypatch.setenv(PYTHON_VARIABLE, str(lite_python))
    exporter = run_inside("export", run.root, "--out", tmp_path / "out", "--formats", "lite", "--seconds", 0.2)
    assert exporter.end() == 0, exporter.lines[-1:]
    parity = exporter.last.result["parity"]["lite"]
    assert parity["passed"] and parity["max_abs"] < 1e-4 and parity["mask_agreement"] == 1.0
    exported, of_run = Predictor.open(tmp_path / "out"), Predictor.open(run.best)
    assert exported.engine.name == "lite"
    for seed in range(2):
        image = scratched(np.random.default_rng(seed))[0]
        assert exported.predict(image).input.unlike == pytest.approx(of_run.predict(image).input.unlike, rel=1e-2)
