"""User interface: window, panels, canvas, dialogs. All text shown to the user is defined in this package."""
