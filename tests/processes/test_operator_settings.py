"""A link means the same on servers whose operators chose other settings: what it leaves out is not theirs to set."""

import json
import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

from playground.web.server.settings import Settings
from tests.link.test_params import DEFAULTS

READ_DEFAULTS = """
import json
import os
from playground.limits import MAX_SENTENCES
from playground.link.params import PARAMS
from playground.web.server.settings import read_settings
defaults = {key: param.default for key, param in PARAMS.items()}
print(json.dumps([defaults, MAX_SENTENCES, vars(read_settings(os.environ))], default=str))
"""


def test_no_setting_changes_what_a_link_leaves_out(repository: Path) -> None:
    texts = {"device": "cpu", "frame_ancestors": "'none'", "ray": "local"}
    chosen = {field.name: texts.get(field.name, "3") for field in fields(Settings)}
    limits = {"max_characters": "30", "max_sentences": "2", "max_tokens": "16"}
    environ = {f"PLAYGROUND_{name.upper()}": text for name, text in {**chosen, **limits}.items()}
    command = [sys.executable, "-c", READ_DEFAULTS]
    answer = subprocess.run(command, env={**os.environ, **environ}, cwd=repository, capture_output=True, check=True)
    defaults, max_sentences, there = json.loads(answer.stdout)
    assert max_sentences == 2
    assert {name: str(value).removesuffix(".0") for name, value in there.items()} == chosen
    assert defaults == json.loads(json.dumps(DEFAULTS, default=str))
