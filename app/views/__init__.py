"""The widgets of the window: they take frozen values and emit what the person wants."""
