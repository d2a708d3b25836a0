"""Acceptance items on a real GPU, as `workbench doctor --gpu` runs them. Run `python -m pytest tests/gpu -q -s`.

Without a GPU they are skipped with the reason; tests/cli/test_gpu_acceptance.py rehearses the command on the CPU.
"""

from __future__ import annotations

import pytest

from workbench.cli.gpu_acceptance import run_one
from workbench.core.runs.launch import paddle_installed
from workbench.training.acceptance.items import ITEMS


def obstacle() -> str:
    """Return the reason why no GPU can be tested here; "" if one can."""
    if not paddle_installed():
        return "Paddle is not installed"
    from workbench.core.problems import DeviceMissing
    from workbench.training.device import check

    try:
        check("gpu:0")
    except DeviceMissing as problem:
        return str(problem)
    return ""


@pytest.fixture(scope="module")
def gpu() -> None:
    if why := obstacle():
        pytest.skip(why)


@pytest.mark.gpu
@pytest.mark.timeout(1000)
@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_item_passes_on_the_gpu(gpu, tmp_path, capsys, item):
    listed = {"name": item.name, "title": item.title, "seconds": item.seconds}
    result = run_one(listed, "gpu:0", tmp_path, quick=False)
    with capsys.disabled():
        print(f"\n{result['status']} {item.name}: {result['detail']}")
    if result["status"] == "SKIP":
        pytest.skip(result["detail"])
    assert result["status"] == "PASS", result.get("log", result["detail"])
