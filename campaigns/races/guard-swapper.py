"""In a sandbox without guards: puts links in the places of a repository's guarded paths and takes them away again.

Runs until it is killed, and never leaves the real directory but for moments of changing length.
"""
import ctypes
import os
import random
import shutil
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
AT_FDCWD = -100
RENAME_EXCHANGE = 2
MOST_SECONDS = 0.012

random.seed(int(sys.argv[1]))
REPOSITORY = os.lstat(".git").st_ino


def exchange(first, second):
    if libc.renameat2(AT_FDCWD, first.encode(), AT_FDCWD, second.encode(), RENAME_EXCHANGE) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{first} and {second} were not exchanged: {os.strerror(number)}")


def wait():
    until = time.monotonic() + random.random() ** 3 * MOST_SECONDS
    while time.monotonic() < until:
        pass


def by(link):
    exchange(".git", link)
    wait()
    exchange(".git", link)


def by_name():
    os.rename(".git", "away")
    wait()
    try:
        os.rename("away", ".git")
    except OSError:
        # Somebody made another one meanwhile, and something in it.
        exchange("away", ".git")
        if os.lstat(".git").st_ino != REPOSITORY:
            raise OSError("the repository is not where it was put")
        shutil.rmtree("away")


def below(name):
    exchange(".git/" + name, name + "-to-outside")
    wait()
    exchange(".git/" + name, name + "-to-outside")


MOVES = [
    lambda: by("to-outside"),
    # As the host's root is called while bubblewrap makes a sandbox.
    lambda: by("to-old-root"),
    by_name,
    lambda: below("config"),
    lambda: below("hooks"),
]
print("racing", flush=True)
while True:
    random.choice(MOVES)()
    wait()
