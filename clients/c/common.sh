# What the scripts of the C and C++ clients have in common.

# Sanitizers stop a program at the first access outside an object and at undefined
# behaviour.
strict=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
sanitize=(-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all)

# What a program with TLS compiles and links as well, if OpenSSL is there.
tls=()
if echo '#include <openssl/ssl.h>' | cc -E - >/dev/null 2>&1; then tls=(-DWITH_TLS ../c/player_tls.c -lssl -lcrypto); fi

# library NAME FLAGS... compiles the C client for a C++ program, to $BUILD/NAME.o.
library() {
  cc -std=c99 "${strict[@]}" "${@:2}" -c -o "$BUILD/$1.o" ../c/player.c
}

# checked STANDARD FILES... has clang and clang-tidy look at files, where they are installed: in CI they have to be.
checked() {
  local standard=$1 source
  shift
  if ! command -v clang-tidy >/dev/null || ! command -v clang >/dev/null; then
    [ -z "${CI:-}" ] || { echo "clang and clang-tidy are not installed" >&2; return 1; }
    return 0
  fi
  for source in "$@"; do
    clang "-std=$standard" "${strict[@]}" -I../c -fsyntax-only "$source"
    clang-tidy --quiet "$source" -- "-std=$standard" -I../c 2>"$BUILD/tidy.log" || { cat "$BUILD/tidy.log"; return 1; }
  done
}

if [ -z "${BUILD:-}" ]; then
  BUILD=$(mktemp -d)
  trap 'rm -rf "$BUILD"' EXIT
fi
