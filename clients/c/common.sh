# The common part of the scripts of the C and C++ clients.

# Sanitizers stop a program at the first access outside an object and at undefined
# behaviour.
strict=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
sanitize=(-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all)

# Whether programs have TLS: yes, if OpenSSL is there.
tls=
if echo '#include <openssl/ssl.h>' | cc -E - >/dev/null 2>&1; then tls=yes; fi

# library NAME FLAGS... compiles the C client for a C++ program, to $BUILD/NAME.o.
library() {
  cc -std=c99 "${strict[@]}" "${@:2}" -c -o "$BUILD/$1.o" ../c/player.c
}

# program NAME SOURCE COMMAND... compiles a source with the command, to $BUILD/NAME.o, and links it with the files that
# the array link lists, to $BUILD/NAME. In two steps: a cache of compilers (.ci/run) keeps objects, and no programs.
link=()
program() {
  "${@:3}" -c -o "$BUILD/$1.o" "$2"
  "${@:3}" -o "$BUILD/$1" "$BUILD/$1.o" "${link[@]}"
}

# with_tls FLAGS... compiles the part with TLS, if OpenSSL is there: link gets it, and define has the macro of the program.
define=()
with_tls() {
  [ -n "$tls" ] || return 0
  cc -std=c99 "${strict[@]}" "$@" -c -o "$BUILD/tls.o" ../c/player_tls.c
  link+=("$BUILD/tls.o" -lssl -lcrypto)
  define=(-DWITH_TLS)
}

# checked STANDARD FILES... has clang look at files, and with TIDY=1 clang-tidy, for which a file in C++ takes half a
# minute. Where they are not installed they are left out: in CI they have to be there. The analyzer of clang looks at C
# alone: a file in C++ takes it another minute.
checked() {
  local standard=$1 checks= source
  [[ $standard != c++* ]] || checks=-clang-analyzer-*
  shift
  if ! command -v clang >/dev/null || [ -n "${TIDY:-}" ] && ! command -v clang-tidy >/dev/null; then
    [ -z "${CI:-}" ] || { echo "install clang and clang-tidy" >&2; return 1; }
    return 0
  fi
  for source in "$@"; do
    clang "-std=$standard" "${strict[@]}" -I../c -fsyntax-only "$source"
    [ -n "${TIDY:-}" ] || continue
    clang-tidy --quiet --checks="$checks" "$source" -- "-std=$standard" -I../c 2>"$BUILD/tidy.log" || { cat "$BUILD/tidy.log"; return 1; }
  done
}

if [ -z "${BUILD:-}" ]; then
  BUILD=$(mktemp -d)
  trap 'rm -rf "$BUILD"' EXIT
fi
