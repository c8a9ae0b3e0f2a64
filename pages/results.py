"""Results: what a class found in a lesson."""

from playground.learn import results
from playground.web.shared import panels
from playground.web.views.results import draw_results

draw_results()
panels.code_behind("results", results.read_code, results.group_by_lesson)
