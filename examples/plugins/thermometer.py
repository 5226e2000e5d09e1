#!/usr/bin/env python3
"""The temperature in the file named, as the battery of misc: 41 deg C is 4.1 V."""
import struct
import sys
import time

while True:
    celsius = int(open(sys.argv[1]).read()) // 1000
    sys.stdout.buffer.write(struct.pack(">cHBBB", b"m", 3, 0, 0, celsius))
    sys.stdout.flush()
    time.sleep(1)
