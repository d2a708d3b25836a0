"""Widgets in reference cycles are destroyed in the GUI thread, whichever thread allocates."""

from __future__ import annotations

import gc
import threading
import weakref

from tests.python_process import run_python
from workbench.session.preferences import Preferences
from workbench.ui.shell.application import Application, GarbageControl


class Knot:
    """Object in a reference cycle."""

    def __init__(self) -> None:
        self.me = self


def test_cycles_are_collected_in_the_gui_thread_only(qtbot):
    garbage = GarbageControl()
    ended = []
    try:
        knot = Knot()
        weakref.finalize(knot, lambda: ended.append(threading.get_ident()))
        del knot

        def allocate() -> None:
            for _ in range(50):
                [Knot() for _ in range(2000)]

        thread = threading.Thread(target=allocate)
        thread.start()
        thread.join()
        assert not ended
        qtbot.waitUntil(lambda: bool(ended), timeout=5000)
    finally:
        garbage.close()
    assert ended == [threading.get_ident()]
    assert gc.isenabled()


def test_permanent_objects_are_excluded_until_the_window_is_rebuilt():
    """Run in a process of its own: here each collection would traverse the objects of all tests."""
    run_python(
        "import gc, weakref\n"
        "from PySide6.QtCore import QCoreApplication\n"
        "from workbench.ui.shell.application import GarbageControl\n"
        "class Knot:\n"
        "    def __init__(self):\n"
        "        self.me = self\n"
        "app = QCoreApplication([])\n"
        "garbage = GarbageControl()\n"
        "stays, passing = Knot(), Knot()\n"
        "watched = [weakref.ref(stays), weakref.ref(passing)]\n"
        "del passing\n"
        "garbage.freeze()\n"
        "assert watched[1]() is None, 'unreachable before the rest was excluded'\n"
        "assert all(thing is not stays for thing in gc.get_objects())\n"
        "del stays\n"
        "gc.collect()\n"
        "assert watched[0]() is not None\n"
        "garbage.unfreeze()\n"
        "gc.collect()\n"
        "assert watched[0]() is None\n"
        "garbage.freeze()\n"
        "garbage.close()\n"
        "assert gc.get_freeze_count() == 0\n"
    )


def test_a_change_of_the_language_frees_the_former_window(opened, qtbot):
    former, canvas = weakref.ref(opened.window), weakref.ref(opened.window.canvas)
    with qtbot.waitSignal(opened.window.destroyed):
        opened.window.view_settings.language_chosen.emit("zh_CN")
    gc.collect()
    assert former() is None
    assert canvas() is None


def test_a_closed_application_is_freed(qapp, root, qtbot):
    application = Application(qapp, Preferences(language="en", theme="dark"))
    application.show()
    session = application.services.session
    session.open_project(root)
    qtbot.waitUntil(lambda: session.image is not None)
    parts = [weakref.ref(part) for part in (application.window, application.window.canvas)]
    application.end()
    del application
    gc.collect()
    assert [part() for part in parts] == [None, None]
