"""Why a turn was as fast as it was: what the engine records, and the pure arithmetic over it. Values are torch-free."""
