/* SPDX-License-Identifier: Apache-2.0
 *
 * The requests of the conformance suite, for the adapters in C and C++: a JSON
 * object in one line, whose strings have no escapes, except in an object in it.
 */
#ifndef PLAYER_JSON_H
#define PLAYER_JSON_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns where the value of a member begins, or NULL. */
static inline const char *json_value(const char *line, const char *name) {
  char key[32];
  const char *at;
  snprintf(key, sizeof key, "\"%s\":", name);
  at = strstr(line, key);
  return at ? at + strlen(key) : NULL;
}

/* Copies the string of a member; "" without one. */
static inline void json_string(const char *line, const char *name, char *to, size_t size) {
  const char *at = json_value(line, name);
  size_t n = 0;
  if (at && *at == '"')
    for (at++; at[n] && at[n] != '"' && n + 1 < size; n++) to[n] = at[n];
  to[n] = 0;
}

/* Copies the text of a member that is an object and reports whether there is one. */
static inline int json_object(const char *line, const char *name, char *to, size_t size) {
  const char *at = json_value(line, name);
  size_t n = 0;
  int depth = 0, quoted = 0;
  if (!at || *at != '{') return 0;
  do {
    if (quoted && at[n] == '\\' && n + 2 < size) {
      to[n] = at[n];
      n++;
    } else if (at[n] == '"')
      quoted = !quoted;
    else if (!quoted)
      depth += (at[n] == '{') - (at[n] == '}');
    to[n] = at[n];
    n++;
  } while (depth > 0 && n + 1 < size && at[n]);
  to[n] = 0;
  return depth == 0;
}

/* Prints a string, between quotes. */
static inline void json_print(const char *s) {
  putchar('"');
  for (; *s; s++) {
    if (*s == '"' || *s == '\\') putchar('\\');
    putchar(*s);
  }
  putchar('"');
}

/* Returns the number of a member; 0 without one. */
static inline int json_int(const char *line, const char *name) {
  const char *at = json_value(line, name);
  return at ? (int)strtoll(at, NULL, 10) : 0;
}

/* Reads a list of at most n numbers. */
static inline void json_ints(const char *line, const char *name, int *to, int n) {
  const char *at = json_value(line, name);
  if (!at || *at != '[') return;
  for (at++; n > 0; n--) {
    char *end;
    *to++ = (int)strtoll(at, &end, 10);
    if (*end != ',') return;
    at = end + 1;
  }
}

#endif
