"""A trained network that writes: the next character again and again, or the decoder's half of a sequence pair.

Legend: B sequences, T tokens, Ts/Tt source/target tokens, C classes.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from playground.errors import InputError
from playground.model import EncoderDecoder, causal_mask
from playground.training.network import Tagger
from playground.training.tasks.examples import BOS_ID, EOS_ID, SPECIALS


def generate(
    tagger: Tagger,
    ids: list[int],
    n: int,
    *,
    temperature: float,
    top_k: int,
    generator: torch.Generator,
    window: int | None = None,
) -> Iterator[int]:
    """Write on: yield n tokens, each drawn after the prompt and all that was drawn before.

    Special tokens are never drawn.

    Args:
        tagger: a network whose classes are its tokens, and which was trained not to look ahead.
        ids: the prompt, one token at least.
        n: how many tokens.
        temperature: τ in softmax(logits / τ); 0 = always the most likely token.
        top_k: how many of the most likely tokens may be drawn; 0 = all (Fan et al. 2018, section 5.1).
        generator: on the CPU.
        window: how many of the last tokens the network reads, at most its max_len, which is the default.

    Raises:
        InputError: the prompt is empty, or a number is out of range; later, the network's scores are not finite.
    """
    if not ids:
        raise InputError("The network says what comes next, so that it needs something to start from: one character.")
    if not 0 <= temperature < float("inf"):
        raise InputError(f"temperature={temperature} is not a number from 0, always the likeliest, upwards.")
    for name, value, lowest in (("n", n, 0), ("top_k", top_k, 0), ("window", 1 if window is None else window, 1)):
        if value < lowest:
            raise InputError(f"{name}={value} is below {lowest}.")
    device, longest = next(tagger.parameters()).device, tagger.config.max_len
    width = min(window or longest, longest)

    def write(read: list[int]) -> Iterator[int]:
        for _ in range(n):
            read = read[-width:]
            with torch.inference_mode():  # left before each yield: it would hold for whoever takes the token
                logits = tagger(torch.tensor([read], device=device), causal_mask(len(read), device))[0, -1]  # (C,)
            read.append(draw_token(logits.cpu(), temperature, top_k, generator))
            yield read[-1]

    return write(list(ids))


def draw_token(logits: Tensor, temperature: float, top_k: int, generator: torch.Generator) -> int:
    """One token that is not special, drawn by `next_token_probabilities` from its logits (C,)."""
    tokens, probabilities = next_token_probabilities(logits, temperature, top_k)
    place = 0 if len(tokens) == 1 else int(probabilities.multinomial(1, generator=generator))
    return int(tokens[place])


def next_token_probabilities(logits: Tensor, temperature: float, top_k: int) -> tuple[Tensor, Tensor]:
    """The tokens that may be drawn, likeliest first, and their probabilities, which add up to 1: (K,), (K,) float64.

    The logits, (C,), are of all tokens; special ones are left out. InputError where they are not finite.
    """
    ordinary = logits[len(SPECIALS) :].to(torch.float64)
    if not ordinary.isfinite().all():
        raise InputError("The network's scores are no finite numbers: its training diverged, and it can say nothing.")
    n = 1 if temperature == 0 else min(top_k or len(ordinary), len(ordinary))
    best = ordinary.topk(n)
    scaled = (best.values - best.values[0]) / (temperature or 1.0)  # the best is 0: none overflows
    return len(SPECIALS) + best.indices, scaled.softmax(0)


def decode_greedily(model: EncoderDecoder, src_ids: Tensor, src_mask: Tensor | None, longest: int) -> Tensor:
    """The target of each source, at every step the most likely token: (B, Ts) → (B, Tt), [EOS] included, 0 after it.

    Args:
        model: a trained encoder–decoder.
        src_ids: (B, Ts) int64.
        src_mask: (B, Ts) bool, True = a token; None where there is no padding.
        longest: most tokens of a target, which is cut off there; InputError where the position table is shorter.
    """
    target = torch.full((len(src_ids), 1), BOS_ID, device=src_ids.device)
    ended = torch.zeros(len(src_ids), 1, dtype=torch.bool, device=src_ids.device)
    keys = None if src_mask is None else src_mask[:, None]  # (B, 1, Ts)
    with torch.inference_mode():
        memory = model.encode(src_ids, keys)
        while target.shape[1] <= longest and not ended.all():
            likeliest = model.decode(target, memory, keys)[:, -1:].argmax(-1)  # (B, 1)
            target = torch.cat([target, likeliest.masked_fill(ended, 0)], 1)
            ended |= likeliest == EOS_ID
    return target[:, 1:].clone()
