"""The panel at the right that says why a turn was as fast or as slow as it was."""
