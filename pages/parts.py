"""What each part of an encoder is for: encoders of the small English, one setting changed or from 2017 on."""

from playground.language import answers, capabilities, family, ladder
from playground.views.parts import parts_scene, show_parts
from playground.web.shared import panels
from playground.web.shared.page_end import fragment
from playground.web.shared.renderer import draw_view
from playground.web.views import parts  # noqa: F401 - the button that opens an encoder


@fragment
def explore_parts() -> None:
    """The chosen view: one part away, or the ladder."""
    draw_view("parts", show_parts, parts_scene, ())


panels.draw_heading("What is each part for?")
explore_parts()
panels.code_behind("parts", family, capabilities, answers.head_costs, ladder)
