"""Icons, themes, style sheet and translations, re-exported under the name that the user interface uses."""

from workbench.core.resources import folder, path, text

__all__ = ["folder", "path", "text"]
