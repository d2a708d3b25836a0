"""Inbox in the window: images kept by a line are seen and taken into the project."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from workbench.core.images.display import automatic
from workbench.core.project import annotation
from workbench.core.project.storage import write_json
from workbench.core.suggestions.suggestion_files import load_stored
from workbench.inference.io.image_io import encode_png
from workbench.inference.model_settings import ClassSettings, ModelSettings
from workbench.inference.predictor import Prediction
from workbench.inference.regions import find_regions
from workbench.ui.images.inbox_dialog import InboxDialog, preview


@pytest.fixture
def inbox(tmp_path):
    """Three kept images, each with a region of the class scratch, the last of the name `third`."""
    folder = tmp_path / "kept"
    folder.mkdir()
    settings = ModelSettings(
        task="segmentation",
        name="m",
        classes=(ClassSettings(1, "scratch", "#ff0000"),),
        thresholds=(0.5,),
        min_area=(0,),
    )
    for number, name in enumerate(("first", "second", "third")):
        image = np.full((40, 60), 100 + number, np.uint8)
        mask = np.zeros_like(image)
        mask[5:15, 10 : 20 + number] = 1
        scores = np.where(mask > 0, np.uint8(200), np.uint8(0))
        result = Prediction(mask, scores, find_regions(mask, scores, settings), None, None, 1.0).to_json()
        data = bytes(encode_png(image))
        digest = hashlib.sha256(data).hexdigest()
        stem = f"2026010{number + 1}T000000000-{digest[:16]}"
        (folder / f"{stem}.png").write_bytes(data)
        (folder / f"{stem}.mask.png").write_bytes(bytes(encode_png(mask)))
        record = {"time": f"2026-01-0{number + 1}T00:00:00Z", "name": name, "run": "r", "kept": "NG", "result": "NG"}
        write_json(folder / f"{stem}.json", {**record, **result, "sha256": digest})
    return folder


def test_a_preview_shows_the_gray_values_of_the_canvas(tmp_path):
    image = np.linspace(1000, 3000, 3600).reshape(60, 60).astype(np.uint16)  # 12 bits of 16
    image[0, 0] = 65535
    (tmp_path / "a.png").write_bytes(bytes(encode_png(image)))
    shown = preview(tmp_path / "a.png", None, 60)[..., 0]
    assert np.array_equal(shown, automatic(image).apply(image)) and np.ptp(shown) == 255


def test_images_of_the_line_are_seen_and_taken(opened, inbox, qtbot):
    session, window = opened.services.session, opened.window
    opened.services.preferences.inbox = str(inbox)
    window.table["inbox"].trigger()
    dialog = window.findChild(InboxDialog)
    qtbot.waitUntil(lambda: dialog.table.rowCount() == 3)
    assert [dialog.table.item(row, 1).text() for row in range(3)] == ["third", "second", "first"]
    assert "3 images, 3 not in the project" in dialog.status.text()
    qtbot.waitUntil(lambda: not dialog.preview.pixmap().isNull())
    dialog.suggest.click()
    qtbot.waitUntil(lambda: "2 not in the project" in dialog.status.text())
    assert "1 image is taken" in dialog.status.text() and dialog.table.item(0, 3).text() == "in the project"
    dialog.table.selectRow(0)
    assert not dialog.suggest.isEnabled() and not dialog.selection
    dialog.table.selectRow(2)
    dialog.accept_button.click()
    qtbot.waitUntil(lambda: "1 not in the project" in dialog.status.text())
    qtbot.waitUntil(lambda: sum(key.startswith("inbox/") for key in session.keys) == 2)
    labeled, suggested = sorted(key for key in session.keys if key.startswith("inbox/"))
    assert (annotation.load_mask(session.project, labeled) > 0).sum() == 100
    assert annotation.load_mask(session.project, suggested) is None
    assert len(load_stored(session.project, suggested)[1]) == 1
    dialog.reject()
    qtbot.waitUntil(lambda: session.key == suggested)  # the first one taken, to be corrected
