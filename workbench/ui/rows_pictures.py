"""Commands that move between images and set verdict, status and split."""

from __future__ import annotations

from functools import partial

from workbench.core.dataset import Split
from workbench.session.session import Session
from workbench.ui.panels.pictures import PicturesPanel
from workbench.ui.rows import Parts, Row, Rows


class PictureRows(Rows):
    def all(self, parts: Parts) -> list[Row]:
        session, pictures = parts.session, parts.pictures

        def listed() -> bool:
            return bool(session.keys)

        def judged() -> bool:
            return session.note is not None and session.writable

        rows = [
            Row("next", self.tr("&Next picture"), partial(pictures.go, 1), "D; PgDown", "next", listed),
            Row("previous", self.tr("&Previous picture"), partial(pictures.go, -1), "A; PgUp", "previous", listed),
            Row("next_unlabelled", self.tr("Next &unlabelled picture"), partial(pictures.go_to, "unlabelled", 1),
                "Ctrl+Shift+D; Ctrl+PgDown", "next-unlabelled", listed,
                touches_image=True),
            Row("previous_unlabelled", self.tr("Previous un&labelled picture"),
                partial(pictures.go_to, "unlabelled", -1), "Ctrl+PgUp", "previous-unlabelled", listed,
                touches_image=True),
            Row("next_open", self.tr("Next picture that is no&t done"), partial(pictures.go_to, "open", 1), "Ctrl+J",
                when=listed, touches_image=True),
            Row("next_broken", self.tr("Next picture that cannot be &read"), partial(pictures.go_to, "broken", 1),
                when=listed),
            Row("sheet", self.tr("Contact s&heet"), pictures.toggle_sheet, "Ctrl+G", "grid", listed,
                on=lambda: pictures.browsing, tip=self.tr("All listed pictures at a glance; judge many at once")),
            Row("done_next", self.tr("&Done and next"), partial(_done_and_next, session, pictures), "Return; Enter",
                "done-next", judged, tip=self.tr("Mark this picture done and go on"), repeats=False),
            Row("not_done", self.tr("Mark as not d&one"), partial(session.judging.set_status, "started"),
                when=lambda: judged() and session.note.status == "done"),
        ]  # fmt: skip
        tip = self.tr("From the next training on; the other pictures of its part go with it")
        sides: list[tuple[Split | None, str]] = [
            (None, self.tr("As the &workbench decides")), ("train", self.tr("Always &learned from")),
            ("val", self.tr("&Held out for validation")), ("test", self.tr("Held out for the &test")),
        ]  # fmt: skip
        rows += [
            Row(f"use_{side or 'any'}", text, partial(session.notes.set_pin, side), when=judged, group="use", tip=tip,
                on=lambda side=side: session.note is not None and session.note.pin == side)
            for side, text in sides
        ]  # fmt: skip
        rows += [
            Row(f"verdict_{n}", self.tr("Verdict {n}").format(n=n), partial(parts.verdict.choose, n - 1), f"Alt+{n}",
                when=lambda n=n: judged() and len(parts.verdict.buttons) >= n, touches_image=True)
            for n in range(1, 10)
        ]  # fmt: skip
        rows += [
            Row(f"verdict_next_{n}", self.tr("Verdict {n}, then on").format(n=n), partial(pictures.judge, n - 1),
                f"Shift+{n}", when=partial(pictures.can_judge, n - 1), repeats=False)
            for n in range(1, 10)
        ]  # fmt: skip
        return rows


def _done_and_next(session: Session, pictures: PicturesPanel) -> None:
    session.judging.set_status("done")
    pictures.go(1)
