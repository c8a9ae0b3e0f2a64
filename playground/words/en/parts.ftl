# What is each part for?
# Shares are those of hidden words that trained encoders of the small English get right.

view = Compare
answer = Of { $changes } changes of one setting, **{ $name }** costs most: the share of hidden words that are right falls from **{ SHARE($before) }** to **{ SHARE($after) }**, and { $fallen } of ten capabilities fall to guessing.
answer-ladder = The encoder of 2017 gets { $first } of hidden words right; with all { $changes } changes, { $top }. **{ $rung }** changes most: from { $before } to { $after }. (In brackets: the range of the seeds.)

table =
    .alt = Heatmap of the share of hidden words that trained encoders get right, by capability
    .caption = Share of hidden words that are right, the mean of three seeds. { $about } Grey: at most { $grey }, where guessing gets { $chance } or less. Click a cell for its number.
    .click = The chosen encoder, in its row, and the capability, in its column. Arrow keys move them.
    .numbers = The numbers, with the range of the seeds
table-single = Each row changes one setting of the base.
table-ladder = Each row keeps the changes above it; at larger sizes, results may differ.

cell = **{ $name }, { $capability }:** { $share } right.
change = All capabilities: { $before } on the row above, { $here } here.
example = “{ $sentence }” Right: *{ $answer }*.
words = **{ $name }:** { $words }.
head = Removing head { $head } of layer { $layer } costs *{ $answer }* most: { $cost }.
paper = *The paper:* { $claim } ({ $source })
open = Open this encoder
    .help = The sidebar then has it, for every page.
train = Train this encoder, about { $time }

rungs = The rungs
panel-costs = What each rung costs: parameters, FLOPs and memory
costs = An encoder with { $heads }, d_model { $width } and { $rows } tokens in its table. FLOPs: additions and multiplications in the matrix products of one pass over { $longest } tokens. Memory: the weights, and the keys and values of one such sentence, 4 bytes a number. In brackets: the change from the row above.

kept = It still has every capability of the base.
lost = Lost, by the share right over { $seeds ->
    [one] 1 seed
   *[other] { $seeds } seeds
}: { $capabilities }. Guessing gets { $chance }.
