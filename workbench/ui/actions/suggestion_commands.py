"""Commands for suggestions: predicted regions that the user accepts or rejects."""

from __future__ import annotations

from functools import partial

from workbench.ui.actions.command_table import Command, CommandContext, CommandGroup


class SuggestionCommands(CommandGroup):
    def all(self, parts: CommandContext) -> list[Command]:
        canvas, proposing = parts.canvas, parts.proposing
        return [
            Command(
                "proposals",
                self.tr("Review &suggestions"),
                partial(canvas.choose_tool, "proposals"),
                "Shift+V",
                "proposals",
                on=lambda: canvas.tool == "proposals",
                group="tool",
                tip=self.tr("Proposals: click one or drag a box to accept; with Ctrl to reject"),
            ),
            Command(
                "accept_all",
                self.tr("&Accept all proposals"),
                proposing.accept_all,
                "Ctrl+Shift+A",
                "accept-all",
                proposing.any,
                tip=self.tr("Accept all suggestions in this image as one undo step"),
                touches_image=True,
            ),
            Command(
                "reject_all",
                self.tr("Re&ject all proposals"),
                proposing.reject_all,
                when=proposing.any,
                tip=self.tr("This model will not suggest these regions again. Can be undone."),
            ),
            Command(
                "bring_back",
                self.tr("Bring &back rejected proposals"),
                proposing.suggestions.restore_rejected,
                when=proposing.can_bring_back,
                tip=self.tr("Propose again what was rejected in this picture"),
            ),
            Command(
                "show_proposals",
                self.tr("Show pr&oposals"),
                proposing.switch,
                "Shift+P",
                "proposals",
                on=lambda: proposing.visible,
                tip=self.tr("Show what the model proposes beside the labels; Alt+Left and Alt+Right change over"),
            ),
            Command(
                "toward_labels",
                self.tr("Toward &labels"),
                partial(proposing.toward, -1),
                "Alt+Left",
                tip=self.tr("From proposals alone over both to labels alone"),
            ),
            Command(
                "toward_proposals",
                self.tr("Toward &proposals"),
                partial(proposing.toward, 1),
                "Alt+Right",
                tip=self.tr("From labels alone over both to proposals alone"),
            ),
            Command(
                "propose_all",
                self.tr("Generate suggestions f&or all images"),
                proposing.suggest_for_all,
                when=proposing.can_propose,
                tip=self.tr("Run the latest model on every image and save its predictions as suggestions"),
            ),
        ]


class LabelNextCommands(CommandGroup):
    def all(self, parts: CommandContext) -> list[Command]:
        advice = parts.advice
        guide, errors = advice.guide, advice.errors
        return [
            Command(
                "label_next",
                self.tr("&Label next"),
                partial(advice.toggle, "next"),
                "Ctrl+L",
                "queue",
                partial(guide.possible, "next"),
                on=lambda: guide.mode == "next",
                tip=self.tr("Images that would improve the model most, with the reason for each"),
            ),
            Command(
                "label_errors",
                self.tr("Possible label &errors"),
                partial(advice.toggle, "errors"),
                "Ctrl+Shift+L",
                "doubt",
                partial(guide.possible, "errors"),
                on=lambda: guide.mode == "errors",
                tip=self.tr("Labels that a confident model contradicts, worst first"),
            ),
            Command(
                "take_model",
                self.tr("Use &model result"),
                advice.take_model,
                "Y",
                when=advice.can_answer,
                tip=self.tr("Correct the doubted label as the model says"),
            ),
            Command(
                "keep_label",
                self.tr("Keep my la&bel"),
                advice.keep_label,
                "K",
                when=advice.can_answer,
                tip=self.tr("Keep the doubted label, and do not ask again"),
            ),
            Command(
                "next_doubt",
                self.tr("Ne&xt flagged region"),
                partial(errors.step, 1),
                "J",
                when=lambda: len(errors.issues) > 1,
            ),
        ]
