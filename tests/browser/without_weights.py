"""Starts the server as on a machine without the trained weights: `python -m tests.browser.without_weights <app>`."""

import sys

from streamlit.web import cli

from playground.weights import checkpoint

if __name__ == "__main__":
    checkpoint.MINILM_PACKAGE = "a_package_that_is_not_installed"
    sys.argv[:1] = ["streamlit", "run"]
    cli.main()
