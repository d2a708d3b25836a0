"""From the folder of another labeling tool to labeled images that can be trained on, with a drop and three buttons, and
back to that tool with a corrected label.
"""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest
from PySide6.QtCore import Qt

from tests.conftest import scratched
from workbench.inference.io.image_io import write_png
from workbench.ui.label_files.label_file_dialogs import ImportDialog, LabelExportDialog
from workbench.ui.project.new_project_dialog import NewProjectDialog, QuickProjectDialog

IMAGES = 12


def scenes(folder):
    """Write images; yield (name without suffix, width, height, corners of the box around the defect)."""
    rng = np.random.default_rng(8)
    for number in range(IMAGES):
        image, mask = scratched(rng)
        name = f"p {number:02d}"
        write_png(folder / f"{name}.png", image)
        rows, columns = np.nonzero(mask)
        (x0, x1), (y0, y1) = ((int(v.min()), int(v.max()) + 1) for v in (columns, rows))
        yield name, image.shape[1], image.shape[0], [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]


def labelme(folder, **more):
    for name, width, height, points in scenes(folder):
        shape = {"label": "划痕", "points": points, "group_id": None, "shape_type": "polygon", "flags": {}, **more}
        content = {"version": "5.4.1", "flags": {}, "shapes": [shape], "imagePath": f"{name}.png", "imageData": None}
        path = folder / f"{name}.json"
        path.write_text(json.dumps(content | {"imageHeight": height, "imageWidth": width}), "utf-8")
    return folder


def x_anylabeling(folder):
    return labelme(folder, score=None, difficult=False, attributes={}, kie_linking=[])


def yolo(folder):
    (folder / "labels").mkdir()
    for name, width, height, points in scenes(folder / "images"):
        numbers = " ".join(f"{x / width:.6f} {y / height:.6f}" for x, y in points)
        (folder / "labels" / f"{name}.txt").write_text(f"0 {numbers}\n", "utf-8")
    (folder / "data.yaml").write_text("train: images\nval: images\nnames: [划痕]\n", "utf-8")
    return folder


def cvat(folder):
    """A zip file, as CVAT exports it."""
    entries = []
    for number, (name, width, height, points) in enumerate(scenes(folder / "images")):
        text = ";".join(f"{x},{y}" for x, y in points)
        polygon = f'<polygon label="划痕" occluded="0" points="{text}" z_order="0"/>'
        entries.append(f'<image id="{number}" name="{name}.png" width="{width}" height="{height}">{polygon}</image>')
    with zipfile.ZipFile(folder / "task.zip", "w") as archive:
        for path in (folder / "images").iterdir():
            archive.write(path, f"images/{path.name}")
        archive.writestr("annotations.xml", f"<annotations><version>1.1</version>{''.join(entries)}</annotations>")
    return folder / "task.zip"


@pytest.mark.parametrize("make", [labelme, pytest.param(x_anylabeling, marks=pytest.mark.slow), yolo, cvat])
def test_from_the_files_of_a_tool_to_the_training(user, qtbot, tmp_path, make, monkeypatch):
    monkeypatch.setattr("pathlib.Path.home", lambda: tmp_path / "home")  # the project is created there
    folder = tmp_path / "其他工具 [2]"
    folder.mkdir()
    user.drop_folder(make(folder))
    if make is cvat:
        user.dialog(NewProjectDialog)
    else:
        qtbot.waitUntil(user.dialog(QuickProjectDialog).found.isVisible)
    user.key(Qt.Key.Key_Return)  # the proposed name, and the proposed class

    dialog = user.dialog(ImportDialog)
    with qtbot.waitSignal(user.session.label_import.imported):
        user.click(dialog.import_button)
    user.click(dialog.close_button)
    qtbot.waitUntil(lambda: sum(row.status == "done" for row in user.session.rows.values()) == IMAGES)
    assert [info.name for info in user.session.project.classes] == ["划痕"]
    bar = user.window.stage_bar
    qtbot.waitUntil(lambda: bar.next.text() == "Add good images")  # all images have defects
    user.click(bar.answer)
    qtbot.waitUntil(lambda: bar.next.text().startswith("Train "))
    assert (user.inputs.clicks, user.inputs.keys, user.inputs.drags) == (3, 1, 1)


def test_corrected_labels_return_to_their_tool(user, qtbot, tmp_path, monkeypatch):
    monkeypatch.setattr("pathlib.Path.home", lambda: tmp_path / "home")  # the project is created there
    folder, session, window = tmp_path / "labels", user.session, user.window
    folder.mkdir()
    labelme(folder)
    wrong = folder / "p 00.json"
    content = json.loads(wrong.read_text("utf-8"))
    defect, content["shapes"][0]["points"] = content["shapes"][0]["points"], [[1, 1], [9, 1], [9, 7], [1, 7]]
    wrong.write_text(json.dumps(content), "utf-8")
    user.drop_folder(folder)
    qtbot.waitUntil(user.dialog(QuickProjectDialog).found.isVisible)
    user.key(Qt.Key.Key_Return)
    dialog = user.dialog(ImportDialog)
    with qtbot.waitSignal(session.label_import.imported):
        user.click(dialog.import_button)
    user.click(dialog.close_button)
    qtbot.waitUntil(
        lambda: (session.key or "").endswith("p 00.png") and window.canvas.content.seen and session.mask.any()
    )

    # Delete the wrong region, and paint the defect.
    user.key(Qt.Key.Key_V)
    user.click_image(5, 4)
    user.key(Qt.Key.Key_Delete)
    assert not session.mask.any()
    mask = np.zeros_like(session.mask)
    (x0, y0), (x1, y1) = defect[0], defect[2]
    mask[y0:y1, x0:x1] = 1
    user.key(Qt.Key.Key_B)
    user.scribble(mask)
    assert session.mask.any(), "the class of the labels is the one to paint with"

    # Back to the tool, once all images are known to be done.
    qtbot.waitUntil(lambda: sum(row.status == "done" for row in session.rows.values()) == IMAGES)
    user.choose("export_labels")
    export = user.dialog(LabelExportDialog)
    export.format.setCurrentIndex(export.format.findData("labelme"))
    with qtbot.waitSignal(export.job.ended):
        user.click(export.start_button)
    out = export.folder.path
    export.close()
    files = sorted(out.rglob("*.json"))
    assert [path.name for path in files] == [f"p {number:02d}.json" for number in range(IMAGES)]
    (shape,) = json.loads(files[0].read_text("utf-8"))["shapes"]
    columns, rows = np.array(shape["points"]).T
    assert shape["label"] == "划痕" and abs(columns.min() - x0) < 4 and abs(rows.max() - y1) < 4
