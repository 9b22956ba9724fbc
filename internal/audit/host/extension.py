"""Runs the statements of an audit in a process that has loaded the extension.

usage: python3 -c SCRIPT EXTENSION DATABASE

Frames go both ways: a letter, the length of what follows in four bytes, little-endian, and that. Input has q (a statement),
f (a statement for this process and a fork of it) and i (interrupt the statement that runs). Output has r (rows), c (rows
of the fork), e (an error) and d (the statement has ended). A value of a row is a letter and what it needs.
"""

import os
import queue
import signal
import sqlite3
import struct
import sys
import threading

BATCH = 1 << 16  # bytes of rows that are written at once
PATIENCE = 2  # seconds for a fork: it has no other threads, and may hang where it does not refuse


def connect():
    connection = sqlite3.connect(sys.argv[2], timeout=60, isolation_level=None, check_same_thread=False)
    # SQLite's texts may be no UTF-8.
    connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    connection.enable_load_extension(True)
    connection.load_extension(sys.argv[1])
    connection.enable_load_extension(False)
    return connection


def write(out, letter, body):
    out.write(letter + struct.pack("<I", len(body)) + body)


def encode(row, integer=struct.Struct("<cq").pack, real=struct.Struct("<cd").pack, length=struct.Struct("<cI").pack):
    parts = []
    for value in row:
        kind = type(value)
        if kind is float:
            parts.append(real(b"f", value))
        elif kind is int:
            parts.append(integer(b"i", value))
        elif value is None:
            parts.append(b"n")
        else:
            letter = b"b"
            if kind is str:
                letter, value = b"t", value.encode("utf-8", "surrogateescape")
            parts += length(letter, len(value)), value
    return b"".join(parts) + b"."


def run(connection, sql, out, letter=b"r"):
    """Writes the rows of a statement, or its error."""
    try:
        rows, size = [], 0
        for row in connection.execute(sql):
            rows.append(encode(row))
            size += len(rows[-1])
            if size >= BATCH:
                write(out, letter, b"".join(rows))
                rows, size = [], 0
        write(out, letter, b"".join(rows))
    except sqlite3.Error as e:
        write(out, b"e", str(e).encode("utf-8", "surrogateescape"))


def child(connection, sql, into):
    """Writes the rows that a fork gets: those of its parent's connection, or, if that refuses, of one of its own."""
    signal.alarm(PATIENCE)
    rows = []
    for connect_again in False, True:
        try:
            rows = [encode(row) for row in (connect() if connect_again else connection).execute(sql)]
            break
        except sqlite3.Error:
            pass
    signal.alarm(0)
    with os.fdopen(into, "wb") as out:
        write(out, b"c", b"".join(rows))


def fork(connection, sql, out):
    """Writes the rows that this process gets, and then those of a fork from before."""
    out.flush()
    go, begin = os.pipe()
    come, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(begin)
            os.close(come)
            os.read(go, 1)  # until this process has its rows: they do not compete for the database
            child(connection, sql, into)
        finally:
            os._exit(0)
    os.close(go)
    os.close(into)
    run(connection, sql, out)
    os.close(begin)
    with os.fdopen(come, "rb") as rows:
        out.write(rows.read())
    os.waitpid(pid, 0)


def listen(connection, asked):
    """Passes on what is asked. Only this thread can interrupt a statement."""
    while True:
        head = sys.stdin.buffer.read(5)
        if len(head) < 5:
            break
        letter, length = struct.unpack("<cI", head)
        body = sys.stdin.buffer.read(length).decode("utf-8", "surrogateescape")
        if letter == b"i":
            connection.interrupt()
        else:
            asked.put((letter, body))
    connection.interrupt()
    asked.put((b"", ""))


def main():
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the audit says when to end
    out = sys.stdout.buffer
    if not hasattr(sqlite3.Connection, "enable_load_extension"):
        write(out, b"e", b"the module sqlite3 of " + os.fsencode(sys.executable) + b" cannot load extensions: put another python3 first in PATH")
        return
    try:
        connection = connect()
    except sqlite3.Error as e:
        write(out, b"e", str(e).encode())
        return
    write(out, b"d", ("SQLite " + sqlite3.sqlite_version + " in Python " + sys.version.split()[0]).encode())
    out.flush()
    asked = queue.SimpleQueue()
    threading.Thread(target=listen, args=(connection, asked), daemon=True).start()
    while True:
        letter, sql = asked.get()
        if not letter:
            break
        (fork if letter == b"f" else run)(connection, sql, out)
        write(out, b"d", b"")
        out.flush()
    connection.close()


main()
