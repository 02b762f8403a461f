"""Models from a hub: searched, described, downloaded so that nothing is lost or trusted unseen. Torch-free.

This is the one part of the program that opens connections to a hub, and only when a person asks for it.
"""
