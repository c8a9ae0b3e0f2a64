# Where do the parameters sit?

answer = Of { $total } parameters, **{ $first_size }** ({ SHARE($first_share) }) sit in { $first } and **{ $second_size }** ({ SHARE($second_share) }) in { $second }.
view = Show as
choose = Model to count
    .help = Your settings are the model that you set in the sidebar. The others are models of the tutorials and of papers.
    .own = your settings

panel-formulas = Every formula with its numbers
panel-costs = What a sentence costs
panel-bought = What parameters buy

components = A *parameter* is a number that training adjusts. Each bar is a component, summed over all layers; its pieces are weights with their biases. *Embeddings*: tables of vectors, such as one for each token that the model knows. *Q, K, V*: the maps to queries, keys and values. *O*: the map after the heads. *W₁, W₂*: the maps of the feed-forward network, to its hidden numbers and back.
    .alt = Parameters by component: { $components }
    .reading = Blocks: { $blocks } × { $size } parameters.
layers = Each numbered bar is a block; *embed* is what comes before the blocks, *final* the norm after them.
    .click = The chosen layer. Arrow keys choose its neighbours.

flops = **{ $work }** (floating-point operations): the matrix products of one pass over T = { $tokens } tokens, padding included; a multiply-add is 2. Scores and weighted sum grow with the pairs of tokens (T², fewer in a window), everything else with T.
    .alt = FLOPs by component: { $components }
by-length = How does the work for one token grow with the sentence? The feed-forward's stays the same. Attention's rises with the number of tokens that each token attends to.
    .alt = FLOPs a token by length, of attention and of the feed-forward
memory = Training with Adam holds 4 bytes a weight, 4 a gradient, and 8 for Adam's two running means, the *moments*.

bought = Each of the { $encoders } dots is an encoder that comes with the playground: its parameters, and its share of right words over ten kinds of sentence. With the small English, the sidebar's is red. Hover over a dot for its name.
    .alt = Dots: parameters across, mean share of right words up

source-minilm-l6 = all-MiniLM-L6-v2: MiniLM-L6-H384 (Wang et al. 2020), fine-tuned to encode sentences on over a billion pairs of them; without its pooler
source-tutorial-a = pre-norm with one α and one β a norm; its five-word sentence
source-tutorial-b = raw vectors; the position exponent counts twice
source-tutorial-c = raw vectors; one fused projection, heads merged by a bare reshape
source-tutorial-d = post-norm although its text says pre-norm; GELU; a final norm
source-tutorial-e = the encoder half; the sizes are ours, the tutorial leaves them open
source-vaswani-base = Vaswani et al. 2017, table 3; its encoder
source-vaswani-big = Vaswani et al. 2017, table 3; its encoder
source-bert-base = Devlin et al. 2018, section 3; without its pooler
source-bert-large = Devlin et al. 2018, section 3; without its pooler
source-roberta-base = Liu et al. 2019; without its head
source-distilbert-base = Sanh et al. 2019; without its head
source-albert-base = Lan et al. 2019, table 1; without its pooler
source-electra-small = Clark et al. 2020; the discriminator without its head
source-t5-base = Raffel et al. 2020, section 3.1.1; its encoder
source-modernbert-base = Warner et al. 2024; without its head
source-modernbert-large = Warner et al. 2024; without its head
source-gpt-2 = Radford et al. 2019, table 2, smallest; its blocks, counted
source-gpt-3 = Brown et al. 2020, table 2.1, largest; its blocks, counted
