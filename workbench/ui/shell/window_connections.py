"""Connections between the panels of the main window and the services."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.ui.services import Services

if TYPE_CHECKING:
    from workbench.ui.shell.window import Window


def connect_window(window: Window, services: Services) -> None:
    """Connect the panels of a window with each other and with the services."""
    session, canvas, training = services.session, window.canvas, window.training
    session.project_opened.connect(window.show_project)
    session.project_closed.connect(window.show_project)
    session.folder.changed.connect(window.update_title)
    session.image_previewed.connect(lambda _, small, size: canvas.show_preview(small, size))
    services.image_pages.turned.connect(canvas.show_page)
    services.display_presets.scale_changed.connect(
        lambda: canvas.ruler.set_scale(services.display_presets.um_per_pixel)
    )
    services.continuous_training.changed.connect(training.refresh)  # its best model can be exported from then on
    window.welcome.chosen.connect(window.project_commands.open)
    window.images.wants_files.connect(window.project_commands.add_images)
    window.images.wants_folder.connect(window.project_commands.add_folder)
    window.table.shortcuts_requested.connect(window.show_shortcuts)
    window.overlay.text_changed.connect(window.header.show_model_text)
    window.evaluation_navigation.switched.connect(window.workspace.show_center_only)
    window.region_navigator.stepped.connect(window.status.show_step)
    window.region_navigator.arrived.connect(canvas.suggestions.highlight_at_pointer)
    canvas.tool_changed.connect(lambda: canvas.ruler.switch(False))
    training.wants_export.connect(services.export_job.start)
    _connect_messages(window, services)
    _connect_command_states(window, services)


def _connect_messages(window: Window, services: Services) -> None:
    notifications, training = window.notifications, window.training
    window.canvas.refused.connect(notifications.refused)
    training.view.said.connect(notifications.show_training_message)
    training.recovered.connect(notifications.training_recovered)
    training.view.files.saved.connect(notifications.curves_saved)
    for failed in (
        services.evaluation.failed,
        services.run_list.failed,
        training.view.files.failed,
        window.evaluation.verdicts.failed,
    ):
        failed.connect(window.messages.problem)


def _connect_command_states(window: Window, services: Services) -> None:
    """Update the commands after each signal that may change whether one is enabled or checked."""
    session, canvas = services.session, window.canvas
    for signal in (
        session.project_opened,
        session.project_closed,
        session.images_listed,
        session.image_opened,
        session.image_failed,
        session.history_changed,
        session.note_changed,
        session.classes_changed,
        services.predictions.predicted,
        services.image_pages.changed,
        services.reference_comparison.changed,
        services.reference_comparison.switched,
        services.label_queue.changed,
        services.label_issues.changed,
        services.continuous_training.changed,
        canvas.tool_changed,
        canvas.ruler.switched,
        canvas.display_changed,
        window.training.changed,
        window.images.thumbnails_toggled,
        window.suggestions_controller.changed,
        window.overlay.changed,
        window.layers.look.mode_changed,
        window.evaluation_navigation.switched,
    ):
        signal.connect(window.table.refresh)
