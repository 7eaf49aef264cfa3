"""Tries every system call that leads out of a sandbox or to the whole machine. Prints what came of each as JSON."""
import ctypes
import errno
import fcntl
import mmap
import os
import platform
import pty
import resource
import signal
import socket
import struct
import termios

from attempts import call, call_number, libc, number, report

zeros = ctypes.create_string_buffer(4096)
NAMESPACES = {
    "user": 0x10000000, "mount": 0x20000, "net": 0x40000000, "pid": 0x20000000, "ipc": 0x8000000,
    "uts": 0x4000000, "cgroup": 0x2000000, "time": 0x80,
}
MAP_ANONYMOUS_PRIVATE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS


def cloned(flags):
    """In the new process, which shares nothing, ends it at once."""
    result = libc.syscall(ctypes.c_long(number("clone")), ctypes.c_ulong(flags | signal.SIGCHLD), None, None, None, None)
    if result == 0:
        os._exit(0)
    if result > 0:
        os.waitpid(result, 0)
        return "done"
    return errno.errorcode[ctypes.get_errno()]


def clone3():
    arguments = struct.pack("11Q", 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, 0)
    return call("clone3", arguments, len(arguments))


def terminal(request):
    """On a terminal of its own, where an unfiltered kernel would not refuse it for want of one."""
    leader, follower = pty.openpty()
    os.setsid()
    fcntl.ioctl(follower, termios.TIOCSCTTY, 0)
    return call("ioctl", follower, request, b"x")


def entered(name):
    return call("setns", os.open("/proc/self/ns/%s" % name, os.O_RDONLY), 0)


def machine_code(code):
    """Runs bytes as a function."""
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return "done: %d" % ctypes.CFUNCTYPE(ctypes.c_int)(address)()


def ia32(nr):
    """`int 0x80` with the number of a 32-bit call."""
    if platform.machine() != "x86_64":
        return "no such call"
    return machine_code(b"\xb8" + struct.pack("<I", nr) + b"\x31\xdb\xcd\x80\xc3")


def x32(name):
    if platform.machine() != "x86_64":
        return "no such call"
    return call_number(number(name) | 0x40000000, 0, 0, 0)


def opened_socket(family, kind, protocol=0):
    socket.socket(family, kind, protocol).close()
    return "done"


def handle_opened():
    handle = struct.pack("II", 8, 1) + b"\0" * 8
    return call("open_by_handle_at", os.open("/", os.O_RDONLY), handle, 0)


def became_root():
    os.setresuid(0, 0, 0)
    return "done"


def took_capabilities():
    header = struct.pack("II", 0x20080522, 0)
    return call("capset", header, struct.pack("6I", *[0xFFFFFFFF] * 6))


def raised(limit):
    try:
        resource.setrlimit(limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except ValueError:
        return "EPERM"
    return "done"


def real_time():
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    return "done"


AT_CWD = 0xFFFFFF9C
SET_IDS = {"setuid": 0o4755, "setgid": 0o2755}


def plain_file():
    """A program of its own in the workspace, where such a bit would outlast the sandbox."""
    path = "/workspace/plain-%d" % os.getpid()
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o755))
    return path.encode()


def fresh(name):
    return ("/workspace/%s-%d" % (name, os.getpid())).encode()


def unnamed(mode):
    """A file that is linked to a name once it has its mode."""
    return call("openat", AT_CWD, b"/workspace", os.O_TMPFILE | os.O_RDWR, mode)


def opened_by_structure(mode):
    how = struct.pack("3Q", os.O_CREAT | os.O_WRONLY, mode, 0)
    return call("openat2", AT_CWD, fresh("openat2"), how, len(how))


def through_descriptor(mode):
    held = os.open(plain_file(), os.O_PATH)
    os.chmod("/proc/self/fd/%d" % held, mode)
    return "done"


def gave_capabilities(revision):
    """`setcap cap_setuid+ep`, in the form for this namespace's root and in the older one."""
    form = {2: (0x02000001, 0x80, 0, 0, 0), 3: (0x03000001, 0x80, 0, 0, 0, os.getuid())}[revision]
    os.setxattr(plain_file(), "security.capability", struct.pack("<%dI" % len(form), *form))
    return "done"


def made_directory():
    """The system drops the bits of a directory's mode by itself."""
    path = fresh("directory")
    if call("mkdirat", AT_CWD, path, 0o6755) != "done":
        return "no directory was made"
    return "dropped" if os.stat(path).st_mode & 0o6000 == 0 else "done"


def set_ids(name, mode):
    attempts = {
        "chmod": lambda: call("chmod", plain_file(), mode),
        "fchmod": lambda: call("fchmod", os.open(plain_file(), os.O_RDONLY), mode),
        "fchmodat": lambda: call("fchmodat", AT_CWD, plain_file(), mode),
        "fchmodat2": lambda: call("fchmodat2", AT_CWD, plain_file(), mode, 0),
        "chmod of a descriptor's path": lambda: through_descriptor(mode),
        "open": lambda: call("open", fresh("open"), os.O_CREAT | os.O_WRONLY, mode),
        "openat": lambda: call("openat", AT_CWD, fresh("openat"), os.O_CREAT | os.O_WRONLY, mode),
        "openat of an unnamed file": lambda: unnamed(mode),
        "openat2": lambda: opened_by_structure(mode),
        "creat": lambda: call("creat", fresh("creat"), mode),
        "mknod": lambda: call("mknod", fresh("mknod"), 0o100000 | mode, 0),
        "mknodat": lambda: call("mknodat", AT_CWD, fresh("mknodat"), 0o100000 | mode, 0),
    }
    return {"%s by %s" % (name, way): attempt for way, attempt in attempts.items()}


def dumped_core():
    """Whether a process that crashes leaves its memory behind."""
    child = os.fork()
    if child == 0:
        os.chdir("/tmp")
        os.kill(os.getpid(), signal.SIGSEGV)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    left = [name for name in os.listdir("/tmp") if name.startswith("core")]
    return "done" if os.WCOREDUMP(status) or left else "none"


ATTEMPTS = {
    # What must work, so that a report of refusals means something.
    "control: getpid": lambda: call("getpid"),
    "control: clone of a plain process": lambda: cloned(0),
    "control: ioctl on a terminal of its own": lambda: terminal(0x5413),
    "control: internet socket": lambda: opened_socket(socket.AF_INET, socket.SOCK_STREAM),
    "control: asking for the personality": lambda: call("personality", 0xFFFFFFFF),
    **{"unshare %s" % name: lambda flag=flag: call("unshare", flag) for name, flag in NAMESPACES.items()},
    **{"clone into a new %s" % n: lambda f=f: cloned(f) for n, f in NAMESPACES.items() if n != "time"},
    **{"setns %s" % name: lambda name=name: entered(name) for name in ["user", "mnt", "net", "pid", "ipc", "uts", "cgroup"]},
    "clone3": clone3,
    "io_uring_setup": lambda: call("io_uring_setup", 8, zeros),
    "io_uring_enter": lambda: call("io_uring_enter", 0, 0, 0, 0, None, 0),
    "io_uring_register": lambda: call("io_uring_register", 0, 0, None, 0),
    "mount tmpfs": lambda: call("mount", b"none", b"/tmp", b"tmpfs", 0, None),
    "mount bind": lambda: call("mount", b"/usr", b"/tmp", None, 4096, None),
    "mount remount writable": lambda: call("mount", None, b"/usr", None, 4096 | 32, None),
    "mount proc": lambda: call("mount", b"proc", b"/tmp", b"proc", 0, None),
    "umount2": lambda: call("umount2", b"/proc/sys", 2),
    "pivot_root": lambda: call("pivot_root", b"/tmp", b"/tmp"),
    "chroot": lambda: call("chroot", b"/tmp"),
    "open_tree": lambda: call("open_tree", 0xFFFFFF9C, b"/", 1),
    "move_mount": lambda: call("move_mount", 0, b"", 0, b"", 0),
    "fsopen": lambda: call("fsopen", b"tmpfs", 0),
    "fsconfig": lambda: call("fsconfig", 0, 0, None, None, 0),
    "fsmount": lambda: call("fsmount", 0, 0, 0),
    "fspick": lambda: call("fspick", 0xFFFFFF9C, b"/", 0),
    "mount_setattr": lambda: call("mount_setattr", 0xFFFFFF9C, b"/", 0, zeros, 32),
    "keyctl": lambda: call("keyctl", 0, 0xFFFFFFFD, 0),
    "add_key": lambda: call("add_key", b"user", b"x", b"x", 1, 0xFFFFFFFD),
    "request_key": lambda: call("request_key", b"user", b"x", None, 0),
    "bpf": lambda: call("bpf", 0, zeros, 128),
    "perf_event_open": lambda: call("perf_event_open", zeros, 0, 0xFFFFFFFF, 0xFFFFFFFF, 0),
    "userfaultfd": lambda: call("userfaultfd", 1),
    "ptrace traceme": lambda: call("ptrace", 0, 0, 0, 0),
    "ptrace attach to the first process": lambda: call("ptrace", 16, 1, 0, 0),
    "process_vm_readv": lambda: call("process_vm_readv", os.getpid(), zeros, 0, zeros, 0, 0),
    "process_vm_writev": lambda: call("process_vm_writev", 1, zeros, 0, zeros, 0, 0),
    "kcmp": lambda: call("kcmp", os.getpid(), os.getpid(), 0, 0, 0),
    "pidfd_getfd": lambda: call("pidfd_getfd", os.pidfd_open(1), 1, 0),
    "process_madvise": lambda: call("process_madvise", os.pidfd_open(1), zeros, 0, 4, 0),
    "open_by_handle_at": handle_opened,
    "name_to_handle_at": lambda: call("name_to_handle_at", 0xFFFFFF9C, b"/", zeros, zeros, 0),
    "personality without random addresses": lambda: call("personality", 0x0040000),
    "kexec_load": lambda: call("kexec_load", 0, 0, None, 0),
    "kexec_file_load": lambda: call("kexec_file_load", 0, 0, 0, None, 0),
    "init_module": lambda: call("init_module", zeros, 8, b""),
    "finit_module": lambda: call("finit_module", 0, b"", 0),
    "delete_module": lambda: call("delete_module", b"loop", 0),
    "fanotify_init": lambda: call("fanotify_init", 0, 0),
    "fanotify_mark": lambda: call("fanotify_mark", 0, 0, 0, 0, None),
    "reboot": lambda: call("reboot", 0xFEE1DEAD, 672274793, 0, None),
    "swapon": lambda: call("swapon", b"/tmp/x", 0),
    "swapoff": lambda: call("swapoff", b"/tmp/x"),
    "settimeofday": lambda: call("settimeofday", struct.pack("QQ", 1, 0), None),
    "clock_settime": lambda: call("clock_settime", 0, struct.pack("QQ", 1, 0)),
    "clock_adjtime": lambda: call("clock_adjtime", 0, zeros),
    "adjtimex": lambda: call("adjtimex", zeros),
    "sethostname": lambda: call("sethostname", b"x", 1),
    "setdomainname": lambda: call("setdomainname", b"x", 1),
    "iopl": lambda: call("iopl", 3),
    "ioperm": lambda: call("ioperm", 0, 1, 1),
    "modify_ldt": lambda: call("modify_ldt", 0, zeros, 16),
    "acct": lambda: call("acct", None),
    "quotactl": lambda: call("quotactl", 0, None, 0, None),
    "quotactl_fd": lambda: call("quotactl_fd", 0, 0, 0, None),
    "syslog": lambda: call("syslog", 3, zeros, 100),
    "vhangup": lambda: call("vhangup"),
    "mknod of memory": lambda: call("mknod", b"/tmp/mem", 0o20666, 0x101),
    "mknodat of a disk": lambda: call("mknodat", 0xFFFFFF9C, b"/tmp/disk", 0o60666, 0x800),
    "memfd_secret": lambda: call("memfd_secret", 0),
    "move_pages": lambda: call("move_pages", 0, 0, None, None, None, 0),
    "migrate_pages": lambda: call("migrate_pages", 0, 0, None, None),
    "a call that is newer than the filter": lambda: call_number(451, 0, 0, 0, 0),
    "a call that nobody knows": lambda: call_number(100000, 0),
    "TIOCSTI": lambda: terminal(0x5412),
    "TIOCSTI + 2^32": lambda: terminal(0x5412 + (1 << 32)),
    "TIOCLINUX": lambda: terminal(0x541C),
    "TIOCLINUX + 2^32": lambda: terminal(0x541C + (1 << 32)),
    "x32 getpid": lambda: x32("getpid"),
    "x32 mount": lambda: x32("mount"),
    "ia32 getpid": lambda: ia32(20),
    "ia32 mount": lambda: ia32(21),
    "ia32 unshare": lambda: ia32(310),
    "socket vsock": lambda: opened_socket(40, socket.SOCK_STREAM),
    "socket vsock datagram": lambda: opened_socket(40, socket.SOCK_DGRAM),
    "socket unix stream": lambda: opened_socket(socket.AF_UNIX, socket.SOCK_STREAM),
    "socket unix datagram": lambda: opened_socket(socket.AF_UNIX, socket.SOCK_DGRAM),
    "socket netlink": lambda: opened_socket(socket.AF_NETLINK, socket.SOCK_RAW),
    "socket packet": lambda: opened_socket(17, socket.SOCK_RAW),
    "socket alg": lambda: opened_socket(38, socket.SOCK_SEQPACKET),
    "socket bluetooth": lambda: opened_socket(31, socket.SOCK_RAW),
    "socket xdp": lambda: opened_socket(44, socket.SOCK_RAW),
    "socket tipc": lambda: opened_socket(30, socket.SOCK_RDM),
    "socket can": lambda: opened_socket(29, socket.SOCK_RAW),
    "socket family with high bits": lambda: call_number({"x86_64": 41}.get(platform.machine(), 198), 40 + (1 << 32), 1, 0),
    "socket raw": lambda: opened_socket(socket.AF_INET, socket.SOCK_RAW, 255),
    "socket raw icmp": lambda: opened_socket(socket.AF_INET, socket.SOCK_RAW, 1),
    "root by setresuid": became_root,
    "capabilities by capset": took_capabilities,
    "limit of processes raised": lambda: raised(resource.RLIMIT_NPROC),
    "limit of core files raised": lambda: raised(resource.RLIMIT_CORE),
    "limit of memory raised": lambda: raised(resource.RLIMIT_DATA),
    "limit of file sizes raised": lambda: raised(resource.RLIMIT_FSIZE),
    "real-time scheduling": real_time,
    "core dump": dumped_core,
    "control: chmod without such a bit": lambda: call("fchmodat", AT_CWD, plain_file(), 0o1755),
    "control: a file with a plain mode": lambda: call("openat", AT_CWD, fresh("plain"), os.O_CREAT | os.O_WRONLY, 0o755),
    "control: a mode where nothing is created": lambda: call("openat", AT_CWD, b"/workspace", os.O_RDONLY, 0o6755),
    **{key: attempt for name, mode in SET_IDS.items() for key, attempt in set_ids(name, mode).items()},
    "capabilities of a file": lambda: gave_capabilities(2),
    "capabilities of a file, by namespace": lambda: gave_capabilities(3),
    "capabilities of a file by setxattrat": lambda: call("setxattrat", AT_CWD, plain_file(), 0, b"security.capability", zeros, 16),
    "setuid directory by mkdirat": made_directory,
}

report(ATTEMPTS)
