"""Reads sonar from the server at a port, over one connection. It prints a reading
now, and a new one for each line of its input."""
import select
import socket
import struct
import sys

connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
connection.settimeout(60)
stream = connection.makefile("rb")


def message():
    letter, size = struct.unpack(">cH", stream.read(3))
    return letter, stream.read(size)


connection.sendall(b"dr\0\2sr")
assert message() == (b"r", b"sr")
asked = True
while True:
    letter, data = message()
    assert letter == b"s" and len(data) == 32, (letter, data)
    if asked:
        print("sonar", *struct.unpack(">16H", data), flush=True)
    asked = bool(select.select([sys.stdin], [], [], 0)[0])
    if asked and not sys.stdin.readline():
        break
