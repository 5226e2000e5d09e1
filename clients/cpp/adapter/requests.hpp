// SPDX-License-Identifier: Apache-2.0
//
// The common part of the adapters of the two classes of C++: requests are read, and answers written.
#ifndef REQUESTS_HPP
#define REQUESTS_HPP

#include "json.h"
#include "player.h"

#ifdef WITH_TLS
#include "player_tls.h"
#endif

#include <ostream>
#include <string>

namespace {

const char *const kinds[] = {"", "refused", "timeout", "closed", "protocol", "usage"};

std::string text(const std::string &line, const char *name) {
  char b[600];
  json_string(line.c_str(), name, b, sizeof b);
  return b;
}

int number(const std::string &line, const char *name) { return json_int(line.c_str(), name); }

// Writes "name":[value,...] for a range of numbers.
template <typename Iterator> void list(std::ostream &out, const char *name, Iterator from, Iterator to) {
  out << '"' << name << "\":[";
  for (Iterator i = from; i != to; ++i) out << (i == from ? "" : ",") << static_cast<long>(*i);
  out << ']';
}

// Returns a string in JSON.
std::string quote(const std::string &s) {
  std::string quoted = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

// Does what a request says of TLS.
bool useTls(player_client *client, const std::string &line) {
  std::string authority = text(line, "authority");
#ifdef WITH_TLS
  std::string certificate = text(line, "certificate"), key = text(line, "key"), server = text(line, "server");
  auto given = [](const std::string &s) { return s.empty() ? nullptr : s.c_str(); };
  player_tls tls = {authority.c_str(), given(certificate), given(key), given(server)};
  return player_use_tls(client, authority.empty() ? nullptr : &tls) == PLAYER_OK;
#else
  (void)client;
  return authority.empty();
#endif
}

}  // namespace

#endif
