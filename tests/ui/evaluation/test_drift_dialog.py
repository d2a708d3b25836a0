"""Results of a line in the window."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest
from PySide6.QtCore import QItemSelectionModel
from PySide6.QtWidgets import QFileDialog

from workbench.inference.io.image_io import encode_png
from workbench.ui.evaluation.drift_dialog import DriftDialog


@pytest.fixture
def logs(tmp_path):
    """Log of 30 hours of 40 images, in the last three of which half are NG."""
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "part.png").write_bytes(bytes(encode_png(np.full((40, 60), 99, np.uint8))))
    begin = datetime(2026, 3, 1, 6, tzinfo=timezone.utc)
    with (folder / "log.jsonl").open("w") as file:
        for number in range(30 * 40):
            ng = number % 40 < (20 if number >= 27 * 40 else 1)
            record = {"format": 1, "id": str(number), "station": "A", "run": "r", "name": f"part {number}"}
            record |= {
                "time": (begin + timedelta(hours=number / 40)).isoformat(),
                "verdict": None,
                "input": {"ok": True},
            }
            record |= {"result": "NG" if ng else "OK", "regions": [{"class_name": "pit"}] if ng else []}
            file.write(json.dumps(record | {"path": str(folder / "part.png")}) + "\n")
    return folder


def select(table, row: int) -> None:
    """Select a row alone, also after a test whose last key had a modifier."""
    flags = QItemSelectionModel.SelectionFlag
    table.setCurrentCell(row, 0, flags.ClearAndSelect | flags.Rows)


def test_results_of_a_line_are_seen_compared_and_reported(application, logs, qtbot, monkeypatch, tmp_path):
    application.services.preferences.line_results = str(logs)
    application.window.table["line_results"].trigger()
    dialog = application.window.findChild(DriftDialog)
    dialog.units.setCurrentIndex(1)
    qtbot.waitUntil(lambda: dialog.table.rowCount() == 30)
    assert dialog.text.text().startswith("NG: 50.0% in the hour from 2026-03-02 ")
    assert dialog.table.item(29, 2).text() == "50.0%*" and dialog.table.item(20, 2).text() == "2.5%"
    assert dialog.plot.rates == ["NG", "class pit"] and dialog.bars.counts == [("pit", 87)]
    assert dialog.notes.text().startswith("A value is marked with * if")
    assert dialog.frequency.text() == "Images by class"
    select(dialog.table, 29)
    assert dialog.bars.counts == [("pit", 20)] and dialog.frequency.text() == "Images by class, selected row"
    assert dialog.last.geometry().right() == dialog.bars.geometry().right()  # no room is left for a preview
    select(dialog.last, 0)
    qtbot.waitUntil(lambda: not dialog.preview.pixmap().isNull())
    assert dialog.last.item(0, 1).text() == "part 1179"
    dialog.table.clearSelection()
    assert not dialog.choose.isEnabled()
    select(dialog.table, 29)
    dialog.choose.click()
    qtbot.waitUntil(lambda: "only 1 hour, at least 5 are needed" in dialog.text.text())
    dialog.hours.setValue(20)
    qtbot.waitUntil(lambda: "20 hours" in dialog.text.text())
    target = tmp_path / "shifts.html"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    dialog.save.click()
    qtbot.waitUntil(target.exists)
    assert "Shift report" in target.read_text("utf-8")
    dialog.folder.line.setText(str(tmp_path))
    qtbot.waitUntil(lambda: not dialog.save.isEnabled())
    assert "cannot be used" in dialog.text.text()
    dialog.reject()
