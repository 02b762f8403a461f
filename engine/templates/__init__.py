"""Chat templates: rendered in a sandbox with a budget, checked, and Loquat's own plain one for base models."""
