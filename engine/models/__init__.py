"""Models on this machine: found, fetched, checked, imported into Loquat's own folder. Torch-free."""
