"""The steps of `packaging/build.py`, each runnable by hand in packaging/: `python3 -m building.sizes FOLDER`, say."""
