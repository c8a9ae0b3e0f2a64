"""Running copies of the app behind nginx: `python -m deploy.serve`."""
