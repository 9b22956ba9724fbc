"""Runs a command with the filters of system calls that systemd 252 makes of a unit.

confine.py ALLOWED FAMILIES COMMAND ..: names of system calls, and of the address families of sockets, each with commas.
"""
import ctypes
import errno
import os
import socket
import sys

lib = ctypes.CDLL("libseccomp.so.2")
lib.seccomp_init.restype = ctypes.c_void_p
ALLOW, NE, LT, EQ, GT, MASKED = 0x7FFF0000, 1, 2, 4, 6, 7
WRITE, EXEC = 2, 4  # of a page
NAMESPACES = [1 << bit for bit in (17, 25, 26, 27, 28, 29, 30)]  # CLONE_NEW*
SUID, SGID = 0o4000, 0o2000


def refused(error):
    return 0x00050000 | error


class Comparison(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


class Filter:
    def __init__(self, otherwise):
        self.context = ctypes.c_void_p(lib.seccomp_init(ctypes.c_uint32(otherwise)))
        lib.seccomp_attr_set(self.context, 3, 0)  # no_new_privs is set, or the filter is not loaded

    def rule(self, action, call, *comparisons):
        number = lib.seccomp_syscall_resolve_name(call.encode())
        if number < 0:  # not of this platform
            return
        table = (Comparison * max(1, len(comparisons)))(*(Comparison(*c) for c in comparisons))
        check(lib.seccomp_rule_add_array(self.context, ctypes.c_uint32(action), number, len(comparisons), table), call)

    def load(self):
        check(lib.seccomp_load(self.context), "load")


def check(status, what):
    if status < 0:
        sys.exit(f"confine: {what}: {os.strerror(-status)}")


allowed, families, command = sys.argv[1].split(","), sys.argv[2].split(","), sys.argv[3:]
refuse = Filter(ALLOW)
deny = refused(errno.EPERM)

# RestrictAddressFamilies
families = sorted(getattr(socket, name) for name in families)
refuse.rule(refused(errno.EAFNOSUPPORT), "socket", (0, LT, families[0]))
refuse.rule(refused(errno.EAFNOSUPPORT), "socket", (0, GT, families[-1]))
for between in set(range(families[0], families[-1])) - set(families):
    refuse.rule(refused(errno.EAFNOSUPPORT), "socket", (0, EQ, between))
# MemoryDenyWriteExecute
refuse.rule(deny, "mmap", (2, MASKED, WRITE | EXEC, WRITE | EXEC))
refuse.rule(deny, "mprotect", (2, MASKED, EXEC, EXEC))
refuse.rule(deny, "pkey_mprotect", (2, MASKED, EXEC, EXEC))
refuse.rule(deny, "shmat", (2, MASKED, 0o100000, 0o100000))
# RestrictNamespaces
refuse.rule(deny, "setns")
refuse.rule(refused(errno.ENOSYS), "clone3")
for flag in NAMESPACES:
    refuse.rule(deny, "clone", (0, MASKED, flag, flag))
    refuse.rule(deny, "unshare", (0, MASKED, flag, flag))
# RestrictRealtime
for policy in os.SCHED_FIFO, os.SCHED_RR, 6:  # 6 is SCHED_DEADLINE
    refuse.rule(deny, "sched_setscheduler", (1, EQ, policy))
# RestrictSUIDSGID
for mode in SUID, SGID:
    for call, at in ("chmod", 1), ("fchmod", 1), ("fchmodat", 2), ("mkdir", 1), ("mkdirat", 2), ("mknod", 1), ("mknodat", 2):
        refuse.rule(deny, call, (at, MASKED, mode, mode))
    refuse.rule(deny, "open", (1, MASKED, os.O_CREAT, os.O_CREAT), (2, MASKED, mode, mode))
    refuse.rule(deny, "openat", (2, MASKED, os.O_CREAT, os.O_CREAT), (3, MASKED, mode, mode))
# LockPersonality
refuse.rule(deny, "personality", (0, NE, 0))
refuse.load()

# SystemCallFilter, with SystemCallErrorNumber; execve begins the command
permit = Filter(deny)
for call in allowed:
    permit.rule(ALLOW, call)
permit.load()
os.execv(command[0], command)
