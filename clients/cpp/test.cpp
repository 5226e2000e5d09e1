// SPDX-License-Identifier: Apache-2.0
//
// Tests of what player.hpp adds to player.h: Write, GripperCommand, and a world that grows. The
// server is a thread that expects bytes. The conformance suite has the others.
#include "playerclient.h"
#include "simulation.hpp"

#include <arpa/inet.h>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#define CHECK(condition) \
  do { \
    if (!(condition)) { \
      std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      std::abort(); \
    } \
  } while (0)

using bytes = std::string;
using namespace std::string_literals;

// A server on a free port of this computer.
struct Server {
  int listener = socket(AF_INET, SOCK_STREAM, 0), conn = -1, port = 0;

  Server() {
    sockaddr_in a{};
    socklen_t size = sizeof a;
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(bind(listener, reinterpret_cast<sockaddr *>(&a), sizeof a) == 0 && listen(listener, 4) == 0);
    CHECK(getsockname(listener, reinterpret_cast<sockaddr *>(&a), &size) == 0);
    port = ntohs(a.sin_port);
  }
  ~Server() {
    Hangup();
    close(listener);
  }
  void Accept() { CHECK((conn = accept(listener, nullptr, nullptr)) >= 0); }
  void Hangup() {
    if (conn >= 0) close(conn);
    conn = -1;
  }
  void Expect(const bytes &want) {
    bytes got(want.size(), 0);
    for (size_t n = 0; n < want.size();) {
      ssize_t more = recv(conn, &got[n], want.size() - n, 0);
      CHECK(more > 0);
      n += static_cast<size_t>(more);
    }
    CHECK(got == want);
  }
  void Send(const bytes &b) { CHECK(send(conn, b.data(), b.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(b.size())); }
};

static void testWrite() {
  Server server;
  std::thread other([&] {
    server.Accept();
    server.Expect("dr\0\6pwzwgw"s);
    server.Send("r\0\6pwzwgw"s);
    server.Expect("cp\0\4\0\x64\xff\xec"s + "cz\0\6\0\1\xff\xff\3\xff"s + "cg\0\2\x10\x14"s);
    server.Expect("cp\0\4\0\0\0\0"s + "cz\0\6\0\1\xff\xff\3\xff"s); // a gripper command is sent once
    server.Expect("dr\0\6pwzrgc"s);
    server.Send("r\0\6pwzrgc"s);
    server.Expect("cp\0\4\0\0\0\0"s + "dr\0\0"s); // only to what is open for writing
    server.Send("r\0\0"s);
  });
  CRobot robot;
  CHECK(robot.Connect("127.0.0.1", server.port) == 0 && robot.Request("pwzwgw") == 0);
  robot.newspeed = 100;
  robot.newturnrate = -20;
  robot.pan = 1;
  robot.tilt = -1;
  robot.zoom = 1023;
  robot.GripperCommand(GRIPpress, 20);
  CHECK(robot.Write() == 0);
  robot.newspeed = robot.newturnrate = 0;
  CHECK(robot.Write() == 0 && robot.Request("pwzrgc") == 0 && robot.Write() == 0 && robot.Request("") == 0);
  other.join();
}

static void testRefusals() {
  CRobot robot;
  robot.timeout = std::chrono::milliseconds::max();
  CHECK(robot.Request("sr") == PLAYER_CLOSED && robot.Read() == PLAYER_CLOSED);
  CHECK(robot.Write() == 0); // there is nothing to write to
  CHECK(robot.Reconnect() == PLAYER_CLOSED);
}

// A world with more movers than there is room for at first is asked again, without the order.
static void testSimulation() {
  Server server;
  std::string state = "{\"time\":2.5,\"speed\":1,\"paused\":false,\"finished\":true,\"seed\":7,\"movers\":[";
  for (int i = 0; i < 40; i++) state += (i ? ",{\"name\":\"r" : "{\"name\":\"r") + std::to_string(i) + "\",\"robot\":true,\"x\":" + std::to_string(i) + ",\"y\":0,\"heading\":-90}";
  state += "]}";
  std::string host = " HTTP/1.0\r\nHost: 127.0.0.1:" + std::to_string(server.port) + "\r\n\r\n";
  std::thread other([&] {
    for (const char *request : {"POST /simulation?order=%7B%22step%22%3A5%7D", "GET /simulation", "GET /simulation"}) {
      server.Accept();
      server.Expect(request + host);
      server.Send("HTTP/1.0 200 OK\r\n\r\n" + state);
      server.Hangup();
    }
    server.Accept();
    server.Expect("POST /simulation?order=%7B%7D" + host);
    server.Send("HTTP/1.0 409 Conflict\r\n\r\nthere is no room for r0\n");
    server.Hangup();
  });
  player::Simulation world("127.0.0.1", server.port);
  world.timeout = std::chrono::seconds(20);
  CHECK(world.Order("{\"step\":5}") == PLAYER_OK);
  CHECK(world.time == 2.5 && world.speed == 1 && !world.paused && world.finished && world.seed == 7);
  CHECK(world.movers.size() == 40 && world.movers[39].x == 39 && world.movers[39].heading == -90 && world.movers[39].name == "r39"s);
  CHECK(world.Read() == PLAYER_OK && world.movers.size() == 40);
  CHECK(world.Order("{}") == PLAYER_REFUSED && world.Error() == "127.0.0.1:" + std::to_string(server.port) + ": there is no room for r0");
  CHECK(world.movers.size() == 40);
  other.join();
}

int main() {
  testWrite();
  testRefusals();
  testSimulation();
}
