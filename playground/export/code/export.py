"""What is taken along, before it is a file or a notebook."""

from dataclasses import dataclass, field

from playground.export.code.notebook import write_notebook
from playground.export.code.own_weights import OwnWeights
from playground.export.code.python_file import join_sections
from playground.export.code.section import Section


@dataclass(frozen=True)
class Export:
    """Sections in the order in which their code runs."""

    name: str
    """Of the files, without their ending; never a visitor's text."""
    first_line: str
    """What it is, in one sentence of at most 110 characters."""
    sections: list[Section]
    exercises: list[Section] = field(default_factory=list)
    """What a notebook has behind the sections."""
    weights: OwnWeights | None = None
    """The file that the code reads, where its weights are in no package."""

    def python(self) -> str:
        """The Python file."""
        return join_sections(self.first_line, self.sections)

    def notebook(self) -> str:
        """The text of the `.ipynb` file."""
        return write_notebook(self.first_line, [*self.sections, *self.exercises])
