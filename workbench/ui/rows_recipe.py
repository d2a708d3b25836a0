"""Commands for the training settings."""

from __future__ import annotations

from workbench.ui.rows import Parts, Row, Rows


class RecipeRows(Rows):
    def all(self, parts: Parts) -> list[Row]:
        recipes = parts.recipes
        return [
            Row("recipe", self.tr("&Recipe of the next training…"), recipes.open, "Ctrl+Alt+T", "tune",
                recipes.possible, tip=self.tr("What is decided about it and why; every value can be chosen by hand")),
            Row("run_recipe", self.tr("Recipe of the &shown run…"), recipes.open_run, when=recipes.has_run,
                tip=self.tr("How this run was made, and why")),
        ]  # fmt: skip
