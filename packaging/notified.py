"""Runs a program as a unit of Type=notify: writes what it notifies to a file."""
import os
import signal
import socket
import subprocess
import sys

path, command = sys.argv[1], sys.argv[2:]
manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.bind(path + ".socket")
program = subprocess.Popen(command, env=dict(os.environ, NOTIFY_SOCKET=path + ".socket"), start_new_session=True)
signal.signal(signal.SIGTERM, lambda *_: program.terminate())
signal.signal(signal.SIGHUP, lambda *_: program.send_signal(signal.SIGHUP))
manager.settimeout(0.1)
with open(path, "w") as notified:
    while True:
        ended = program.poll() is not None
        try:
            notified.write(manager.recv(4096).decode() + "\n")
            notified.flush()
        except TimeoutError:
            if ended:
                break
os.unlink(path + ".socket")
sys.exit(program.returncode)
