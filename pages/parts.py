"""What each part of an encoder is for: encoders of the small English, one setting changed or from 2017 on."""

from playground.language import answers, capabilities, family, ladder
from playground.web.shared import panels
from playground.web.views import parts

panels.draw_heading("What is each part for?")
parts.explore_parts()
panels.code_behind("parts", family, capabilities, answers.head_costs, ladder)
