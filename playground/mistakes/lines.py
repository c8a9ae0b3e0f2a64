"""The lines of a mistake, wrong and right, where they follow from the architecture."""

from playground.config import ModelConfig

_CALLS = {
    "relu": "F.relu(up(x))",
    "gelu": "F.gelu(up(x))",
    "gelu-tanh": 'F.gelu(up(x), approximate="tanh")',
    "silu": "F.silu(up(x))",
    "none": "up(x)",
}


def write_hidden(config: ModelConfig, activation: str) -> str:
    """Return the line of the hidden layer with an activation, or `none`."""
    return f"hidden = {_CALLS[activation]}{' * gate(x)' if config.gated else ''}"


def swap_relu(config: ModelConfig) -> str:
    """Return GELU where the config has ReLU, else ReLU."""
    return "gelu" if config.activation == "relu" else "relu"


def swap_tanh(config: ModelConfig) -> str:
    """Return the other one of the two GELUs."""
    return "gelu-tanh" if config.activation == "gelu" else "gelu"


def write_sublayer(config: ModelConfig, *, is_swapped: bool = False, residual: bool = True) -> str:
    """Return the line of a sublayer with its norms and its residual connection.

    Args:
        config: says where the norms are.
        is_swapped: whether they are on the other side.
        residual: whether a residual connection is written where the config has one.
    """
    has_norm = config.norm != "none"
    is_post = (config.norm_placement == "post") != is_swapped
    line = "f(norm(x))" if has_norm and not is_post else "f(x)"
    line = f"post_norm({line})" if has_norm and config.norm_placement == "both" else line
    line = f"x + {line}" if residual and config.residual else line
    return f"x = norm({line})" if has_norm and is_post else f"x = {line}"


def other_eps(config: ModelConfig) -> float:
    """Return the eps that others use: PyTorch's 1e-5, or BERT's 1e-12 where the config has PyTorch's or more."""
    return 1e-5 if config.norm_eps < 1e-5 else 1e-12
