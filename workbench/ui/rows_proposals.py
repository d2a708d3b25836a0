"""Commands for suggestions: predicted regions that the user accepts or rejects."""

from __future__ import annotations

from functools import partial

from workbench.ui.rows import Parts, Row, Rows


class ProposalRows(Rows):
    def all(self, parts: Parts) -> list[Row]:
        canvas, proposing = parts.canvas, parts.proposing
        return [
            Row("proposals", self.tr("&Decide on proposals"), partial(canvas.choose_tool, "proposals"), "Shift+V",
                "proposals", on=lambda: canvas.tool == "proposals", group="tool",
                tip=self.tr("Proposals: click one or drag a box to accept; with Ctrl to reject")),
            Row("accept_all", self.tr("&Accept all proposals"), proposing.accept_all, "Ctrl+Shift+A", "accept-all",
                proposing.any, tip=self.tr("All that is proposed in this picture becomes labels, as one step"),
                touches_image=True),
            Row("reject_all", self.tr("Re&ject all proposals"), proposing.reject_all, when=proposing.any,
                tip=self.tr("Nothing of it is proposed again by this model; undo takes that back")),
            Row("bring_back", self.tr("Bring &back rejected proposals"), proposing.proposals.bring_back,
                when=proposing.can_bring_back,
                tip=self.tr("Propose again what was rejected in this picture")),
            Row("show_proposals", self.tr("Show pr&oposals"), proposing.switch, "Shift+P", "proposals",
                on=lambda: proposing.visible,
                tip=self.tr("Show what the model proposes beside the labels; Alt+Left and Alt+Right change over")),
            Row("toward_labels", self.tr("Toward &labels"), partial(proposing.toward, -1), "Alt+Left",
                tip=self.tr("From proposals alone over both to labels alone")),
            Row("toward_proposals", self.tr("Toward &proposals"), partial(proposing.toward, 1), "Alt+Right",
                tip=self.tr("From labels alone over both to proposals alone")),
            Row("propose_all", self.tr("Pr&opose on all pictures"), proposing.propose_everywhere,
                when=proposing.can_propose,
                tip=self.tr("Let the newest model look at every picture; what it finds waits there for you")),
        ]  # fmt: skip
