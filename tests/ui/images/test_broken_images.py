"""Images that turn out to be unreadable when they are opened, in the list of the window."""

from __future__ import annotations

from tests.core.images.jpeg_files import jpeg_with_wrong_size


def test_image_that_failed_to_open_is_marked_as_unreadable(opened, root, qtbot):
    session, images = opened.services.session, opened.window.images
    lying = root / "pictures" / "lot1" / "lying.jpg"
    lying.write_bytes(jpeg_with_wrong_size(96, 80))  # its header is in order, only decoding shows that it is incomplete
    gone = session.project.image_path("lot1/new.png")
    session.refresh_images()
    qtbot.waitUntil(lambda: "lot1/lying.jpg" in session.rows, timeout=20_000)
    assert not session.rows["lot1/lying.jpg"].broken
    gone.unlink()
    for key in ("lot1/lying.jpg", "lot1/new.png"):
        with qtbot.waitSignal(session.image_failed, timeout=20_000):
            images.open(key)
    first = next(key for key in session.keys if session.rows[key].masked)
    with qtbot.waitSignal(session.image_opened, timeout=20_000):
        images.open(first)
    found = set()
    broken = {"lot1/lying.jpg", "lot1/new.png", "lot1/bad.png"}
    qtbot.waitUntil(lambda: {key for key, row in session.rows.items() if row.broken} == broken, timeout=20_000)
    for _ in broken:
        with qtbot.waitSignal(session.image_failed, timeout=20_000):
            opened.window.table["next_broken"].trigger()
        found.add(session.key)
    assert found == broken
