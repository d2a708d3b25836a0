"""Entry script of the frozen application."""

import multiprocessing
import site
import sys

# Paddle looks for its own libraries below a Python's site-packages; here they lie beside the program.
site.getsitepackages = lambda prefixes=None: [sys._MEIPASS]

from workbench.__main__ import main  # noqa: E402

if __name__ == "__main__":
    multiprocessing.freeze_support()
    sys.exit(main())
