"""Fuzzing of what reads files that come from strangers; `python -m tests.fuzz --minutes 60` is the long form."""
