"""The tours, in the order of the cards on the front page.

To add one: a module with a `Tour` and its entry here. Its name is one of `playground.link.params.EXPERIMENTS`.
"""

from playground.learn.negation_tour import NEGATION
from playground.learn.pronoun_tour import PRONOUN
from playground.learn.reverse_tour import REVERSE
from playground.learn.tour import Tour

TOURS: dict[str, Tour] = {tour.name: tour for tour in (PRONOUN, NEGATION, REVERSE)}
"""By name; the first is that of a link that names none."""
