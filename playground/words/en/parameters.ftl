# Where do the parameters sit?

answer = Of { $total } parameters, **{ $first_size }** ({ SHARE($first_share) }) sit in { $first } and **{ $second_size }** ({ SHARE($second_share) }) in { $second }.
not-compared = Only the sidebar's model is compared with the pinned settings.
view = Show as
choose = Model to count
    .help = Your settings are the model that you set in the sidebar. The others are models of the tutorials and of papers.
    .own = your settings (sidebar)

panel-formulas = Every formula with its numbers
panel-costs = What a sentence costs
panel-bought = What parameters buy
panel-models = How large other models are

components = A *parameter* is a number that training adjusts. Each bar is a component, summed over all layers; its pieces are weights with their biases. *Embeddings*: tables of vectors, such as one for each token that the model knows. *Q, K, V*: the maps to queries, keys and values. *O*: the map after the heads. *W₁, W₂*: the maps of the feed-forward network, to its hidden numbers and back.
    .alt = Parameters by component: { $components }
    .reading = Blocks: { $blocks } × { $size } parameters.
layers = Each numbered bar is a block; *embed* is what comes before the blocks, *final* the norm after them.
    .click = The chosen layer. Arrow keys choose its neighbours.

checked = ✓ The formulas add up to { $total }, and so does the built model's `numel()`.
unequal = The formulas add up to { $total } parameters, but the built model holds { $built }: please report it.
pooler = Why do others write { $all }? They count the pooler, a layer on top that no page here needs: d_model² + d_model = { $formula } = { $pooler }.
heads-free = **Do more heads cost parameters?** Not in Q, K, V and O: all heads share the { $model } features of d_model, here { $width } each. With { $heads } heads, each with its own keys and values, the model has { $counts } parameters.
heads-cost = **Do more heads cost parameters?** Here they do: each is d_head = { $width } features wide, however many there are. With { $heads } heads, each with its own keys and values, the model has { $counts } parameters.

size = Parameters
    .help = The numbers that training adjusts.
beside-bert = Compared with BERT base
work = Forward pass, { $tokens ->
    [one] 1 token
   *[other] { $tokens } tokens
}
    .help = FLOPs are floating-point operations, a multiplication or an addition each: those of matrix products. Norms, softmax and the like are left out.
flops = The matrix products of one pass over T = { $tokens } tokens, padding included; a multiply-add is 2 FLOPs. Scores and weighted sum grow with the pairs of tokens (T², fewer in a window), everything else with T.
    .alt = FLOPs by component: { $components }
by-length = How does the work for one token grow with the sentence? The feed-forward's stays the same. Attention's rises with the number of tokens that each token attends to.
    .alt = FLOPs a token by length, of attention and of the feed-forward
overtakes = Attention costs more from T = { $tokens } on.
memory = Training with Adam holds 4 bytes a weight, 4 a gradient, and 8 for Adam's two running means, the *moments*.

models = Each bar is a whole model, the smallest on top. Beside its name: its size, and how many times as large { $name } is. GPT-2's and GPT-3's blocks are counted as an encoder's; poolers are left out.
    .alt = Parameters of named models, on a logarithmic axis

bought = Each of the { $encoders } dots is an encoder that comes with the playground: its parameters, and its mean share right over the ten capabilities. The sidebar's is red. Hover over a dot for its name.
    .alt = Dots: parameters across, mean share of right words up
