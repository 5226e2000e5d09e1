"""Bridge is a server of JSON over WebSockets of the usual kind, a peer of the benchmark.

It publishes the data of one robot by the protocol rosbridge v2, with Tornado, the library
that rosbridge_server uses, and does what rosbridge_server does for a message: the values
become a dict once, and JSON once for each client. Messages for a client that reads slowly
wait without a limit, which is rosbridge's default.

It is not rosbridge. There is no ROS behind it, so no messages of ROS are received and
converted, and there is one thread: it does less than the original.
"""

import argparse
import asyncio
import contextlib
import json
import math
import time

import tornado.web
import tornado.websocket

READINGS = 361  # of the laser, in half degrees: as many as in the server's frame
SONARS = 16


def header(frame):
    seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
    return {"stamp": {"sec": seconds, "nanosec": nanoseconds}, "frame_id": frame}


# The values are constant and have three decimals, millimetres. rosbridge writes a 32-bit float
# with up to 17 digits, which takes longer and is twice as large.
RANGES = [round(2 + i / 1000, 3) for i in range(READINGS)]


def scan():
    """The laser, a sensor_msgs/LaserScan."""
    return {
        "header": header("laser"), "angle_min": -1.571, "angle_max": 1.571,
        "angle_increment": round(math.pi / (READINGS - 1), 6), "time_increment": 0, "scan_time": 0,
        "range_min": 0.02, "range_max": 8.191, "ranges": RANGES, "intensities": [],
    }


def robot():
    """All that a frame of Player has, in one message."""
    return {
        "header": header("base_link"),
        "scan": {k: v for k, v in scan().items() if k != "header"},
        "sonar": RANGES[:SONARS],
        "position": {"x": 1.234, "y": -0.567, "theta": 0.785, "speed": 0.2, "turn_rate": 0.1, "heading": 0.786, "stall": False},
        "gripper": {"state": 0, "beams": 0},
        "misc": {"bumpers": [0, 0], "voltage": 12.3},
        "ptz": {"pan": 0.1, "tilt": -0.1, "zoom": 0},
        "vision": {"blobs": []},
    }


TOPICS = {"/scan": scan, "/robot": robot}


class Client(tornado.websocket.WebSocketHandler):
    """A connection. clients has the topic of each that has subscribed."""

    def initialize(self, clients):
        self.clients = clients

    def open(self):
        self.set_nodelay(True)

    def on_message(self, message):
        request = json.loads(message)
        if request.get("op") == "subscribe" and request.get("topic") in TOPICS:
            self.clients[self] = request["topic"]
        else:
            self.write_message(json.dumps({"op": "status", "level": "error", "msg": "there is no such operation or topic"}))

    def on_close(self):
        self.clients.pop(self, None)


async def publish(clients, hz):
    """Publish on all topics hz times a second. Times that have passed are left out."""
    loop = asyncio.get_running_loop()
    due = loop.time()
    while True:
        values = {}  # by topic, of this time
        for client, topic in clients.items():
            if topic not in values:
                values[topic] = TOPICS[topic]()
            text = json.dumps({"op": "publish", "topic": topic, "msg": values[topic]})
            with contextlib.suppress(tornado.websocket.WebSocketClosedError):  # on_close follows
                client.write_message(text)
        due = max(due + 1 / hz, loop.time())
        await asyncio.sleep(due - loop.time())


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-port", type=int, default=9090)
    parser.add_argument("-hz", type=int, default=10)
    args = parser.parse_args()
    clients = {}
    tornado.web.Application([("/", Client, {"clients": clients})], log_function=lambda _: None).listen(args.port)
    await publish(clients, args.hz)


if __name__ == "__main__":
    asyncio.run(main())
