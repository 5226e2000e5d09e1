#!/usr/bin/env bash
# Starts the adapter of the conformance suite (docs/CLIENTS.md). Nothing is built.
cd "$(dirname "$0")"
PYTHONDONTWRITEBYTECODE=1 exec python3 adapter.py "$@"
