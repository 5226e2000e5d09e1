#!/usr/bin/env bash
# Runs the adapter (docs/CLIENTS.md). There is nothing to build.
set -euo pipefail
exec tclsh "$(dirname "$0")/adapter.tcl"
