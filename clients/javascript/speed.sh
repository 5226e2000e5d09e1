#!/usr/bin/env bash
# Runs the reader of the benchmarks (docs/CLIENTS.md). Nothing is built.
cd "$(dirname "$0")"
exec node speed.js "$@"
