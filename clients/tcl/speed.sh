#!/usr/bin/env bash
# Runs the reader of the benchmarks (docs/CLIENTS.md). There is nothing to build.
set -euo pipefail
exec tclsh "$(dirname "$0")/speed.tcl" "$@"
