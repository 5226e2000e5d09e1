// SPDX-License-Identifier: Apache-2.0
//
// Tests of the additions of crobot.hpp and player.hpp to player.h: Write, GripperCommand, a world that grows, and all
// of player::Client. The server is a thread that expects bytes. The conformance suite has the others.
#include "player.hpp"
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
    server.Expect("cp\0\4\0\0\0\0"s + "dr\0\0"s); // only to devices that are open for writing
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
  CHECK(robot.timeout > std::chrono::seconds(0)); // nothing waits for ever unless it is asked to
  CHECK(robot.SetFrequency(-1) == PLAYER_USAGE && robot.SetFrequency(0) == PLAYER_USAGE && robot.SetFrequency(65536) == PLAYER_USAGE);
  robot.timeout = std::chrono::milliseconds::max();
  CHECK(robot.Request("sr") == PLAYER_CLOSED && robot.Read() == PLAYER_CLOSED);
  CHECK(robot.Write() == 0); // there is nothing to write to
  CHECK(robot.Reconnect() == PLAYER_CLOSED);
}

// Reports whether a call throws an error of a class.
template <typename E, typename F> static bool throws(F call) {
  try {
    call();
  } catch (const E &e) {
    return e.what()[0] != 0;
  }
  return false;
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

// The world throws, and has orders without JSON.
static void testWorld() {
  Server server;
  std::string host = " HTTP/1.0\r\nHost: 127.0.0.1:" + std::to_string(server.port) + "\r\n\r\n";
  std::thread other([&] {
    server.Accept();
    server.Expect("POST /simulation?order=%7B%22seed%22%3A18446744073709551615%2C%22move%22%3A%5B%7B%22name%22%3A%22a%5Cu0022b%22%2C%22x%22%3A0.5"
        "%2C%22y%22%3A-1%2C%22heading%22%3A90%7D%5D%2C%22color%22%3A%5B%7B%22name%22%3A%22r0%22%2C%22color%22%3A%22red%22%7D%5D"
        "%2C%22speed%22%3A2%2C%22pause%22%3Atrue%2C%22step%22%3A5%7D" + host);
    server.Send("HTTP/1.0 200 OK\r\n\r\n{\"time\":2.5,\"speed\":2,\"paused\":true,\"finished\":false,\"seed\":7,\"movers\":["
        "{\"name\":\"r0\",\"robot\":true,\"x\":3,\"y\":0,\"heading\":-90,\"sees\":[{\"name\":\"p\",\"id\":4,\"range\":2,\"bearing\":-5}]}]}");
    server.Hangup();
    server.Accept();
    server.Expect("POST /simulation?order=%7B%22reset%22%3Atrue%7D" + host);
    server.Send("HTTP/1.0 409 Conflict\r\n\r\nthere is no room for r0\n");
    server.Hangup();
  });
  player::World first("127.0.0.1", server.port, std::chrono::seconds(20)), world = std::move(first);
  world.order(player::Order().move("a\"b", 0.5, -1, 90).color("r0", "red").seed(UINT64_MAX).speed(2).pause(true).step(5));
  CHECK(world.time_s() == 2.5 && world.speed() == 2 && world.paused() && !world.finished() && world.seed() == 7);
  CHECK(world.movers().size() == 1 && world.mover("r0").x == 3);
  auto sees = player::World::sees(world.mover("r0"));
  CHECK(sees.size() == 1 && sees[0].id == 4 && sees[0].bearing == -5);
  CHECK(throws<player::UsageError>([&] { world.mover("r1"); }));
  CHECK(throws<player::RefusedError>([&] { world.order(player::Order().reset()); }));
  CHECK(world.movers().size() == 1);
  other.join();
}

// Devices by their names, also when the connection is lost. A server that has given their bytes to others is refused,
// each time.
static void testNames() {
  Server server;
  auto answer = [](const bytes &lines) { return "Y\0"s + static_cast<char>(lines.size() + 1) + 'd' + lines; };
  const bytes listed = answer("\n108 laser 0 x\n128 imu 0 a driver") + answer("\n129 servo 2 lines");
  const bytes moved = answer("\n128 imu 1 x");
  const bytes asked = "xy\0\2qddr\0\0"s;
  std::thread other([&] {
    server.Accept();
    server.Expect(asked);
    server.Send(listed + "r\0\0"s);
    server.Expect("dr\0\2\x80r"s);
    server.Send("r\0\2\x80r"s + "\x80\0\x24"s + bytes(8, 0) + "\0\0\1\x2c"s + bytes(24, 1));
    server.Expect("dr\0\2\x81w"s); // the list is known
    server.Send("r\0\2\x81w"s);
    server.Expect("c\x81\0\x09\1\xff\xff\xff\xfe\0\0\0\3"s + "c\x81\0\x09\xff\x80\0\0\0\0\0\0\0"s);
    server.Expect("x\x81\0\1R"s + "xy\0\2z\1"s);
    server.Expect("dr\0\2lr"s);
    server.Send("r\0\2lr"s);
    server.Expect(asked);
    server.Send(listed + "r\0\0"s);
    server.Hangup();
    server.Accept();
    server.Expect("xy\0\2z\1"s + asked);
    server.Send(listed + "r\0\0"s);
    server.Expect("dr\0\6\x80r\x81wlr"s);
    server.Send("r\0\6\x80r\x81wlr"s + "\x80\0\x24"s + bytes(8, 0) + "\0\0\1\x2d"s + bytes(24, 1) + "l\0\0"s);
    server.Hangup();
    for (int i = 0; i < 2; i++) {
      server.Accept();
      server.Expect("xy\0\2z\1"s + asked);
      server.Send(moved + "r\0\0"s);
      char end;
      CHECK(recv(server.conn, &end, 1, 0) == 0); // nothing is requested
      server.Hangup();
    }
    server.Accept();
    server.Expect(asked);
    server.Send(moved + "r\0\0"s);
    server.Hangup();
  });
  CRobot robot;
  player::CDevice<player_imu> imu, wrong;
  player::CDevice<player_servo> arm;
  robot.timeout = std::chrono::seconds(60);
  CHECK(robot.Connect("127.0.0.1", server.port) == 0);
  CHECK(robot.Open("imu", 'r', imu) == 0 && imu == '\x80' && !robot.Has(imu));
  CHECK(robot.Read() == 0 && robot.Has(imu) && imu->yaw == 300);
  CHECK(robot.Open("servo:2", 'w', arm) == 0 && robot.DeviceName(arm) == "servo:2");
  CHECK(robot.MoveJoint(arm, 1, -2, 3) == 0 && robot.StopJoints(arm) == 0 && robot.Config(arm, "R", 1) == 0);
  CHECK(robot.SetCompact(PLAYER_COMPACT) == 0 && robot.Open("laser:0", 'r', wrong) == PLAYER_USAGE);
  std::vector<player_entry> entries;
  CHECK(robot.Devices(entries) == 0 && entries.size() == 3);
  CHECK(entries[1].name == "imu:0"s && entries[1].driver == "a driver"s);
  CHECK(robot.Read() == PLAYER_CLOSED);
  CHECK(robot.Reconnect() == 0 && !robot.Has(imu) && robot.Read() == 0 && imu->yaw == 301);
  CHECK(robot.Read() == PLAYER_CLOSED);
  CHECK(robot.Reconnect() == PLAYER_PROTOCOL && robot.Reconnect() == PLAYER_PROTOCOL && imu->yaw == 301);
  CHECK(robot.Connect() == 0 && robot.Open("imu", 'r', imu) == PLAYER_REFUSED && imu == 0);
  other.join();
}

static bytes zeros(size_t n) { return bytes(n, 0); }

// Devices as objects: their requests and commands, and their data in units.
static void testClient() {
  Server server;
  auto answer = [](const bytes &lines) { return "Y\0"s + static_cast<char>(lines.size() + 1) + 'd' + lines; };
  const bytes listed = answer("\n108 laser 0 x\n112 position 0 x\n115 sonar 0 x\n128 imu 0 x\n129 laser 1 x") + answer("\n130 goto 0 x\n131 servo 0 x\n132 io 0 x\n133 gps 0 x");
  const bytes asked = "xy\0\2qddr\0\0"s;
  std::thread other([&] {
    server.Accept();
    auto granted = [&](const bytes &pairs) {
      server.Expect("dr\0"s + static_cast<char>(pairs.size()) + pairs);
      server.Send("r\0"s + static_cast<char>(pairs.size()) + pairs);
    };
    server.Expect("xy\0\3l\1\xf4"s); // the lifetime
    server.Expect(asked);
    server.Send(listed + "r\0\0"s);
    granted("sr");
    granted("pa");
    granted("\x80r");
    granted("yr");
    // 1.5 s since the server started; the blocks of s, p and the imu are 1, 2 and 3 ms old
    server.Send("y\0\x14"s + zeros(5) + "\x16\xe3\x60"s + "\0\0\x03\xe8\0\0\x07\xd0\0\0\x0b\xb8"s);
    server.Send("s\0\x20"s + "\x01\x02"s + zeros(30));
    server.Send("p\0\x15"s + "\0\0\0\7\0\0\0\1\xff\xff\xff\xfe\1\x67\0\x64\xff\xec\0\3\1"s);
    server.Send("\x80\0\x24"s + "\x80\0\0\0"s + zeros(4) + "\0\0\1\x2c"s + zeros(24));
    server.Expect("cp\0\4\0\x64\xff\xec"s + "cp\0\4\0\0\0\0"s);
    server.Expect(asked); // for all lasers
    server.Send(listed + "r\0\0"s);
    granted("lr");
    granted("\x81r");
    granted("\x82"s + "a");
    bytes goal(24, 0);
    for (size_t n = 0; n < goal.size();) n += static_cast<size_t>(recv(server.conn, &goal[n], goal.size() - n, 0));
    CHECK(goal.substr(0, 14) == "c\x82\0\x14\0\0\5\xdc\xff\xff\xff\xff\1\x0e"s && goal.substr(14, 8) == "\0\0\0\0\0\0\0\0"s);
    const bytes of = goal.substr(22, 2) + goal.substr(4, 10);
    // An old goal, this one on its way, and its end.
    for (const bytes &state : {"\2\0"s + "\0\0"s + of.substr(2), "\1\0"s + of, "\4\2"s + of}) {
      server.Send("y\0\xc"s + zeros(8) + "\xff\xff\xff\xff"s); // a round of the goto device alone
      server.Send("\x82\0\x12"s + state + "\0\0\0\x64"s);
    }
    granted("\x83"s + "a");
    granted("\x84"s + "a");
    server.Expect("c\x83\0\x09\2\0\0\0\5\0\0\0\7"s + "c\x84\0\5\1\0\0\0\1"s);
    server.Expect(asked);
    server.Send(listed + "r\0\0"s); // there is no imu:1
    server.Expect(asked);
    server.Send(listed + "r\0\0"s); // nor a ptz
    server.Expect("dr\0\2\x85r"s);
    server.Send("r\0\2\x85\0"s); // it does not start
    server.Expect("xy\0\2qedr\0\0"s);
    server.Send("Y\0\x1a"s + "e\ngps:0 hardware unplugged"s + "r\0\0"s);
    char end;
    CHECK(recv(server.conn, &end, 1, 0) == 0); // when the client ends
  });
  {
    player::Client first("127.0.0.1", server.port, std::chrono::seconds(60));
    first.command_lifetime(std::chrono::milliseconds(500));
    auto sonar = first.sonar();
    player::Client robot = std::move(first); // its devices stay
    auto wheels = robot.position();
    auto imu = robot.imu();
    CHECK(!sonar.has_data() && !sonar.age() && imu.yaw_deg().value() == 0 && robot.descriptor() >= 0);
    robot.ages();
    robot.read();
    CHECK(sonar.has_data() && sonar.is_new() && sonar.ranges_mm().size() == 16 && sonar.ranges_mm()[0] == 258 && sonar.ranges_mm()[1] == 0);
    CHECK(throws<std::out_of_range>([&] { sonar.ranges_mm().at(16); }));
    CHECK(robot.server_time() == std::chrono::microseconds(1500000) && sonar.age() == std::chrono::microseconds(1000));
    CHECK(wheels.x_mm() == 1 && wheels.y_mm() == -2 && wheels.heading_deg() == 359 && wheels.speed_mm_s() == 100 && wheels.turn_rate_deg_s() == -20);
    CHECK(wheels.stalled() && wheels.compass_deg() == 3 && wheels.time() == std::chrono::milliseconds(7));
    CHECK(!imu.roll_deg() && imu.yaw_deg() == 0.3 && imu.age() == std::chrono::milliseconds(3));
    CHECK(!robot.try_read() && !robot.read_for(std::chrono::milliseconds(1)));
    robot.timeout(std::chrono::milliseconds(1));
    CHECK(throws<player::TimeoutError>([&] { robot.read(); }));
    robot.timeout(std::chrono::seconds(60));
    wheels.drive(100, -20);
    wheels.stop();
    auto lasers = robot.all<player::Laser>();
    CHECK(lasers.size() == 2 && lasers[0].byte() == 'l' && lasers[1].byte() == '\x81' && lasers[1].ranges_mm().size() == 361);
    auto drive = robot.go();
    CHECK(drive.state() == player::GotoState::idle);
    drive.to(1500, -1, -90);
    robot.read();
    CHECK(drive.state() == player::GotoState::idle && drive.distance_mm() == 100); // of the old one
    robot.read();
    CHECK(drive.state() == player::GotoState::driving && !drive.ended());
    robot.read();
    CHECK(drive.ended() && drive.reason() == "the wheels got another command");
    auto arm = robot.servo();
    auto board = robot.io();
    arm.move(2, 5, 7);
    board.set(1, 1);
    CHECK(throws<player::RefusedError>([&] { robot.imu(1); }) && throws<player::RefusedError>([&] { robot.open<player::Ptz>(0, player::Access::read); }));
    CHECK(throws<player::UsageError>([&] { robot.frequency_hz(-1); }) && throws<player::UsageError>([&] { robot.command_lifetime(std::chrono::hours(1)); }));
    CHECK(throws<player::UsageError>([&] { robot.open<player::Imu>(-1); }));
    try {
      robot.gps();
      CHECK(false);
    } catch (const player::RefusedError &e) {
      CHECK(e.what() == "device gps:0: asked for r, granted e: unplugged"s && e.code() == PLAYER_REFUSED);
    }
    player::Client closing = std::move(robot);
    closing.close();
    CHECK(!closing.connected() && closing.descriptor() == -1);
    CHECK(throws<player::ClosedError>([&] { wheels.stop(); }) && throws<player::ClosedError>([&] { closing.read(); }));
    CHECK(wheels.x_mm() == 1); // the data stay
  }
  other.join();
  CHECK(throws<player::ClosedError>([&] { player::Client nobody("127.0.0.1", 1); }));
}

int main() {
  testClient();
  testNames();
  testWrite();
  testRefusals();
  testSimulation();
  testWorld();
}
