"""Connections between the parts of the window: signals of one part that others follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.ui.services import Services

if TYPE_CHECKING:
    from workbench.ui.shell.window import Window


def connect(window: Window, services: Services) -> None:
    """Connect the parts of a window with each other and with the services."""
    session, canvas, training, messages = services.session, window.canvas, window.training, window.notifications
    session.image_previewed.connect(lambda _, small, size: canvas.scene.show_preview(small, size))
    presets = services.display_presets
    presets.scale_changed.connect(lambda: canvas.ruler.set_scale(presets.um_per_pixel))
    services.image_pages.turned.connect(canvas.content.show_page)
    services.predictions.predicted.connect(window.table.refresh)
    services.run_list.listed.connect(window.table.refresh)
    services.continuous_training.changed.connect(training.refresh)  # its best model can be exported from then on
    window.welcome.chosen.connect(window.project_commands.open)
    window.source_commands.unpacked.connect(window.project_commands.open)
    window.project_commands.unpack_requested.connect(window.source_commands.unpack)
    window.images.files_requested.connect(window.project_commands.add_images)
    window.images.folder_requested.connect(window.project_commands.add_folder)
    window.overlay.text_changed.connect(window.header.show_model_text)
    window.evaluation_navigation.switched.connect(window.workspace.show_center_only)
    window.region_navigator.stepped.connect(window.status.show_step)
    window.region_navigator.arrived.connect(canvas.suggestions.highlight_at_pointer)
    canvas.tool_changed.connect(lambda: canvas.ruler.switch(False))
    canvas.refused.connect(messages.refused)
    training.export_requested.connect(services.export_job.start)
    training.view.messaged.connect(messages.show_training_message)
    training.recovered.connect(messages.training_recovered)
    training.view.files.saved.connect(messages.curves_saved)
    for failed in (
        services.evaluation.failed,
        services.run_list.failed,
        training.view.files.failed,
        window.evaluation.verdicts.failed,
    ):
        failed.connect(window.messages.problem)
