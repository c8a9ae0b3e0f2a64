"""A section of a file or a notebook: one concept, with its explanation and its code."""

from dataclasses import dataclass

SEPARATOR = "\n%%\n"
"""Between a section's explanation and its code, and between the cells of its code in a notebook."""


@dataclass(frozen=True)
class Section:
    """One concept."""

    name: str
    """As its template is called."""
    title: str
    explanation: str
    """In Markdown."""
    code: str
    """Python, as the formatter leaves it; without imports."""

    @property
    def cells(self) -> list[str]:
        """The code as a notebook's cells; only exercises have more than one."""
        return self.code.split(SEPARATOR)
