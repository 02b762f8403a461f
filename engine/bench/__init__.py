"""Benchmarks that a person can rerun: medians over alternating runs, each path beside another in the same run."""
