"""Checks that a client's program makes, reported in the form of the Test Anything Protocol."""

import traceback

_made = 0


def check(what, want, ask):
    """Asks, and compares the answer with what is wanted: a value, or a function that says whether it is right."""
    global _made
    _made += 1
    said = ""
    try:
        got = ask()
    except Exception as error:
        got, said = error, traceback.format_exc()
    right = want(got) if callable(want) else not isinstance(got, Exception) and got == want
    print("ok -" if right else "not ok -", what)
    if not right:
        wanted = "" if callable(want) else f"want {want!r}\n"
        for line in f"got {got!r}\n{wanted}{said}".splitlines():
            print("#", line)


def done():
    print(f"1..{_made}")


def fails(sqlstate, *parts):
    """Returns a function that tells errors with an SQLSTATE, and texts in their message."""

    def right(error):
        state = getattr(error, "sqlstate", None) or getattr(getattr(error, "orig", error), "pgcode", None)
        return isinstance(error, Exception) and state == sqlstate and all(p in str(error) for p in parts)

    return right
