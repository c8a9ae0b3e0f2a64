"""The architecture's query parameters: one for each of `ModelConfig`'s own fields."""

from playground.config import CHOICES
from playground.limits import MAX_TOKENS
from playground.link.kinds import Choice, Param, Size, Switch
from playground.presets import PRESETS

TRAINED = PRESETS["minilm-l6"].config

N_HEADS = (*range(1, 17), 20, 24, 25, 32, 48, 64, 96)

ARCHITECTURE: dict[str, Param] = {
    "d_model": Size(
        TRAINED.d_model,
        (8, 15, 16, 24, 32, 48, 64, 96, 128, 192, 256, 320, 384, 512, 640, 768, 1024, 1600, 2048, 4096, 12288),
        label="width · `d_model`",
        help_text="Width of the residual stream: how many numbers stand for one token.",
    ),
    "n_heads": Size(
        TRAINED.n_heads,
        N_HEADS,
        help_text="Attention heads. Each works on d_model / n_heads features, so n_heads must divide d_model.",
        label="attention heads · `n_heads`",
    ),
    "n_layers": Size(
        TRAINED.n_layers,
        (*range(1, 13), 16, 24, 32, 48, 96),
        help_text="Encoder blocks, one after the other.",
        label="layers · `n_layers`",
    ),
    "d_ff": Size(
        TRAINED.d_ff,
        (8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6400, 8192, 16384, 49152),
        label="feed-forward width · `d_ff`",
        help_text="Hidden width of the feed-forward network; usually 4 × d_model.",
    ),
    "norm_placement": Choice(
        TRAINED.norm_placement,
        CHOICES["norm_placement"],
        help_text="post: norm(x + f(x)), as in the paper. pre: x + f(norm(x)), easier to train when deep.",
        label="norm placement · `norm_placement`",
    ),
    "norm": Choice(
        TRAINED.norm,
        CHOICES["norm"],
        help_text="layer: gain and bias per feature. scalar: one of each for all, as in tutorial A · Implementing an "
        "Encoder. rms: no mean, no bias.",
        label="kind of norm · `norm`",
    ),
    "norm_eps": Size(
        TRAINED.norm_eps,
        (1e-12, 1e-8, 1e-6, 1e-5, 1e-3, 1e-1),
        label="epsilon of the norms · `norm_eps`",
        help_text="Added before dividing, so that nothing is divided by zero.",
    ),
    "final_norm": Switch(
        TRAINED.final_norm,
        help_text="One more norm after the last block.",
        label="norm after the last layer · `final_norm`",
    ),
    "residual": Switch(
        TRAINED.residual,
        help_text="Add each sublayer's input to its output.",
        label="residual connections · `residual`",
    ),
    "activation": Choice(
        TRAINED.activation,
        CHOICES["activation"],
        help_text="Between the feed-forward network's two linear maps.",
        label="activation function · `activation`",
    ),
    "positions": Choice(
        TRAINED.positions,
        CHOICES["positions"],
        label="position table · `positions`",
        help_text="How a token's place is told. sinusoidal-doubled is the table of tutorial B · Encoder Block: its "
        "exponent counts twice.",
    ),
    "scale_embeddings": Switch(
        TRAINED.scale_embeddings,
        help_text="Multiply token embeddings by √d_model, as in the paper.",
        label="scaled embeddings · `scale_embeddings`",
    ),
    "embedding_norm": Switch(
        TRAINED.embedding_norm,
        help_text="A norm on the summed embeddings, as in BERT.",
        label="norm on the embeddings · `embedding_norm`",
    ),
    "n_segments": Size(
        TRAINED.n_segments,
        (0, 1, 2),
        help_text="Rows of the segment table, as in BERT; 0 is none.",
        label="segments · `n_segments`",
    ),
    "fused_qkv": Switch(
        TRAINED.fused_qkv,
        help_text="One projection for Q, K and V, laid out head by head, as in tutorial C · Explanation.",
        label="one map for Q, K and V · `fused_qkv`",
    ),
    "head_merge": Choice(
        TRAINED.head_merge,
        CHOICES["head_merge"],
        help_text="reshape forgets to move the head axis back: the mistake of tutorial C · Explanation. It mixes "
        "positions.",
        label="joining the heads · `head_merge`",
    ),
    "initialisation": Choice(
        TRAINED.initialisation,
        CHOICES["initialisation"],
        help_text="How random weights are drawn. xavier: linear maps small enough for deep models (Glorot & Bengio "
        "2010), and token tables so that positions are about as long as tokens. torch: as torch's own layers do, and "
        "so the tutorials; tokens dwarf positions.",
        label="initial weights · `initialisation`",
    ),
    "dropout": Size(
        TRAINED.dropout,
        (
            0.0,
            0.1,
            0.2,
            0.3,
            0.5,
        ),
        label="dropout rate · `dropout`",
        help_text="The share of numbers that a model zeroes while it learns. No page runs with it. The page Steps "
        "shows where it would act. What trains here has rates of its own, among its regularisers.",
    ),
    "max_len": Size(
        TRAINED.max_len,
        (5, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 5000),
        label="longest sentence · `max_len`",
        help_text="Longest sentence in tokens: the number of rows in the position table. This server reads at most "
        f"{MAX_TOKENS:,} tokens of a sentence, whatever stands here.",
    ),
}
"""`ModelConfig`'s own fields, in the sidebar's order; the defaults are the checkpoint's."""

SIZES = {key: param for key, param in ARCHITECTURE.items() if isinstance(param, Size)}
