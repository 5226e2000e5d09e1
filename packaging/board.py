"""A robot with an Arduino as in examples/arduino, on a terminal. It prints the terminal's name, then a line
for each change: the speeds of the wheels in mm/s, "0 0 of its own" if its watchdog has stopped them, and the
way of the left wheel in mm. The robot outlives its server, so it shows what the wheels did meanwhile."""
import os
import select
import time
import tty

WATCHDOG = 0.5  # s without a command
STEP = 0.05  # s between two reports of the encoders
MM_PER_COUNT = 0.45  # as in config/examples/arduino.cfg

board, line = os.openpty()  # line stays open here, or the terminal would be gone without a server
tty.setraw(line)
os.set_blocking(board, False)
print(os.ttyname(line), flush=True)
speeds, way, rest, shown = (0, 0), [0.0, 0.0], b"", ""
commanded = reported = time.monotonic()


def show(text):
    global shown
    if text != shown:
        shown = text
        print(f"{text}, at {way[0]:.0f}", flush=True)


while True:
    select.select([board], [], [], STEP)
    try:
        rest += os.read(board, 4096)
    except BlockingIOError:
        pass
    *commands, rest = rest.split(b"\n")
    for command in commands:
        words = command.split()
        if words and words[0] == b"V":
            speeds, commanded = (int(words[1]), int(words[2])), time.monotonic()
            show("{} {}".format(*speeds))
    now = time.monotonic()
    if now - commanded > WATCHDOG and speeds != (0, 0):
        speeds = (0, 0)
        show("0 0 of its own")
    if now - reported >= STEP:
        for wheel in 0, 1:
            way[wheel] += speeds[wheel] * (now - reported)
        reported = now
        try:
            os.write(board, "O {} {}\n".format(*(int(mm / MM_PER_COUNT) for mm in way)).encode())
        except BlockingIOError:
            pass  # no server reads
