#!/usr/bin/env python3
"""Prints the sonar ranges in mm and turns the robot to the roomier side.

usage: hello.py [host[:port]]
"""
import signal
import socket
import struct
import sys

signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it; the server then stops the robot
host, _, port = (sys.argv[1:] or ["localhost"])[0].partition(":")
server = socket.create_connection((host, int(port or 6665)))
stream = server.makefile("rb")
server.sendall(b"xy" + struct.pack(">HcH", 3, b"l", 500))  # ms: if this program hangs, the robot stops
server.sendall(b"dr" + struct.pack(">H", 4) + b"srpw")  # sonar read, position write
while head := stream.read(3):  # every message starts with a letter and a size
    letter, size = struct.unpack(">cH", head)
    data = stream.read(size)
    if letter == b"s" and size == 32:  # sonar data; the reply to the request has the letter r
        sonar = struct.unpack(">16H", data)
        print(sonar, flush=True)
        turn = 20 if sum(sonar[0:4]) > sum(sonar[4:8]) else -20  # deg/s, positive is to the left
        server.sendall(b"cp" + struct.pack(">Hhh", 4, 0, turn))  # 0 mm/s: on the spot
