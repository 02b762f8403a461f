"""Loquat's desktop window (PySide6). It knows the engine's torch-free values; one module touches the worker."""
