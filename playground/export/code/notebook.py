"""A notebook of sections: an explanation and a code cell for each."""

from collections.abc import Sequence

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from playground.export.code.python_file import required_packages, write_imports
from playground.export.code.section import Section
from playground.weights.checkpoint import MINILM_PACKAGE, MINILM_REQUIREMENT

_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}

_INTRODUCTION = """# {first_line}

The Transformer Encoder Playground wrote this notebook for what was on the screen: this one configuration, this
sentence, these numbers. Run the cells from top to bottom. After the last section the numbers are compared with those
on the page. Three exercises follow.

Shapes stand at the end of a line. B is the number of sentences, T of tokens, H of heads."""

_INSTALL = """# Installs what is missing. Where everything is there, as torch is in Colab, it does nothing.
import importlib.util
import subprocess
import sys

requirements = {requirements}
for module, requirement in requirements.items():
    if importlib.util.find_spec(module) is None:
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", *requirement.split()], check=True)"""


def write_notebook(first_line: str, sections: Sequence[Section]) -> str:
    """The text of an `.ipynb` file: a cell that installs what is missing, the imports, then section by section."""
    return str(nbformat.writes(build_notebook(first_line, sections)))


def build_notebook(first_line: str, sections: Sequence[Section]) -> NotebookNode:
    """A notebook as nbformat's node, which the format's own check has passed."""
    cells = [
        new_markdown_cell(_INTRODUCTION.format(first_line=first_line)),
        new_code_cell(_install_cell(sections)),
        new_code_cell(write_imports(sections)),
    ]
    for section in sections:
        cells.append(new_markdown_cell(f"## {section.title}\n\n{section.explanation}"))
        cells += map(new_code_cell, section.cells)
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # nbformat draws ids; the same setup gives the same file
    notebook = new_notebook(cells=cells, metadata=_METADATA)
    nbformat.validate(notebook)
    return notebook


def _install_cell(sections: Sequence[Section]) -> str:
    requirements = {name: name for name in required_packages(sections)}
    if any(section.name == "trained_files" for section in sections):
        requirements[MINILM_PACKAGE] = f"--no-deps {MINILM_REQUIREMENT}"
    entries = "".join(f'    "{module}": "{requirement}",\n' for module, requirement in requirements.items())
    return _INSTALL.format(requirements=f"{{\n{entries}}}")
