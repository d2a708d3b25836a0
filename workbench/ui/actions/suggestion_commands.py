"""Commands for suggestions: spots before there is a model, and predicted regions that the user accepts or rejects."""

from __future__ import annotations

from functools import partial

from workbench.ui.actions.command_table import Command, CommandContext, CommandGroup


class SuggestionCommands(CommandGroup):
    def commands(self, context: CommandContext) -> list[Command]:
        canvas, controller = context.canvas, context.suggestions
        return [
            Command(
                "proposals",
                self.tr("Review &suggestions"),
                partial(canvas.choose_tool, "proposals"),
                "proposals",
                checked=lambda: canvas.tool == "proposals",
                group="tool",
                tip=self.tr("Suggestions: click a suggestion or drag a box to accept; hold Ctrl to reject"),
            ),
            Command(
                "accept_all",
                self.tr("&Accept all suggestions"),
                controller.accept_all,
                "accept-all",
                controller.any,
                tip=self.tr("Accept all suggestions in this image as one undo step"),
                changes_image=True,
            ),
            Command(
                "reject_all",
                self.tr("Re&ject all suggestions"),
                controller.reject_all,
                enabled=controller.any,
                tip=self.tr("This model will not suggest these regions again. Can be undone."),
            ),
            Command(
                "bring_back",
                self.tr("&Restore rejected suggestions"),
                controller.suggestions.restore_rejected,
                enabled=controller.can_bring_back,
                tip=self.tr("Show the rejected suggestions of this image again"),
            ),
            Command(
                "show_proposals",
                self.tr("Show suggesti&ons"),
                controller.switch,
                "proposals",
                checked=lambda: controller.visible,
                tip=self.tr("Show suggestions together with labels. {labels} and {suggestions} change the balance."),
                tip_keys={"labels": "toward_labels", "suggestions": "toward_proposals"},
            ),
            Command(
                "toward_labels",
                self.tr("Emphasize &labels"),
                partial(controller.toward, -1),
                tip=self.tr("Switch from suggestions only to both, then to labels only"),
            ),
            Command(
                "toward_proposals",
                self.tr("Emphasize s&uggestions"),
                partial(controller.toward, 1),
                tip=self.tr("Switch from labels only to both, then to suggestions only"),
            ),
            Command(
                "propose_all",
                self.tr("Generate suggestions for &all images"),
                controller.suggest_for_all,
                enabled=controller.can_propose,
                tip=self.tr("Run the model in use on every image and save its predictions as suggestions"),
            ),
        ]


class SpotCommands(CommandGroup):
    def commands(self, context: CommandContext) -> list[Command]:
        bar, finder = context.spots, context.spots.finder
        return [
            Command(
                "spots",
                self.tr("Suggest &where to look"),
                lambda: finder.switch(not finder.on),
                "search",
                lambda: finder.on or finder.possible(),
                lambda: finder.on,
                tip=self.tr("Circle the spots that differ most from the rest of the image. No model is needed."),
            ),
            Command("next_spot", self.tr("&Next spot"), partial(bar.go, 1), enabled=lambda: bool(finder.spots)),
            Command(
                "previous_spot", self.tr("Pre&vious spot"), partial(bar.go, -1), enabled=lambda: bool(finder.spots)
            ),
        ]


class LabelNextCommands(CommandGroup):
    def commands(self, context: CommandContext) -> list[Command]:
        controller = context.label_next
        queue, issues = controller.queue, controller.errors
        return [
            Command(
                "label_next",
                self.tr("&Label next"),
                partial(controller.toggle, "next"),
                "queue",
                partial(queue.possible, "next"),
                lambda: queue.mode == "next",
                tip=self.tr("Images that would improve the model most, with the reason for each"),
            ),
            Command(
                "label_errors",
                self.tr("Possible label &errors"),
                partial(controller.toggle, "errors"),
                "doubt",
                partial(queue.possible, "errors"),
                lambda: queue.mode == "errors",
                tip=self.tr("Labels that a confident model contradicts, most severe first"),
            ),
            Command(
                "take_model",
                self.tr("Use model result"),
                controller.take_model,
                enabled=controller.can_answer,
                tip=self.tr("Replace the flagged label with the prediction"),
            ),
            Command(
                "keep_label",
                self.tr("&Keep my label"),
                controller.keep_label,
                enabled=controller.can_answer,
                tip=self.tr("Keep the flagged label. It will not be flagged again."),
            ),
            Command(
                "next_doubt",
                self.tr("Ne&xt flagged region"),
                partial(issues.step, 1),
                enabled=lambda: len(issues.issues) > 1,
            ),
        ]
