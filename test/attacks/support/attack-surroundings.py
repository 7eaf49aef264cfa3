"""Looks for everything of the host that a program in a sandbox must not find. Prints what it found as JSON."""
import errno
import json
import os
import socket
import stat
import subprocess
import sys

from attempts import libc, report

with open(sys.argv[1]) as file:
    PLACES = json.load(file)


def seen(path):
    """What is at a path: an error, or what can be had of it."""
    facts = os.lstat(path)
    if stat.S_ISDIR(facts.st_mode):
        return "directory: %s" % ",".join(sorted(os.listdir(path))[:20])
    with open(path, "rb") as opened:
        return "file: %r" % opened.read(200)


def written(path, text="x", flags=os.O_WRONLY):
    os.write(os.open(path, flags, 0o644), text.encode())
    return "done"


def processes():
    return sorted(int(name) for name in os.listdir("/proc") if name.isdigit())


def told(path):
    try:
        with open(path, "rb") as file:
            return file.read().decode("latin1")
    except OSError as fault:
        return errno.errorcode[fault.errno]


def everything_of_processes(name):
    return {str(pid): told("/proc/%d/%s" % (pid, name)) for pid in processes()}


def links_of_processes(name):
    found = {}
    for pid in processes():
        place = "/proc/%d/%s" % (pid, name)
        try:
            names = os.listdir(place) if name == "fd" else [""]
            found[str(pid)] = sorted(os.readlink(os.path.join(place, one) if one else place) for one in names)
        except OSError as fault:
            found[str(pid)] = [errno.errorcode[fault.errno]]
    return found


def own_files():
    """What this very program was given open: nothing but its three streams, once its own are left out."""
    return sorted(int(name) for name in os.listdir("/proc/self/fd") if int(name) <= 2 or not own(name))


def own(name):
    try:
        target = os.readlink("/proc/self/fd/%s" % name)
    except OSError:
        return True
    return target.startswith("/proc/") or target.startswith("pipe:")


def shell_files():
    """The same of a program that opened nothing itself."""
    return subprocess.run(["/bin/sh", "-c", "ls -l /proc/self/fd | sed -n 's/.* \\([0-9]*\\) -> .*/\\1/p'"], capture_output=True, text=True).stdout.split()


def status():
    wanted = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Uid", "Gid", "Groups")
    lines = dict(line.split(":", 1) for line in told("/proc/self/status").splitlines() if ":" in line)
    return {name: " ".join(lines[name].split()) for name in wanted}


def mounts():
    return sorted({line.split(" ")[4] for line in told("/proc/self/mountinfo").splitlines()})


def writable_mounts():
    found = set()
    for line in told("/proc/self/mountinfo").splitlines():
        if "rw" in line.split(" ")[5].split(","):
            found.add(line.split(" ")[4])
    return sorted(found)


def connected(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as opened:
        opened.settimeout(3)
        opened.connect(address)
        opened.send(b"attack")
    return "done"


def sent(address):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
        opened.sendto(b"attack", address)
    return "sent"


def resolved(name):
    try:
        return "found: %r" % (socket.getaddrinfo(name, 80),)
    except socket.gaierror as fault:
        return "not found"


def datagram_by_pair(address):
    """A pair is always there, and one of datagrams can send to any name."""
    first, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    first.sendto(b"attack", address)
    return "sent"


def setuid_programs():
    """Every program that would be root's elsewhere, and as whom it runs here."""
    found = []
    for folder in ("/usr/bin", "/usr/sbin", "/usr/lib", "/usr/libexec", "/usr/local/bin"):
        for parent, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(parent, name)
                try:
                    mode = os.lstat(path).st_mode
                except OSError:
                    continue
                if stat.S_ISREG(mode) and mode & (stat.S_ISUID | stat.S_ISGID):
                    found.append(path)
    return found


def became_root():
    """A copy of a program, told to run as its owner, and the system's own way to become root."""
    shown = subprocess.run(["/bin/sh", "-c", "su -c id </dev/null; sudo -n id; mount --bind /usr /tmp"], capture_output=True, text=True)
    return "done" if "uid=0" in shown.stdout else "refused"


def killed(pid):
    os.kill(pid, 0)
    return "done"


def lowered_oom_score():
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("-1000")
    return "done"


def devices():
    found = []
    for parent, _, names in os.walk("/dev"):
        for name in names:
            facts = os.lstat(os.path.join(parent, name))
            if stat.S_ISCHR(facts.st_mode) or stat.S_ISBLK(facts.st_mode):
                found.append(os.path.join(parent, name))
    return sorted(found)


HIDDEN = ["/root", "/sys", "/run", "/var", "/boot", "/srv", "/opt", "/mnt", "/media", "/etc/shadow", "/etc/hostname",
          "/etc/resolv.conf", "/etc/ssh", "/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket",
          "/tmp/.X11-unix", "/dev/mem", "/dev/kmsg", "/dev/port", "/dev/fuse", "/dev/kvm", "/dev/vsock", "/dev/net/tun",
          "/dev/loop-control", "/dev/loop0", "/dev/sda", "/dev/vda", "/dev/nvme0n1"]
SETTINGS = ["/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/kernel/modprobe",
            "/proc/sys/kernel/sysrq", "/proc/sys/vm/drop_caches", "/proc/sys/vm/overcommit_memory",
            "/proc/sys/net/ipv4/ip_forward", "/proc/sys/fs/binfmt_misc/register", "/proc/sys/user/max_user_namespaces"]
OTHERS = ["/proc/sysrq-trigger", "/proc/kcore", "/proc/kmsg", "/proc/self/uid_map", "/proc/self/setgroups",
          "/proc/irq/default_smp_affinity", "/proc/mtrr", "/proc/scsi/scsi", "/proc/acpi/wakeup", "/proc/latency_stats"]
READ_ONLY = ["/attack", "/usr/attack", "/usr/bin/attack", "/etc/attack", "/dev/attack", "/proc/attack", "/home/attack"]

ATTEMPTS = {
    **{"hidden %s" % path: lambda path=path: seen(path) for path in HIDDEN},
    **{"place %s" % name: lambda path=path: seen(path) for name, path in PLACES["paths"].items()},
    **{"place %s through /proc/1/root" % name: lambda path=path: seen("/proc/1/root" + path) for name, path in PLACES["paths"].items()},
    **{"write %s" % path: lambda path=path: written(path) for path in SETTINGS + OTHERS},
    **{"create %s" % path: lambda path=path: written(path, flags=os.O_WRONLY | os.O_CREAT) for path in READ_ONLY},
    "read /proc/kcore": lambda: seen("/proc/kcore"),
    "read /proc/kmsg": lambda: seen("/proc/kmsg"),
    "append to /etc/passwd": lambda: written("/etc/passwd", flags=os.O_WRONLY | os.O_APPEND),
    "environments": lambda: everything_of_processes("environ"),
    "command lines": lambda: everything_of_processes("cmdline"),
    "roots": lambda: links_of_processes("root"),
    "open files": lambda: links_of_processes("fd"),
    "own files": shell_files,
    "status": status,
    "mounts": mounts,
    "writable mounts": writable_mounts,
    "devices": devices,
    "interfaces": lambda: sorted(os.listdir("/proc/sys/net/ipv4/conf")),
    "setuid programs run": became_root,
    "kernel process killed": lambda: killed(PLACES["kernel_pid"]),
    "kernel process seen": lambda: seen("/proc/%d" % PLACES["kernel_pid"]),
    "out-of-memory score lowered": lowered_oom_score,
    "niceness lowered": lambda: "done: %d" % os.nice(-10),
    "connect to the host's loopback": lambda: connected(socket.AF_INET, ("127.0.0.1", PLACES["tcp_port"])),
    "connect to the host's loopback by IPv6": lambda: connected(socket.AF_INET6, ("::1", PLACES["tcp_port"])),
    "connect to the host's address": lambda: connected(socket.AF_INET, (PLACES["address"], PLACES["tcp_port"])),
    "connect to the metadata service": lambda: connected(socket.AF_INET, ("169.254.169.254", 80)),
    "send to the host's loopback": lambda: sent(("127.0.0.1", PLACES["udp_port"])),
    "send to a name server": lambda: sent(("8.8.8.8", 53)),
    "resolve a name": lambda: resolved("example.com"),
    "send to a socket in the workspace": lambda: datagram_by_pair(PLACES["workspace_socket"]),
    "send to an abstract socket": lambda: datagram_by_pair("\0" + PLACES["abstract_socket"]),
    "setuid programs": setuid_programs,
}

report(ATTEMPTS)
