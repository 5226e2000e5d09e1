#!/usr/bin/env bash
# Builds everything in this folder with warnings as errors, and runs the tests
# with sanitizers. The programs go to $BUILD, by default a directory that is
# removed at the end.
set -euo pipefail
cd "$(dirname "$0")"
. ./flags.sh
if [ -z "${BUILD:-}" ]; then
  BUILD=$(mktemp -d)
  trap 'rm -rf "$BUILD"' EXIT
fi
for source in examples/*.c; do
  cc -std=c99 -O2 "${strict[@]}" -o "$BUILD/$(basename "$source" .c)" "$source"
done
cc -std=c99 "${strict[@]}" "${sanitize[@]}" -o "$BUILD/test" test.c
"$BUILD/test"
echo "clients/c: ok"
