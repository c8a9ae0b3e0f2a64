# What if a part worked otherwise?

live = The view “{ $view }” measures while you look at it: open this link in the app.
view = Look at

# Nothing is changed.
answer-nothing = Nothing is changed yet. How far does the sentence vector move without layer { $layer }, head { $head }?
answer-off = Your changes are switched off. Layer { $layer }, head { $head } is shown as it is.
answer-unfit = Your changes do not fit this sentence or this model. Layer { $layer }, head { $head } is shown as it is.

# $moved: share of the vector's length. $median: of single heads' effects. $further: heads that move it further.
answer-lost = Your changes leave no sentence vector to compare: it is 0, or not finite.
answer-moved = Your { $changes ->
    [one] change moves
   *[other] { $changes } changes move
} the sentence vector (mean over tokens) by **{ SHARE($moved) }** of its length.
answer-compared = Your { $changes ->
    [one] change moves
   *[other] { $changes } changes move
} the sentence vector (mean over tokens) by **{ SHARE($moved) }** of its length. { $size ->
    [much] That is much
    [little] That is little
   *[alike] That is about what one head does
}: the median of the { $heads } heads, each switched off alone, is **{ SHARE($median) }**. Heads that move it further: { $further }.
made = The sentence vector moves by **{ SHARE($moved) }** of its length.

# Buttons that make a first change.
first-off = **Off:** layer { $layer }, head { $head } adds nothing to any token.
    .make = Switch layer { $layer }, head { $head } off
    .undo = Switch layer { $layer }, head { $head } on again
first-cut = **Cut:** in this head, { $query } gives { $key } no weight; other tokens get it.
    .make = Cut { $query } → { $key } in this head
    .undo = Restore { $query } → { $key }
first-hide = **Hide:** in { $layers }, no other token sees { $key }.
    .make = Hide { $key } from every other token
    .undo = Show { $key } again
more = More kinds of change
kind = What to change
strength = Strength
    .help = 0 changes nothing, 1 replaces the numbers. In between: (1 − strength) · old + strength · new.
make = Make this change
    .undo = Take this change back
    .strength = Set its strength to { NUM($strength) }
offered = Changes are listed below the heading; all pages show the model with them.
    .undo = Undo: { $label }

# What followed.
most = **Layer { $layer }, head { $head } changed most:** on average, { SHARE($share) } of a token's attention moved to other tokens.
heads =
    .alt = How much each head's attention has changed
    .caption = **Every head.** The share of a token's attention that moved to other tokens, averaged over tokens. Green frame: the head that changed most. Red frame: the chosen head; click a cell to choose.
    .click = The chosen layer, in its row, and head, in its column. Arrow keys move them.
head =
    .alt = Attention: queries in rows, keys in columns
head-as-it-is = **Layer { $layer }, head { $head }.** Row: the query. Column: the key it attends to. Stronger colour: more weight. Click a cell to choose its query and key.
head-before = **Layer { $layer }, head { $head }, before.**
head-after = **Layer { $layer }, head { $head }, with your changes,** in the same colours.
difference = **Layer { $layer }, head { $head }: after − before.** Violet: more weight with your changes. Orange: less.
same = Layer { $layer }, head { $head } has the **same weights** before and after. (A head that is switched off still attends; its output is lost.)
tokens = How far has each token moved?
tokens-length = Length of the difference, divided by the vector's length before.
tokens-cosine = Cosine of the vectors before and after; 1 means the same direction.
measure = Measured by
vectors =
    .alt = Heatmap of how far each token's vector has moved, by depth
    .caption = { $number } Row: blocks passed. Column: token. Green frames: where your changes first act. Click a cell to choose its token and layer.
    .click = The chosen layer, in its row, and token, in its column. Arrow keys move them.
sentence = The sentence vector, and other sentences
chosen = The chosen head, before and after
pooling = Sentence vector
    .help = mean: over all tokens (Sentence-BERT; MiniLM is trained with it). first token: its vector alone. mean with padding: a common mistake, shown on purpose.
vector = The sentence vector moved by **{ SHARE($moved) } of its length**. Its cosine with the vector before is **{ NUM($cosine, digits: 4) }**.
padded = Here { $padding } of { $tokens } vectors are padding: a longer sentence in the text changes this mean.
one-sentence = Add a second sentence to your text: a table will compare their similarity before and after.
similarities = Cosine of two sentences' vectors, before and after your changes, the largest difference first. Changes that name a token apply to the chosen sentence only.

# Answers of a network that was trained here. Numbers are shares.
answers = Over { $sequences } validation sequences, **{ SHARE($after) }** of the answers are right (before: { SHARE($before) }). The right answer has a probability of **{ SHARE($probability_after) }** (before: { SHARE($probability_before) }).
    .none = Validation sequences have other tokens: only changes of heads and sublayers apply to them.

# Which parts matter. $kind: heads, sublayers, pairs or tokens.
without-changes = This view looks at the model without your changes.
parts = Parts switched off
on = Measured on
    .help = sentence vector: how far it moves. similarity: with another sentence. right answers: of a network trained here, or a hidden word of the small English.
needs-sentence = Similarity needs a second sentence, on a line of its own. The sentence vector is shown instead.
needs-answers = Right answers need a hidden word of the small English, or the heads or sublayers of a network trained here. The sentence vector is shown instead.
needs-pairs = No token has a second key here, so no pair can be cut.
other = The other sentence
    .shown = Sentence { $other }: “{ $text }”
too-many = These are { $runs } runs of the sentence, too many. Try a shorter sentence or fewer layers.
tried = { $n } runs done.
trying = { $done } of { $n } runs.
    .left = { $done } of { $n } runs. The rest takes about { $time }.
measuring = Measure
    .stop = Stop

largest-none = Nothing is measured yet.
largest-vector = **{ $part } matters most**: without it, the sentence vector moves by **{ SHARE($effect) }** of its length. Median over all { $kind }: { SHARE($median) }.
largest-similarity = **{ $part } matters most**: without it, the similarity to sentence { $other } goes from { NUM($before) } to **{ NUM($after) }**. Median size of the effect over all { $kind }: { NUM($median, digits: 2) }.
largest-word = **{ $part } matters most**: without it, the probability of the hidden word *{ $word }* goes from { NUM($before) } to **{ NUM($after) }**. Median size of the effect over all { $kind }: { NUM($median, digits: 2) }.
largest-answers = **{ $part } matters most**: without it, the probability of the right answer goes from { NUM($before) } to **{ NUM($after) }**. Median size of the effect over all { $kind }: { NUM($median, digits: 2) }.
measured-vector = The effect: how far the sentence vector moves, as a share of its length.
measured-similarity = The effect: what is added to the cosine with sentence { $other }, { NUM($before) } now.
measured-word = The effect: what is added to the probability of *{ $word }*, { NUM($before) } now.
measured-answers = The effect: what is added to the probability of the right answer, { NUM($before) } now, over { $sequences } validation sequences.

part-heads =
    .alt = Effect of every head by layer
    .caption = **Each head, switched off alone.** Click a cell to choose its head.
part-sublayers =
    .alt = Effect of attention and feed-forward by layer
    .caption = **Each layer's attention or feed-forward, switched off alone.** Click a row to choose its layer.
    .click = The chosen layer. Arrow keys move it.
part-pairs =
    .alt = Effect of every pair of tokens in the chosen head
    .caption = **Each pair of layer { $layer }, head { $head }, cut alone before the softmax:** the query's other keys share its weight. Click a cell to choose its pair.
part-hidden =
    .alt = Effect of every token, hidden from the others, by layer
    .caption = **Each token, hidden from all others in one layer.** It still attends to itself. Click a cell to choose its layer and token.
    .click = The chosen layer, in its row, and key, in its column. Arrow keys move them.

offer-head = Switch off layer { $layer }, head { $head }
offer-sublayer = Switch off { $name } in layer { $layer }
offer-pair = Cut { $pair } in this head
offer-hide = Hide { $token } in every layer
offer-hide-here = Hide { $token } in layer { $layer } alone
offer-heads = Take { $n ->
    [one] this head
   *[other] these { $n } heads
} out
offer-patch = Patch { $token } after layer { $layer }
offer-embedding = Patch the embedding of { $token }

# Do heads with striking patterns matter? $correlation: Spearman's.
spread = Do striking heads matter?
    .alt = Spread of every head's attention by layer
    .caption = **How evenly each head spreads its attention:** mean entropy of its rows, as a share of the maximum. Near 0: each token attends to one key, a striking pattern.
points =
    .alt = Every head by the spread of its pattern and the size of its effect
    .caption = **A point is a head.** Left: striking patterns. Top: large effects. Diamond: the chosen head.
relation-strong = **Yes: the more striking a head's pattern, the more the head tends to matter.** Rank correlation over { $heads } heads: **{ NUM($correlation, digits: 2) }** (1: same order, 0: none, −1: reversed).
relation-weak = **A little: striking heads tend to matter more, with many exceptions.** Rank correlation over { $heads } heads: **{ NUM($correlation, digits: 2) }** (1: same order, 0: none, −1: reversed).
relation-none = **Not visibly: a striking pattern says next to nothing about a head's effect.** Rank correlation over { $heads } heads: **{ NUM($correlation, digits: 2) }** (1: same order, 0: none, −1: reversed).
relation-reverse = **No: heads that spread their attention tend to matter more.** Rank correlation over { $heads } heads: **{ NUM($correlation, digits: 2) }** (1: same order, 0: none, −1: reversed).
relation-unknown = A comparison needs three heads whose patterns and effects differ.

# Heads taken out, the least effect first. $left, $random: what is left in this order, and in random orders.
pruned = Heads taken out
left-vector = **Without { $n } of { $heads } heads**, least effect first, the sentence vector has a cosine of **{ NUM($left) }** with the original. In random order: { NUM($random) }.
left-answers = **Without { $n } of { $heads } heads**, least effect first, **{ SHARE($left) }** of the answers are right. In random order: { SHARE($random) }.
saved = A model built without them has { $parameters } fewer parameters ({ SHARE($share) }) and { SHARE($flops) } fewer FLOPs at { $tokens } tokens. Here they are only set to zero.
curves =
    .alt = What is left as more and more heads are off, the least important first, beside random orders
    .caption = **What is left as more heads are switched off.** Order: the least effect alone first. Grey: three random orders, their mean and range. The model is not retrained.

# Where the difference sits. $other: number of the sentence that vectors are taken from.
patch-needs = Take two sentences of equal length that differ in one word. Which vector holds the difference? Add a second sentence with the button below.
patch-none = No single vector of sentence { $other }, put into this one, brings the two nearer.
patch-nearest = Replacing the vector of { $token } at depth { $depth } by that of sentence { $other } brings the two sentences nearest: by **{ SHARE($share) }**.
patch-shared = Among the tokens that both sentences share, the best place is { $token } at depth { $depth }: **{ SHARE($share) }** nearer.
patches =
    .alt = How much nearer to sentence { $other } each patched vector brings the sentence, by depth and token
    .caption = Each cell puts **one vector of sentence { $other }** into this sentence, at one token and depth (0: embeddings, then blocks passed). Its number is $1 - \lVert u' - v \rVert / \lVert u - v \rVert$ with the sentence vectors $u$ before, $u'$ after the patch, and $v$ of sentence { $other }. 100%: equal to $v$; 0: no nearer; negative: farther away. Frames: tokens that differ.
    .click = What leaves the chosen layer, in its row, at the chosen query, in its column. Arrow keys move them.
copy = Copy this sentence with { $new } for { $old }
    .none = Copy this sentence with another word
    .help = Adds the copy to your text. Changes that name a token are switched off.
    .missing = No other word fits at the chosen query; choose the token of a word.
    .full = Your text has no room for further sentences.

how-to-read = How to read this, and what it does not prove
reading-effect = **An effect says what the other parts do without this one**, in this sentence, by this measure. Many heads can be removed at little cost ([Michel et al. 2019](https://arxiv.org/abs/1905.10650); [Voita et al. 2019](https://arxiv.org/abs/1905.09418)). That does not prove that they do nothing: where two parts do the same, each alone seems useless.
reading-zero = **Zero is an unusual value.** The layers after a head have hardly ever seen it in training; part of the effect may be that surprise. A head's mean over tokens is closer to what it usually writes.
reading-pattern = **A pattern alone explains little.** Very different attention weights can give the same output ([Jain & Wallace 2019](https://arxiv.org/abs/1902.10186)). Whether weights explain a model depends on what counts as an explanation ([Wiegreffe & Pinter 2019](https://arxiv.org/abs/1908.04626)); changing a weight and looking at what follows is one test.
reading-patch = **A patch shows where a difference can be brought in**, not where the model first needs it. Shares of several places need not add up to 100%.
