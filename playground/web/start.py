"""What happens once, before the first visitor comes."""

import gc
import importlib
import pkgutil

import playground
from playground.web.session.caches import warm_up
from playground.web.session.experiment_inputs import machine_speed

_MAIN_SCRIPT = "playground.web.app"


def prepare() -> None:
    """Load every module and the default model, then freeze them for the garbage collector.

    Streamlit's own collection after every run is off (`runner.postScriptGC`). Python's own runs instead, when a
    quarter more objects have outlived their youth than at the last full collection. Almost all of the quarter million
    objects belong to modules, and live as long as the server does. Frozen, they are never looked at again; the last
    collection counts from what is left, so that what visitors leave behind is collected soon.
    """
    for module in pkgutil.walk_packages(playground.__path__, f"{playground.__name__}."):
        if module.name != _MAIN_SCRIPT:
            importlib.import_module(module.name)
    machine_speed()  # the first step of an optimiser loads a good part of torch, which takes seconds
    warm_up()
    gc.collect()
    gc.freeze()
    gc.collect()
