"""Starts the server with the tests' own exercises: `python -m tests.browser.with_exercises <app>`."""

import sys
from pathlib import Path

from streamlit.web import cli

from playground.web.session import caches

DEMO_EXERCISES = Path(__file__).resolve().parents[1] / "data" / "exercises"
"""One of each kind of answer, and some that cannot be posed everywhere."""

if __name__ == "__main__":
    caches.EXERCISE_FOLDERS.append(DEMO_EXERCISES)
    sys.argv[:1] = ["streamlit", "run"]
    cli.main()
