# Which mistake did I make?
# $differ of $compared: how many tensors differ from the model's, and how many were given.

invitation = Is your own encoder wrong? Bring the numbers that it computes. This page finds the first wrong one, and tries **{ $mistakes }** known mistakes, alone and in pairs, to explain it.

answer-right = No mistake shows: **{ $differ }** of { $compared } tensors differ from the model's.
answer-found = Found: { $mistakes }. **{ $differ }** of { $compared } tensors differ from the model's, first `{ $first }` ({ $point }).
answer-noise = Probably noise, such as lower precision: **{ $differ }** of { $compared } tensors differ from the model's, first `{ $first }` ({ $point }).
answer-unknown = No known mistake explains it, alone or in a pair. **{ $differ }** of { $compared } tensors differ from the model's, first `{ $first }` ({ $point }). If you can, bring what was computed before it too.

mistake = **{ $title }.** { $meaning }
    .notes =
        - **What you notice:** { $symptom }
        - **A test for your own code:** { $test }
        - **Seen in practice:** { $source }.

where = Where the numbers first differ
map = { $title ->
    [yours] Given
    [ours] The model's
   *[difference] Difference
}
    .alt = { $tensor }, { $title }, as colours.
table = Every tensor that differs

no-text = Type a sentence into “Your text”: your encoder and this one are to read the same.
too-long = The sentence has more than { $most } tokens: shorten it to look for mistakes.
searching = Looking for what explains it …
checked = Checked: { $name }.
example = See it done: try a wrong encoder
    .name = an example, the sidebar's model with one mistake

steps = Check your own encoder
build = **1. Build the sidebar's encoder in your own code, with its weights.** The sidebar has the code: **More**, *Take it with you*.
small = Take a small random encoder
run = **2. Run it on these tokens, and save what it computes.** Some of its tensors are enough.
code = The code that saves them, and their names
bring = **3. Bring them here.** The result is at the top of this page.
file = A file of NumPy (.npz) or safetensors
    .help = Saved with { $how }, by the names of step 2.
