"""What the attacker's programs have in common: system calls by number, and attempts that cannot take the rest with them."""
import ctypes
import errno
import json
import os
import platform
import signal
import sys

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
COLUMN = {"x86_64": 0, "aarch64": 1}[platform.machine()]
SECONDS = 10

# From the kernel's headers: x86-64, arm64.
NUMBERS = {
    "getpid": (39, 172), "ioctl": (16, 29), "clone": (56, 220), "clone3": (435, 435), "personality": (135, 92),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "chroot": (161, 51), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "ptrace": (101, 117),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440), "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264), "kexec_load": (246, 104), "kexec_file_load": (320, 294),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "fanotify_init": (300, 262), "fanotify_mark": (301, 263), "reboot": (169, 142), "swapon": (167, 224),
    "swapoff": (168, 225), "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266),
    "adjtimex": (159, 171), "sethostname": (170, 161), "setdomainname": (171, 162), "iopl": (172, None),
    "ioperm": (173, None), "modify_ldt": (154, None), "acct": (163, 89), "quotactl": (179, 60),
    "quotactl_fd": (443, 443), "syslog": (103, 116), "vhangup": (153, 58), "mknod": (133, None),
    "mknodat": (259, 33), "memfd_secret": (447, 447), "move_pages": (279, 239), "migrate_pages": (256, 238),
    "capset": (126, 91), "memfd_create": (319, 279), "open": (2, None), "openat": (257, 56), "openat2": (437, 437),
    "creat": (85, None), "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "mkdirat": (258, 34), "setxattrat": (463, 463),
}


def number(name):
    return NUMBERS[name][COLUMN]


def call(name, *words):
    """Makes a system call; its result, or the name of its error."""
    return call_number(number(name), *words)


def call_number(nr, *words):
    if nr is None:
        return "no such call"
    prepared = [ctypes.c_ulong(word) if isinstance(word, int) else word for word in words]
    result = libc.syscall(ctypes.c_long(nr), *prepared)
    if result != -1:
        return "done"
    return errno.errorcode.get(ctypes.get_errno(), str(ctypes.get_errno()))


def outcome_of(attempt):
    """Runs an attempt in a process of its own; what it answers, or how it was ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.alarm(SECONDS)
        try:
            said = attempt()
        except OSError as fault:
            said = errno.errorcode.get(fault.errno, str(fault))
        except Exception as fault:
            said = "broke: %r" % (fault,)
        os.write(writing, json.dumps(said).encode()[:60000])
        os._exit(0)
    os.close(writing)
    said = b""
    while piece := os.read(reading, 65536):
        said += piece
    os.close(reading)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return json.loads(said) if said else "said nothing"


def report(attempts):
    json.dump({name: outcome_of(attempt) for name, attempt in attempts.items()}, sys.stdout, indent=1)
    sys.stdout.write("\n")
