# The common part of the programs in Python.
import sys
from playerc import *


def connected():
    client = playerc_client(None, sys.argv[1], int(sys.argv[2]))
    if client.connect() != 0:
        raise Exception(playerc_error_str())
    return client


def subscribed(*devices):
    for d in devices:
        if d.subscribe(PLAYERC_OPEN_MODE) != 0:
            raise Exception(playerc_error_str())
    return devices


def read(client, n):
    for i in range(n):
        if client.read() is None:
            raise Exception(playerc_error_str())
