"""Images in the window whose names are in bytes that are no UTF-8, beside others with almost the same name."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
KEY, TWIN = "caf\udce9.png", "caf.png"  # Qt drops what it cannot represent


@pytest.fixture
def root(root):
    with Project.open(root) as project:
        for key in project.images()[:2]:
            project.image_path(key).unlink()  # five images remain
        for key in (KEY, TWIN):
            write_png(project.image_path(key), np.full((60, 70), 140, np.uint8))
    return root


def test_the_image_that_was_chosen_is_opened_labeled_and_saved(opened, qtbot):
    window, session = opened.window, opened.services.session
    images = window.images
    images.view.setCurrentIndex(images.model.index(images.model.keys.index(KEY), 0))
    qtbot.waitUntil(lambda: session.key == KEY and session.image is not None)
    session.editor.begin("paint")
    session.editor.paint_segment((10, 10), (30, 20), 5, 1)
    session.editor.commit()
    session.verdict_steps.set_verdicts([KEY], "NG")
    assert session.flush()
    qtbot.waitUntil(lambda: session.rows[KEY].verdict == "NG" and session.rows[KEY].masked)
    assert not session.rows[TWIN].labeled and not session.rows[TWIN].masked
    assert annotation.load_note(session.project, KEY).verdict == "NG"
    assert not session.project.mask_path(TWIN).exists() and not session.project.note_path(TWIN).exists()
    assert images.model.index(images.model.keys.index(KEY), 0).data() == "caf\\udce9.png"
    session.undo()
    session.undo()
    assert session.flush() and not session.mask.any() and session.note.verdict is None
    images.view.setCurrentIndex(images.model.index(images.model.keys.index(TWIN), 0))
    qtbot.waitUntil(lambda: session.key == TWIN)
