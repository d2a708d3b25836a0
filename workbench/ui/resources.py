"""Icons, themes, style and translations, under the name by which the window speaks of them."""

from workbench.core.resources import folder, path, text

__all__ = ["folder", "path", "text"]
