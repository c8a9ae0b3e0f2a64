# The page Results, and the code at a lesson's end.

code = Result code
    .says = It says which of { $n } answers you found, and at which try. Copy it and hand it in. This server stores nothing.
name = Name or number, if your teacher wants one

heading = What did the class find?
invitation = The last step of a lesson gives every student a code. Paste the codes below, and see **who found which answers, at which try**.
answer = Of **{ $n }** { $n ->
        [one] student
       *[other] students
    }, **{ $finished }** found all { $tasks } answers of “{ $title }”. Found least: step { $step }, by **{ $least }**.
codes = Codes, one a line
file = Or a file with codes: text or CSV
stored = The server keeps nothing of this, and no link holds it.
lesson = Lesson
lesson-name = { $title } ({ $n })

tries = { $n ->
        [one] { $n } student
       *[other] { $n } students
    } a bar: at which try they found the answer. A step to do, once done, counts as found at try 1. *Earlier session*: the student's browser says so.
    .alt = How many of { $n } students found each answer, and at which try
    .axis = students
at-1 = try 1
at-2 = try 2
at-3 = try 3
at-4 = try 4 or later
at-earlier = earlier session
at-not = not found

several = { $n ->
        [one] { $n } code does not count: of several codes
       *[other] { $n } codes do not count: of several codes
    } with one name a signed one counts first, then the best, then the last.
book = **CSV** saves the table for a grade book.
signed = **signed**: this server made the code from answers that it checked. Anybody can make up a code that is not signed.
    .none = This server has no key to sign codes, so anybody can make one up.
unread = { $n ->
        [one] { $n } line
       *[other] { $n } lines
    } could not be read.
unread-line = Line { $number }: { $reason }
