"""What a person sees: the window, its panels, the canvas. Text for people lives here."""
