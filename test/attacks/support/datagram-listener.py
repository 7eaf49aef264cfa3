"""Listens at the names it is given as a service of the host would, and prints what it hears, one line each."""
import os
import selectors
import socket
import sys

waiting = selectors.DefaultSelector()
for name in sys.argv[1:]:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listener.bind("\0" + name[1:] if name.startswith("@") else name)
    if not name.startswith("@"):
        os.chmod(name, 0o777)
    waiting.register(listener, selectors.EVENT_READ, name)
print("listening", flush=True)
while True:
    for key, _ in waiting.select():
        print("%s heard %r" % (key.data, key.fileobj.recv(100)), flush=True)
