#!/usr/bin/env bash
# Runs the reader of the benchmarks (docs/CLIENTS.md). There is nothing to build.
set -euo pipefail
cd "$(dirname "$0")"
PYTHONDONTWRITEBYTECODE=1 exec python3 speed.py "$@"
