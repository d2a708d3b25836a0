"""Output of the command line."""

from __future__ import annotations

from workbench import cli


def inside(capsys, *arguments):
    """Run a verb in this process. Return (status, stdout, stderr)."""
    status = cli.main([str(argument) for argument in arguments])
    message = capsys.readouterr()
    return status, message.out, message.err
