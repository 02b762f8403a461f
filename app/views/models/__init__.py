"""The model dialog: what is here, what is on its way, what can be had, and all that can be done with it."""
