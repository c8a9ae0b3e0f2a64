"""What each part of an encoder is for: what encoders of the small English lose when one setting changes."""

from playground.language import answers, capabilities, family
from playground.web.shared import panels
from playground.web.views import parts

panels.draw_heading("What is each part for?")
parts.explore_parts()
panels.code_behind("parts", family, capabilities, answers.head_costs)
