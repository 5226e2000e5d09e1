// SPDX-License-Identifier: Apache-2.0
//
// Formation drives three robots through a building, in the formation of a wedge:
//
//            leader            ahead
//        left     right          ^
//
// It reads the sonars of all three and commands their wheels. The leader patrols:
// it follows the outer wall on its right. The others keep their places next to and
// behind it, at a fixed range and bearing.
//
// How does it know where the robots are? Ten times a second it does the usual two
// steps. It predicts: each robot has moved as its wheels and its compass say. It
// corrects: where a robot hears an echo near the place of another robot, the echo
// is that robot. Wheels slip, so the prediction alone drifts; the sonars alone
// cannot distinguish a robot from a wall.
//
// usage: formation host port-of-leader port-of-left port-of-right
//
// Lengths are in mm, angles in radians, counterclockwise; x is ahead, y to the left.
#include "playerclient.h"

#include <array>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <thread>

constexpr double degree = 3.14159265358979 / 180;

// --- the plane

struct Vector {
  double x = 0, y = 0;

  Vector operator+(Vector o) const { return {x + o.x, y + o.y}; }
  Vector operator-(Vector o) const { return {x - o.x, y - o.y}; }
  Vector operator*(double k) const { return {x * k, y * k}; }
  double dot(Vector o) const { return x * o.x + y * o.y; }
  double length() const { return std::hypot(x, y); }
  double angle() const { return std::atan2(y, x); }
  Vector turned(double by) const { return {x * std::cos(by) - y * std::sin(by), x * std::sin(by) + y * std::cos(by)}; }
  Vector left() const { return {-y, x}; }  // turned by 90 degrees
};

Vector towards(double angle) { return {std::cos(angle), std::sin(angle)}; }

// Returns the same angle between -pi and pi.
double wrap(double angle) { return std::remainder(angle, 360 * degree); }

double limit(double value, double low, double high) { return std::max(low, std::min(value, high)); }

// --- what we want

constexpr Vector leftPlace{-900, 520};    // in the leader's frame: range 1040, bearing 150 degrees
constexpr Vector rightPlace{-900, -520};  // the same on the other side

constexpr std::chrono::milliseconds period(100); // of the rounds; robots measure ten times a second
constexpr double cruise = 250;      // mm/s, speed of the leader
constexpr double wallRange = 1500;  // from the leader to the outer wall
constexpr double turnRadius = 1500; // of the leader in a corner
constexpr double patience = 500;    // the leader stops when another is so far from its place

// --- a robot

// The sonars of a Pioneer 2: where they are on the robot, and where they look.
struct Transducer {
  Vector at;
  double bearing;
};
constexpr std::array<Transducer, PLAYER_SONARS> ring{{
    {{69, 136}, 90 * degree},     {{114, 119}, 50 * degree},    {{148, 78}, 30 * degree},     {{166, 27}, 10 * degree},
    {{166, -27}, -10 * degree},   {{148, -78}, -30 * degree},   {{114, -119}, -50 * degree},  {{69, -136}, -90 * degree},
    {{-157, -136}, -90 * degree}, {{-203, -119}, -130 * degree}, {{-237, -78}, -150 * degree}, {{-255, -27}, -170 * degree},
    {{-255, 27}, 170 * degree},   {{-237, 78}, 150 * degree},   {{-203, 119}, 130 * degree},  {{-157, 136}, 90 * degree},
}};

constexpr double bodyRadius = 200;  // of a Pioneer, seen as a disc ...
constexpr double bodyBehind = 40;   // ... whose middle is behind the wheels

struct Member {
  CRobot robot;
  const char *name;
  Vector at;           // where it probably is, in the frame of the leader's start
  double heading = 0;  // by the compass

  Member(const char *n, Vector start) : name(n), at(start) {}

  // Connects in the mode in which the server sends a round of data only when it is
  // asked. So no old rounds wait when this program was late.
  void connect(const char *host, int port) {
    robot.timeout = std::chrono::seconds(10);
    if (robot.Connect(host, port) || robot.SetDataMode(REQUESTREPLY) || robot.Request("srpa")) fail();
    ask();
    if (robot.Read()) fail();
    remember();
  }

  // Asks for a round of data.
  void ask() {
    if (robot.RequestData()) fail();
  }

  // Predicts: takes the round of data, and moves the robot as its wheels did. The
  // odometry has a frame of its own, turned against the compass.
  void read() {
    Vector before = odometry;
    if (robot.Read()) fail();
    remember();
    at = at + (odometry - before).turned(heading - robot.position->heading * degree);
  }

  // Corrects: looks for the echo of another robot where it should be. Both estimates
  // move a little, so that they agree better with the echo.
  void hear(Member &other) {
    constexpr double aside = 30 * degree;  // a beam that points further away misses the robot
    constexpr double surprise = 200;       // an echo that is nearer or further comes from something else
    constexpr double trust = 0.05;         // of one echo; many together are precise
    Vector expected = (other.middle() - at).turned(-heading), heard;
    int echoes = 0;
    for (size_t i = 0; i < ring.size(); i++) {
      Vector beam = expected - ring[i].at;
      if (std::abs(wrap(beam.angle() - ring[i].bearing)) > aside) continue;
      if (std::abs(robot.sonar[i] - (beam.length() - bodyRadius)) > surprise) continue;
      heard = heard + ring[i].at + towards(ring[i].bearing) * (robot.sonar[i] + bodyRadius);
      echoes++;
    }
    if (echoes == 0) return;
    Vector error = (heard * (1.0 / echoes) - expected).turned(heading);
    other.at = other.at + error * trust;
    at = at - error * trust;
  }

  // speed in mm/s, turn in rad/s. A robot that goes faster than it can turns too wide,
  // so both are limited.
  void drive(double speed, double turn) {
    double mm = std::round(limit(speed, -150, 450)), degrees = std::round(limit(turn / degree, -45, 45));
    if (robot.SetSpeed(static_cast<int>(mm), static_cast<int>(degrees))) fail();
  }

  // The range from the middle of the wheels to the nearest thing before two sonars that look
  // the same way.
  double range(size_t one, size_t two) const {
    return std::min(robot.sonar[one], robot.sonar[two]) + ring[one].at.dot(towards(ring[one].bearing));
  }

  double speed() const { return robot.position->speed; }
  double turnRate() const { return robot.position->turnrate * degree; }
  Vector middle() const { return at - towards(heading) * bodyBehind; }

private:
  Vector odometry;

  void remember() {
    odometry = {double(robot.position->xpos), double(robot.position->ypos)};
    heading = wrap(robot.position->compass * degree);
  }

  [[noreturn]] void fail() const {
    std::fprintf(stderr, "formation: %s: %s\n", name, robot.Error());
    std::exit(1);
  }
};

// --- the leader

// Patrol drives along the outer wall, and to the left where the corridor ends.
class Patrol {
  double course = 0;  // direction of the corridor
  bool turning = false;

public:
  // haste is 0 to 1: how much of its speed the others let the leader drive.
  void drive(Member &leader, double haste) {
    double speed = cruise * haste;
    double ahead = leader.range(3, 4), right = leader.range(7, 8);
    if (!turning && ahead < wallRange + turnRadius) {
      course = wrap(course + 90 * degree);
      turning = true;
    }
    double left = wrap(course - leader.heading);  // still to turn
    if (turning && left > 10 * degree) {
      leader.drive(speed, speed / turnRadius);
      return;
    }
    turning = false;
    double inwards = limit((wallRange - right) / 1000, -0.2, 0.2);  // away from the wall, if it is near
    leader.drive(speed, limit(0.8 * wrap(course + inwards - leader.heading), -0.2, 0.2));
  }
};

// --- the others

// Returns how far a robot is from its place next to the leader.
Vector error(const Member &leader, const Member &m, Vector place) { return leader.at + place.turned(leader.heading) - m.at; }

// Drives a robot to its place next to the leader, which moves and turns with it.
//
// A robot with two wheels cannot go sideways, but a point in front of its wheels
// can: the robot turns, and the point goes to the side. So that point is steered,
// to where it belongs if the robot is in its place.
void keepPlace(const Member &leader, Member &m, Vector place) {
  constexpr double nose = 200;  // how far the point is in front of the wheels
  constexpr double gain = 0.8;  // 1/s: an error becomes a third in 1.2 s

  // The place moves ahead with the leader, and around it.
  Vector velocity = (Vector{leader.speed(), 0} + place.left() * leader.turnRate()).turned(leader.heading);
  // A robot in its place looks where the place moves.
  double direction = velocity.length() > 50 ? velocity.angle() : leader.heading;

  Vector missing = error(leader, m, place) + (towards(direction) - towards(m.heading)) * nose;
  Vector wanted = velocity + towards(direction).left() * (nose * leader.turnRate()) + missing * gain;
  if (velocity.length() < 50 && missing.length() < 60) wanted = {};  // near enough: it stands
  m.drive(wanted.dot(towards(m.heading)), wanted.dot(towards(m.heading).left()) / nose);
}

// --- together

volatile std::sig_atomic_t ended = 0;

int main(int argc, char **argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: formation host port-of-leader port-of-left port-of-right\n");
    return 2;
  }
  std::signal(SIGINT, [](int) { ended = 1; });
  std::signal(SIGTERM, [](int) { ended = 1; });

  // They start roughly in formation. The sonars will find out how roughly.
  Member leader("leader", {}), left("left", leftPlace), right("right", rightPlace);
  std::array<Member *, 3> team{&leader, &left, &right};
  for (size_t i = 0; i < team.size(); i++) team[i]->connect(argv[1], std::atoi(argv[2 + i]));

  Patrol patrol;
  auto due = std::chrono::steady_clock::now();
  for (int round = 0; !ended; round++) {
    for (Member *m : team) m->ask(); // all at once: their data are of about the same time
    for (Member *m : team) m->read();
    for (Member *m : team)
      for (Member *other : team)
        if (m != other) m->hear(*other);

    double leftError = error(leader, left, leftPlace).length(), rightError = error(leader, right, rightPlace).length();
    patrol.drive(leader, limit(1.2 - std::max(leftError, rightError) / patience, 0, 1));
    keepPlace(leader, left, leftPlace);
    keepPlace(leader, right, rightPlace);

    if (round % 10 == 0) {
      std::printf("errors: left %3.0f mm, right %3.0f mm\n", leftError, rightError);
      std::fflush(stdout);
    }
    due = std::max(due + period, std::chrono::steady_clock::now()); // a late round is not made up for
    std::this_thread::sleep_until(due);
  }
  for (Member *m : team) m->drive(0, 0);
}
