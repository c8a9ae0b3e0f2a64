"""Starts the server as a deploy that has changed a default: `python -m tests.browser.other_defaults <app>`."""

import sys
from dataclasses import replace

from streamlit.web import cli

from playground.link import params

if __name__ == "__main__":
    n_layers = params.SHARED["n_layers"]
    for group in (params.SHARED, params.PARAMS):
        group["n_layers"] = replace(n_layers, default=4)
    sys.argv[:1] = ["streamlit", "run"]
    cli.main()
