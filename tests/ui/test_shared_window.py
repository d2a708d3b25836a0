"""Window that the tests of a module share."""

from __future__ import annotations


def test_window_is_shared_until_a_test_leaves_something_changed(one_window, root, qtbot):
    first = one_window.take()
    with qtbot.waitSignal(first.services.session.current.opened, timeout=10_000):
        first.services.session.open_project(root)
    first.window.table["polygon"].trigger()
    one_window.give_back()
    assert one_window.take() is first and first.services.session.project is None
    assert first.window.canvas.tool == "brush"
    first.window.training.controls.minutes.setValue(9)
    one_window.give_back()
    assert one_window.take() is not first
    one_window.give_back()
