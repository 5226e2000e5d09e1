#!/usr/bin/env bash
# Builds everything in this folder with warnings as errors, and runs the tests
# with sanitizers. The programs go to $BUILD, by default a directory that is
# removed at the end.
set -euo pipefail
cd "$(dirname "$0")"
. ../c/common.sh
# Each example is a program.
awk -v to="$BUILD/readme" '/^```/ { n += on = /^```cpp$/; next } on { print >(to n ".cpp") }' README.md
mkdir -p "$BUILD/include"
cp ./*.h ./*.hpp ../c/player.h ../c/player_simulation.h "$BUILD/include"
library player -O2
library test-player "${sanitize[@]}"
for source in "$BUILD"/readme[123].cpp names.cpp; do
  c++ -std=c++17 "${strict[@]}" -I"$BUILD/include" -pthread -o "$BUILD/$(basename "$source" .cpp)" "$source" "$BUILD/player.o"
done
"$BUILD/names"
for source in examples/*.cpp; do
  c++ -std=c++17 -O2 "${strict[@]}" -I../c -pthread -o "$BUILD/$(basename "$source" .cpp)" "$source" "$BUILD/player.o"
done
checked c++17 adapter.cpp examples/watch.cpp # which include all headers; one file takes ten seconds
c++ -std=c++17 "${strict[@]}" "${sanitize[@]}" -pthread -I../c -o "$BUILD/test" test.cpp "$BUILD/test-player.o"
"$BUILD/test"
echo "clients/cpp: ok"
