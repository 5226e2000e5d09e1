#!/usr/bin/env bash
# Runs all tests; there is nothing to build. The viewer is tested on a virtual display.
set -euo pipefail
cd "$(dirname "$0")"

# run runs one file of tests. tcltest does not report failures in its exit code.
run() {
  local output
  output=$("$@")
  printf '%s\n' "$output"
  grep -qE 'Passed[[:space:]]+[0-9]+.*Failed[[:space:]]+0$' <<<"$output"
}

for tests in protocol client view simulation; do
  run tclsh "test/${tests}_test.tcl"
done
if tclsh <<<'exit [catch {package require tls}]'; then
  run tclsh test/secure_test.tcl
elif [ -n "${CI:-}" ]; then
  echo 'TLS needs tcl-tls'
  exit 1
else
  echo 'skipped: TLS needs tcl-tls'
fi
if command -v wish >/dev/null && command -v xvfb-run >/dev/null; then
  run xvfb-run -a tclsh test/viewer_test.tcl
elif [ -n "${CI:-}" ]; then
  echo 'the viewer needs wish and xvfb-run'
  exit 1
else
  echo 'skipped: the viewer needs wish and xvfb-run'
fi
