"""What happens once, before the first visitor comes."""

import gc
import importlib
import pkgutil

import playground
from playground.web.cache import warm_up
from playground.web.training_plan import speed

_MAIN_SCRIPT = "playground.web.app"


def prepare() -> None:
    """Load every module and the default model, and spare the garbage collector from looking at them again.

    Streamlit collects garbage after every run of a page, which holds up what was drawn on its way to the browser. Of a
    quarter of a million objects almost all belong to modules and live as long as the server does; frozen, they cost
    nothing, and what a visitor leaves behind is still collected.
    """
    for module in pkgutil.walk_packages(playground.__path__, f"{playground.__name__}."):
        if module.name != _MAIN_SCRIPT:
            importlib.import_module(module.name)
    speed()  # the first step of an optimiser loads a good part of torch, which takes seconds
    warm_up()
    gc.collect()
    gc.freeze()
