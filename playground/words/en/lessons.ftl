# The page Lessons, and the line of a lesson above every page.

which = Which lesson?
first = Begin with **{ $title }**.
brings = A lesson brings settings of its own; its button **End** brings yours back.
begin = Begin
link-and-file = Link
own = A lesson of your own
own-file = A lesson is a file in YAML: words, links and exercises, step by step. Save the file of one of these lessons, change it in an editor and open it here: you get one link for your students.
upload = Open a lesson's file
all = All lessons
stranger = Written by the person who sent you the link.
teachers = For teachers
link = The link for your students:
results = What your class found: Results
file = File

step = step { $number } of { $n }
back = Back
next = Next
restore = Restore this step
open = Open { $page }
end = End
    .help = Brings back the text and settings that you had before the lesson.
right = **Right.**
wrong = **Not so.**
no-text = There is no text yet: type a sentence first.
