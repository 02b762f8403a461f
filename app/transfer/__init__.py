"""Conversations to files and back: Loquat's own JSON, Markdown, and what other programs export."""
