# The page Results, and the code at a lesson's end.

code = Result code
    .says = It says which answers you found, and at which try since you opened the page. Copy it and hand it in. This server stores nothing.
name = Name or number, if your teacher wants one

heading = What did the class find?
invitation = The last step of a lesson gives every student a code. Paste the codes below, and see **who found which answers, at which try**.
answer = All answers of “{ $title }”: found by **{ $finished }** of **{ $n }**. Found least: step { $step }, by **{ $least }**. Not signed: **{ $unsigned }**.
codes = Codes, one a line
file = Or a file with codes: text or CSV
stored = The server keeps nothing of this, and no link holds it.
lesson = Lesson
lesson-name = { $title }, version { $lesson } ({ $n })

tries = How many students found each answer, and at which try since they opened the page. A step to do counts as try 1.
    .axis = students
at-1 = try 1
at-2 = try 2
at-3 = try 3
at-4 = try 4 or later
at-earlier = earlier, unchecked
at-not = not found

several = Codes not counted: { $n }. Of one name or session, a signed code counts first, then the best, then the last.
book = **CSV** saves the table for a grade book.
signed = **signed**: this server made the code, and checked all answers but the *earlier* ones. Anybody can make up a code that is not signed.
    .none = This server has no key to sign codes, so anybody can make one up.
unread = Lines left out: { $n }.
unread-line = Line { $number }: { $reason }
