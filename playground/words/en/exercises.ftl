# The page Exercises.

heading = { $n ->
        [0] Where do I begin?
       *[other] Where do I go on?
    }
found = You have found **{ $n }** of { $all } answers.
next = Next: **{ $title }**
unknown = There is no exercise { $key }: these are all.
do-begin = { $n ->
        [0] Begin
       *[other] Go on
    }
level = Level { $level }: { $n } exercises
do-list = All exercises

first = What do you expect? The right answer follows yours.
earlier = In an earlier session: **{ $outcome }**.
is-open = Not yet, after { $n ->
        [one] { $n } try
       *[other] { $n } tries
    }.
is-found = You have found it, in **{ $n ->
        [one] { $n } try
       *[other] { $n } tries
    }**.
is-given-up = You have given up.

computing = This is computed for you, which may take a moment.
question = Question

several = Choose all that are right.
choose = Your answer
number = Your answer, a number
number-in = Your answer, in { $unit }
example = 0.25, 1/4 or 25 %
none = Choose an answer, then press Check.
no-number = { $text } is not a number. Try 0.25, 1/4 or 25 %.
do-check = Check
settings = Start with the exercise's settings. Change them in the sidebar or on the page { $page }, come back, and press Check. Undo brings back your own. On a phone the button » at the top left opens the sidebar.
do-start = Start with these settings
open = Open { $page }
weights = Choose the weights minilm or random in the sidebar: this exercise supports no others.

right = Right.
wrong = That is not what comes out.
keep = Leave { $keys } as it was.
hint = Hint { $number }.
do-hint = Show hint { $number }
do-give_up = Give up and show

result = What comes out
chosen = { " " }:violet-badge[your answer]
said = You said { $number }.
computed = Computed: **{ $number }** { $unit }
place = Thin frame, your choice: { $place }, { $number }.
largest = Thick frame, the largest: { $place }, **{ $number }**.
holds = The condition holds with:
why = **Why.** { $why }
source = Source: { $source }
look = Look at it on the page { $page }

do-variant = Another variant
do-next = Next: { $title }
