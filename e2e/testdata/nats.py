#!/usr/bin/env python3
"""Stands in for the program nats in the blocks of docs/FLEET.md:

    nats sub [--headers-only] [--count N] [--stream NAME --all] SUBJECT
    nats req [--raw] [--replies N] SUBJECT BODY

An answer that is an error ends it with 1, which the real one does not do.
"""
import argparse
import base64
import json
import os
import socket
import sys
import urllib.parse

parser = argparse.ArgumentParser(allow_abbrev=False)
verbs = parser.add_subparsers(dest="verb", required=True)
sub, req = verbs.add_parser("sub", allow_abbrev=False), verbs.add_parser("req", allow_abbrev=False)
sub.add_argument("--headers-only", action="store_true")
sub.add_argument("--count", type=int, default=0)
sub.add_argument("--stream")
sub.add_argument("--all", action="store_true")
req.add_argument("--raw", action="store_true")
req.add_argument("--replies", type=int, default=1)
for verb in sub, req:
    verb.add_argument("subject")
req.add_argument("body")
args = parser.parse_args()

server = urllib.parse.urlsplit(os.environ["NATS_URL"])
connection = socket.create_connection((server.hostname, server.port))
stream = connection.makefile("rb")
inbox = f"_INBOX.standin.{os.getpid()}"


def send(line, payload=None):
    connection.sendall(line.encode() + b"\r\n" + (b"" if payload is None else payload + b"\r\n"))


def receive():
    """Returns the next message: its subject, header and payload."""
    while True:
        words = stream.readline().split()
        if not words:
            sys.exit("nats: the server has closed the connection")
        if words[0] == b"PING":
            send("PONG")
        elif words[0] == b"-ERR":
            sys.exit(b" ".join(words))
        elif words[0] in (b"MSG", b"HMSG"):
            text = stream.read(int(words[-1]) + 2)[:-2]
            head = int(words[-2]) if words[0] == b"HMSG" else 0
            return words[1].decode(), text[:head].decode(), text[head:]


def ask(subject, body):
    send(f"PUB {subject} {inbox} {len(body.encode())}", body.encode())


shown = filled = 0


def show(subject, payload, head=""):
    global shown, filled
    shown, filled = shown + 1, filled + (payload != b"")
    text = head if vars(args).get("headers_only") else payload.decode(errors="replace")
    print(text if vars(args).get("raw") else f"[#{shown}] {subject}\n{text}\n", flush=True)


connection.settimeout(20)
send("CONNECT " + json.dumps({"auth_token": server.username, "headers": True, "no_responders": True, "verbose": False}))
send(f"SUB {inbox} 1")
if args.verb == "req":
    ask(args.subject, args.body)
    while shown != args.replies or shown == 0:
        try:
            _, head, payload = receive()
        except TimeoutError:
            if shown:
                break
            raise
        if " 503" in head:
            sys.exit("nats: no responders are available")
        show(args.subject, payload)
        # A lease lives for a second: a busy machine may take as long to start the next program.
        if b'"error"' in payload and b"no program holds the lease" not in payload:
            sys.exit("nats: the answer is an error")
        connection.settimeout(0.5)
    sys.exit()

at = 1
while args.stream:  # the messages of the stream; then it goes on live
    ask("$JS.API.STREAM.MSG.GET." + args.stream, json.dumps({"seq": at, "next_by_subj": args.subject}))
    answer = json.loads(receive()[2])
    if answer.get("error", {}).get("code") == 404 and answer["error"].get("err_code") == 10037:
        break
    if "error" in answer:
        sys.exit(f"nats: {answer['error']}")
    show(answer["message"]["subject"], base64.b64decode(answer["message"].get("data", "")))
    at = answer["message"]["seq"] + 1
send(f"SUB {args.subject} 2")
while shown < args.count or not args.count:
    subject, head, payload = receive()
    show(subject, payload, head)
if not filled:
    sys.exit("nats: no message has a payload")
