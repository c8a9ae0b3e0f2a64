# What if a part worked otherwise?

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
} the sentence vector (mean over tokens) by **{ SHARE($moved) }** of its length; the median of the { $heads } heads, each switched off alone, is **{ SHARE($median) }**. Heads that move it further: { $further }.

more = More kinds of change
kind = What to change
strength = Strength
    .help = 0 changes nothing, 1 replaces the numbers. In between: (1 − strength) · old + strength · new.
make = Make this change
offered = Changes are listed below the heading; all pages show the model with them.
    .undo = Undo “{ $label }”

# What followed.
most = **Layer { $layer }, head { $head } changed most:** on average, { SHARE($share) } of a token's attention moved to other tokens.
heads =
    .alt = How much each head's attention has changed
    .caption = **Every head.** The share of a token's attention that moved to other tokens, averaged over tokens. Green frame: the head that changed most. Red frame: the chosen head; click a cell to choose.
head =
    .alt = Attention: queries in rows, keys in columns
head-as-it-is = **Layer { $layer }, head { $head }.** Row: the query. Column: the key it attends to. Stronger colour: more weight. Click a cell to choose its query and key.
head-before = **Layer { $layer }, head { $head }, before.**
head-after = **Layer { $layer }, head { $head }, with your changes,** in the same colours.
difference = **Layer { $layer }, head { $head }: after − before.** Violet: more weight with your changes. Orange: less.
same = Layer { $layer }, head { $head } has the **same weights** before and after. (A head that is switched off still attends; its output is lost.)
tokens = How far has each token moved?
vectors =
    .alt = Heatmap of how far each token's vector has moved, by depth
    .caption = Length of the difference, divided by the vector's length before. Row: blocks passed. Column: token. Green frames: where your changes first act. Click a cell to choose its token and layer.
    .click = The chosen layer, in its row, and token, in its column. Arrow keys move them.
chosen = The chosen head, before and after

# Which parts matter.
without-changes = This view looks at the model without your changes.
parts = Parts switched off
on = Measured on
    .help = sentence vector: how far it moves. right answers: the probability of a hidden word of the small English.
needs-word = Right answers need a hidden word of the small English. The sentence vector is shown instead.
needs-pairs = No token has a second key here, so no pair can be cut.
other = The other sentence
    .shown = Sentence { $other }: “{ $text }”
too-many = These are { $runs } runs of the sentence, too many. Try a shorter sentence or fewer layers.
tried = { $done } of { $n } runs done.
measuring = Measure

largest-none = Nothing is measured yet.
largest-vector = **{ $part } matters most**: without it, the sentence vector moves by **{ SHARE($effect) }** of its length. Median over all parts: { SHARE($median) }.
largest-word = **{ $part } matters most**: without it, the probability of the hidden word *{ $word }* goes from { NUM($before) } to **{ NUM($after) }**. Median size of the effect over all parts: { NUM($median, digits: 2) }.
measured-vector = The effect: how far the sentence vector moves, as a share of its length.
measured-word = The effect: what is added to the probability of *{ $word }*, { NUM($before) } now.

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

offer-head = Switch off layer { $layer }, head { $head }
offer-sublayer = Switch off { $name } in layer { $layer }
offer-pair = Cut { $pair } in this head
offer-hide = Hide { $token } from all other tokens
offer-patch = Patch { $token } after layer { $layer }

# Where the difference sits. $other: number of the sentence that vectors are taken from.
patch-needs = Take two sentences of equal length that differ in one word. Which vector holds the difference? Add a second sentence with the button below.
patch-none = No single vector of sentence { $other }, put into this one, brings the two nearer.
patch-nearest = Replacing the vector of { $token } at depth { $depth } by that of sentence { $other } brings the two sentences nearest: by **{ SHARE($share) }**.
patches =
    .alt = How much nearer to sentence { $other } each patched vector brings the sentence, by depth and token
    .caption = Each cell puts **one vector of sentence { $other }** into this sentence, at one token and depth (0: embeddings, then blocks passed). Its number is $1 - \lVert u' - v \rVert / \lVert u - v \rVert$ with the sentence vectors $u$ before, $u'$ after the patch, and $v$ of sentence { $other }. 100%: equal to $v$; 0: no nearer; negative: farther away. Frames: tokens that differ.
    .click = What leaves the chosen layer, in its row, at the chosen query, in its column. Arrow keys move them.
copy = Copy this sentence with { $new } for { $old }
    .none = Copy this sentence with another word
    .help = Adds the copy to your text. Changes that name a token are switched off.
    .missing = No other word fits at the chosen query, or the text is full: choose the token of another word.

how-to-read = How to read this, and what it does not prove
reading-effect = **An effect is what changes if this part is missing**, in this sentence, by this measure. Many heads can be removed at little cost ([Michel et al. 2019](https://arxiv.org/abs/1905.10650); [Voita et al. 2019](https://arxiv.org/abs/1905.09418)). That does not prove that they do nothing: where two parts do the same, each alone seems useless.
reading-zero = **Zero is an unusual value.** The layers after a head have hardly ever seen it in training; part of the effect may be that surprise. A head's mean over tokens is closer to what it usually writes.
reading-pattern = **A pattern alone explains little.** Very different attention weights can give the same output ([Jain & Wallace 2019](https://arxiv.org/abs/1902.10186)). Whether weights explain a model depends on what counts as an explanation ([Wiegreffe & Pinter 2019](https://arxiv.org/abs/1908.04626)); changing a weight and looking at what follows is one test.
reading-patch = **A patch shows where a difference can be brought in**, not where the model first needs it. Shares of several places need not add up to 100%.
