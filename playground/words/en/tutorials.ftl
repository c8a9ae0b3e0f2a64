# What is different in the tutorial that I follow?
# $letter, $title: of the chosen tutorial; $distance: the largest difference of an output.

answer = With the same random weights, outputs of **tutorial { $letter }** and of the paper (Vaswani et al. 2017) differ by up to **{ $distance }**.{ $reason ->
    [none] {""}
   *[other] {" "}Mainly because { $reason }.
}
follow = Which one do you follow?
effects =
    .alt = Bars: what is different in tutorial { $title }, by how far it moves an output
    .caption = The largest change of any output if this one thing is done in the paper's encoder, in small untrained encoders whose outputs are about 1. The bars do not add up.
    .value = largest difference of an output

topics = What it teaches, and the page that shows it
whole = Everything, with tutorial { $letter }'s { $brought ->
    [text] architecture and sentence
   *[config] architecture
} in the sidebar.
own-code = Find such a mistake in your own code, by the numbers that it computes.

flaws = Mistakes in its text and code: { $number }
flaw = **{ $where }**: { $printed }. { $happens }

five = All five side by side
    .caption = A violet cell differs from most of the five.

differences = Where the numbers of the five part, and why
    .about = Five small encoders with the same weights (seed { $seed }) read the same { $words } words: d_model { $width }, { $heads } heads, { $layers } layers, untrained, in double precision. { $vectors } expects positions to be added already; here it gets the standard ones.
points =
    .alt = Largest difference from tutorial { $title } at each point of the forward pass, by tutorial.
    .caption = Where each tutorial departs from { $title }; columns follow the order of computation.
