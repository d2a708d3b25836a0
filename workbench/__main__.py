"""Entry point of the program: the window, a verb of the command line, the training child process, or the printer
of a page to a PDF file."""

from __future__ import annotations

import multiprocessing
import sys
from pathlib import Path


def main(argv: list[str] | None = None) -> int:
    """Open the window (`[PROJECT]`), run a verb (`VERB ...`) the training child (`--worker`) or
    the printer of a page (`--print`). Return its status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["--worker"]:
        from workbench.training.__main__ import main as train

        return train(arguments[1:])
    if arguments[:1] == ["--print"]:
        from workbench.ui.text.pdf_file import main as print_page

        return print_page(arguments[1:])

    from workbench import cli

    if arguments and (arguments[0] in cli.VERBS or arguments[0].startswith("-")):
        return cli.main(arguments)
    if len(arguments) == 1 and not Path(arguments[0]).is_dir() and _may_be_folder(arguments[0]):
        sys.stderr.write(
            f"The folder {arguments[0]} does not exist. Check the path, or list the commands: workbench --help\n"
        )
        return 1
    if len(arguments) > 1 or (arguments and not Path(arguments[0]).is_dir()):
        # Neither a verb nor a folder: the command line reports the error and the known verbs.
        return cli.main(arguments)

    from workbench.ui.shell.startup import open_window

    return open_window(Path(arguments[0]) if arguments else None)


def _may_be_folder(argument: str) -> bool:
    """Return True for a word that is more likely a mistyped folder than a mistyped verb."""
    import difflib

    from workbench import cli

    return not difflib.get_close_matches(argument, cli.VERBS, cutoff=0.75)


if __name__ == "__main__":
    multiprocessing.freeze_support()
    sys.exit(main())
