"""Pictures of the real window, to look at: `python -m tests.pictures [FOLDER]`."""
