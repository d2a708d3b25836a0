"""Entry point of the program: the window, a verb of the command line, the training child process, the child process
of a network, or the printer of a page to a PDF file."""

from __future__ import annotations

import multiprocessing
import os
import sys
from pathlib import Path

_DOTLESS = ("tr", "az", "crh", "ku", "tt")  # languages with a dotless i


def main(argv: list[str] | None = None) -> int:
    """Open the window (`[PROJECT]`), run a verb (`VERB ...`), the training child (`--worker`), that
    of a network (`--network`) or the printer of a page (`--print`). Return its status."""
    if argv is None:
        _restart_in_utf8()
    _leave_turkish_letters()
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["--worker"]:
        from workbench.training.__main__ import main as train

        return train(arguments[1:])
    if arguments[:1] == ["--network"]:
        from workbench.core.runs.network_process import main as run_network

        if arguments[1:] == ["adapt"]:
            from workbench.core.adoption.adapter_graph import AdapterWork as Work
        else:
            from workbench.core.runs.network_process import InferenceWork as Work
        return run_network(Work())
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


def _restart_in_utf8() -> None:
    """Start this program again in Python's UTF-8 mode if the locale has another encoding.

    In that encoding, files would have other names, and projects could not be opened elsewhere.
    """
    if sys.getfilesystemencoding() != "utf-8" and os.environ.get("PYTHONUTF8") != "1" and sys.executable:
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, "PYTHONUTF8": "1"})


def _leave_turkish_letters() -> None:
    """Choose the general rules for upper and lower case if those of the locale have a dotless i.

    PySide6 converts names such as setInterval to those of properties by the rules of the locale, which Qt activates.
    """
    everything = os.environ.get("LC_ALL")
    if (everything or os.environ.get("LC_CTYPE") or os.environ.get("LANG", "")).startswith(_DOTLESS):
        if everything:  # it would outdo LC_CTYPE
            for name in [name for name in os.environ if name.startswith("LC_")]:
                del os.environ[name]
            os.environ["LANG"] = everything
        os.environ["LC_CTYPE"] = "C.UTF-8"


def _may_be_folder(argument: str) -> bool:
    """Return True for a word that is more likely a mistyped folder than a mistyped verb."""
    import difflib

    from workbench import cli

    return not difflib.get_close_matches(argument, cli.VERBS, cutoff=0.75)


if __name__ == "__main__":
    multiprocessing.freeze_support()
    sys.exit(main())
