# Who attends to whom?
# $query, $key, $other, $rival: tokens with their positions, in markdown. $weight, $second: attention weights.

answer-most = { $query } attends most to { $key }: **{ WEIGHT($weight) }** ({ $where }).
answer-other = { $query } attends most to { $other }: **{ WEIGHT($second) }** ({ $where }). { $key } gets **{ WEIGHT($weight) }**.
answer-only = { $query } has only one token to attend to, { $key }: **{ WEIGHT($weight) }** ({ $where }).
answer-hidden = { $query } cannot attend to { $key }: the mask hides it ({ $where }).

shown-one = layer { $layer }, head { $head }
shown-average = layer { $layer }, average of heads

draw-show = Show
    .help = A head is one of the attention computations that run side by side in a layer.
draw-colours = Colours
    .help = square root: faint attention shows too. linear: half the weight has half the colour.
draw-hide = hide special tokens
    .help = Leaves padding, [CLS] and [SEP] out of maps, lines and ranking. All numbers still count them.
map =
    .alt = Attention of { $name }: queries in rows, keys in columns
    .caption = **{ $name }.** Row = query, the token that attends; column = key, the token attended to. Click a cell.
grid =
    .alt = Thumbnails of attention: { $layers } × { $heads } heads, layers in rows
    .caption = **Every head.** Row = layer, column = head. Click one to open it.
    .click = The open head. Arrow keys open its neighbours.

linking = Heads that link { $query } to { $key }, the strongest first
    .head = Layer { $layer }, head { $head }: { $weight }
linking-hidden = No head links { $query } to { $key }: the mask hides the key.

question-more = Why does { $query } look at { $key }?
question-less = Why does { $query } not look more at { $key }?
question-hidden = Why does { $query } not look at { $key }?
rival = Compare it with a rival
    .help = The bars split this key's lead over the rival into parts. By default, the rival is the strongest other word.
rival-best = the strongest other word: { $key }
rival-mean = the mean over its keys
rival-none = no other key

hidden = The mask hides the key from the query, so the weight is 0.
random = The weights are random: nothing was learnt, so there is no why.
open-trained = Open a trained encoder of this shape
row-set = You have set weights of this row. Below is what the model computes before that.
reason-mostly = Weight **{ WEIGHT($weight) }**, rank { $rank } of { $keys }. The score minus that of { $rival } is **{ NUM($lead) }**, mostly by **{ $part }** ({ NUM($amount) }).
reason-mixed = Weight **{ WEIGHT($weight) }**, rank { $rank } of { $keys }. The score minus that of { $rival } is **{ NUM($lead) }**. No single part explains it; the largest is **{ $part }** ({ NUM($amount) }).
reason-even = Weight **{ WEIGHT($weight) }**, rank { $rank } of { $keys }. The score minus that of { $rival } is only { NUM($lead) }.
reason-only = Weight **{ WEIGHT($weight) }**: { $key } is the only key that { $query } may attend to.
reason-unknown = Weight **{ WEIGHT($weight) }**, rank { $rank } of { $keys }. The score minus that of { $rival } is { NUM($lead) }: too large for 32-bit floats to split.
parts =
    .alt = Bars: parts of the difference of two keys' scores, by kind of source
    .caption = This difference ({ NUM($lead) }) by what wrote the two keys' vectors. Bars to the right favour { $key }, to the left { $rival }.

sources = A vector is the sum of what its sources wrote, so a score is a sum over pairs of sources. Each part of { $key } is shown minus that of { $rival }, as the softmax sees only differences.
    .alt = Bars: parts of the difference of two keys' scores, by source of the keys' vectors
    .caption = **By what wrote the keys' vectors.** Bars to the right favour { $key }, to the left { $rival }. They add up to { NUM($lead) }, with every norm at this run's scale (rounding: { NUM($rounding, digits: 1) }); the table splits them by the query's sources too.
sources-none = There is no difference of scores to split here.
swap-word = The same word gets more in both orders: here the head **follows the word**.
swap-place = The same place gets more in both orders: here the head **follows the place**.
swap-close = In one of the two orders the weights are less than 0.05 apart: **too close to tell**.
swap-none = There are no two words to swap here, or the weights are random.
swap =
    .weight = weight of { $word }
moved = Behind $W_O$ this is { $share } % of attention's output, all heads together (by projection).
    .alt = Bars: each key's share of the head's output
    .caption = **Whose values make up the head's output for { $query }?** A key's share is w v, projected on z = Σ w v: a heavy weight on a short value moves little (Kobayashi et al. 2020). The amber bar is { $key }.

view = Look closer
    .title = Look closer: more views of the heads, how a weight comes about
    .help = lines: every query's strongest keys. ranking: one query's keys. entropy: how spread out each head is. heads that link: all heads by one weight. what heads are known for: their habits. sources: what wrote the two vectors. swap two words: the same head in the swapped sentence. what it moves: the value behind the weight.
lines =
    .alt = Lines from each query to the keys it attends to most, query { $query } in colour
    .caption = Lines join each query (left) to its strongest keys (right), at most { $most }, from weight { NUM($least) } on; { $query } is in colour. Long texts: the tokens near the query are drawn. Click a line or a token.
ranking =
    .alt = Bars: attention weights of query { $query }
    .caption = What { $query } attends to, the strongest first. Click a bar to choose its key.
    .click = The chosen key. Arrow keys choose its neighbours.
entropy =
    .alt = Mean entropy of every head, in bits
    .caption = How spread out is each head? Its entropy, $-\sum p \log_2 p$ over keys, is averaged over queries; 0 bits: every query attends to one token.
    .reading = Layer { $layer }, head { $head }: { NUM($bits) } bits; spread evenly it would be { NUM($highest) }.
link =
    .caption = z: how unusual the weight is for its head, in standard deviations of the log-odds at the same distance. Click a row to open its head.
habits = Measured on { $n } fixed sentences. Share of a head's weight that goes to the keys of each rule, averaged over queries (Clark et al. 2019, Voita et al. 2019); position only: the variance of weights that the distance explains (R²). Click a row to open its head.
known-for = **Layer { $layer }, head { $head }** is known for: { $rule } ({ WEIGHT($share) }).
known-none = **Layer { $layer }, head { $head }** is known for none of these.

moved-by = With your changes the sentence vector moves by **{ SHARE($moved) }** of its length. A head that is off keeps its pattern, but nothing reads what it gathers.
try-off = What if this head were off?
try-cut = What if it could not look there?
