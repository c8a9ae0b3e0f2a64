"""Code that runs without the playground and ends in the page's own numbers: a Python file or a notebook."""
