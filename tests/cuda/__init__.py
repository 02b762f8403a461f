"""What only a machine with a CUDA device can show: `python -m tests.cuda` runs all such tests, wherever they stand."""
