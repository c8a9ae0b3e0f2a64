"""The names and shapes of a small BERT, as Hugging Face writes them."""

Shape = tuple[int, ...]


def bert_shapes(vocab_size: int, d_model: int, d_ff: int, max_len: int, n_layers: int) -> dict[str, Shape]:
    """Every tensor of the encoder by its name, without a pooler."""
    linears: dict[str, Shape] = {}
    norms = ["embeddings.LayerNorm"]
    for i in range(n_layers):
        layer = f"encoder.layer.{i}"
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            linears[f"{layer}.attention.{part}"] = (d_model, d_model)
        linears |= {f"{layer}.intermediate.dense": (d_ff, d_model), f"{layer}.output.dense": (d_model, d_ff)}
    shapes: dict[str, Shape] = {
        "embeddings.word_embeddings.weight": (vocab_size, d_model),
        "embeddings.position_embeddings.weight": (max_len, d_model),
        "embeddings.token_type_embeddings.weight": (2, d_model),
    }
    for name in norms:
        shapes |= {f"{name}.weight": (d_model,), f"{name}.bias": (d_model,)}
    for name, shape in linears.items():
        shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    return shapes
