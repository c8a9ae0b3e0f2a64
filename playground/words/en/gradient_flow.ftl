# Does the gradient reach the first layer?
# $ratio: the gradient's length at the first layer over that at the last.

encoder-first = One encoder
encoder-second = Another
layers = Layers
no-text = Type a sentence into “Your text”: the task is to predict its next tokens.

way = **{ $name }**: the gradient { $case ->
    [vanishes] **vanishes**
    [explodes] **explodes**
   *[arrives] **arrives**
}. At { $part ->
    [stream] the embeddings
   *[other] layer 0
} it is **{ NUM($ratio, digits: 2) }** times as long as at { $part ->
    [stream] the output
   *[other] layer { $layer }
}.
way-broken = **{ $name }**: the gradient is **0 or not a number**, so its ends cannot be compared.

terms = *Gradient*: how the loss changes with each weight. *Residual connection*: what enters a part of a layer is added to what leaves it. Weights: :orange-badge[random weights]. Both encoders share the sidebar's text, of which the first { $tokens } tokens take part, its seed and shape.

by-layer =
    .alt = Length of the gradient by layer, a line for each encoder: { $part }
by-layer-weights = Length of the gradient of each layer's parameters ({ $part }). It travels from right to left; where it is near 0, weights hardly learn. It *arrives* if its length changes at most 1,000-fold.
by-layer-stream = Length of the gradient of all tokens' vectors before each layer. It travels from right to left, and *arrives* if its length changes at most 1,000-fold.

part = Gradient of
closer = Look closer: parts of a layer, the chain rule

chain = The chain rule multiplies the stream's gradient once per sublayer f, attention or feed-forward. $f'$ is its derivative. $N'$ is that of the norm, which divides by the size of its input. $I$ is the identity that a residual connection adds. *All*: $\lVert \partial\mathcal{"{"}L{"}"} / \partial x_0 \rVert$ over $\lVert \partial\mathcal{"{"}L{"}"} / \partial x_L \rVert$, over { $layers ->
    [one] one layer
   *[other] { $layers } layers
}; *on average*: its geometric mean.

train = **What are norms and residual connections good for?** A gradient that arrives is only part of the answer. Let both learn a task: read a row of letters, and name the letter at each place. Here they have { $layers } layers and vectors of { $width } numbers, which keeps it short.
    .start = Start both
    .time = About **{ $time }** here.
training =
    .alt = Right answers of the encoders in training by step, a line each
    .caption = Right answers to sequences that are never learnt from, by step. Dotted: the simple rule, which is to { $rule }.
outcome = After { $steps } steps, right for new letters: { $shares }. The simple rule gets { SHARE($rule) }. Each was trained with one seed: differences of up to { SHARE($noise) } can be chance.
