"""The five tutorials: side by side, their numbers against each other, and each with its mistakes made again."""

from playground.tutorials import comparison
from playground.tutorials.tutorial_texts import TUTORIALS
from playground.views.tutorials import show_one, show_side_by_side
from playground.web.shared import panels
from playground.web.shared.renderer import read_options, render
from playground.web.views.tutorials import explore_differences, tutorials_scene

panels.heading("Which of the five tutorials would give me different numbers?")
scene, options = tutorials_scene(), read_options("tutorials")
render(show_side_by_side(scene), scene)
explore_differences()
render(show_one(options), scene)
mistakes = TUTORIALS[options["tutorials_letter"]].mistakes
demonstrations = [mistake.demonstration for mistake in mistakes if mistake.demonstration]
panels.code_behind("tutorials", *demonstrations, comparison.build, comparison.causes)
