"""Processes of a distributed training other than rank 0: they execute its commands."""

from __future__ import annotations

import os
from collections.abc import Callable

from workbench.core.problems import WorkerFailed
from workbench.core.runs import process_exit
from workbench.training.distributed.rank_messages import RankCommand
from workbench.training.live_labels import reload_image
from workbench.training.training_context import TrainingContext


def abandon(context: TrainingContext, problem: WorkerFailed) -> None:
    """End this process, which waits for another one that has ended."""
    context.report(process_exit.from_problem(problem, log=context.run.log_path))
    os._exit(1)


def run_worker(context: TrainingContext, *, reduce_memory: Callable[[], None]) -> None:
    """Execute the commands of rank 0 until the end. Raises WorkerFailed."""
    while (command := context.ranks.receive_command()).command is not RankCommand.END:
        if command.command is RankCommand.STEP:
            no_memory = False
            try:
                context.learner.step(
                    *context.loader.take(command.step), command.rate, batch_size=context.settings.batch
                )
            except MemoryError:
                no_memory = True
            if no_memory:
                reduce_memory()
        elif command.command is RankCommand.FP32:
            context.use_fp32("precision.diverged")
        elif command.command is RankCommand.LOAD:
            context.load_last()
            context.ranks.share(context.learner.net)
        else:  # a label was added; its record in the data set already exists
            context.dataset.joined = context.run.dataset().joined[: command.item + 1]
            reload_image(context, context.dataset.joined[command.item].item.key)
