"""A mistake of the registry as three pages show it: its lines, wrong and right, and how it is noticed."""

from collections.abc import Iterator

from playground.charts.chart import Item, Paragraph
from playground.config import ModelConfig
from playground.mistakes.registry import Mistake
from playground.text.wording import upper_first


def show_mistake(mistake: Mistake, config: ModelConfig) -> Iterator[Item]:
    """Its title and what that means, the lines of such an encoder, what shows it and what does not."""
    wrong, right = mistake.write_lines(config)
    yield Paragraph(f"**{upper_first(mistake.title)}.** {mistake.meaning}")
    yield Paragraph(f"# wrong\n{wrong}\n\n# right\n{right}", "code")
    yield Paragraph(
        f"- **What you notice:** {mistake.symptom}\n"
        f"- **A test for your own code:** {mistake.test}\n"
        f"- **Seen in practice:** {mistake.source}."
    )
