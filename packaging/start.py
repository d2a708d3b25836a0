"""Entry script of the frozen application."""

import multiprocessing
import sys

from workbench.__main__ import main

if __name__ == "__main__":
    multiprocessing.freeze_support()
    sys.exit(main())
