// SPDX-License-Identifier: Apache-2.0
/// @file player.hpp
/// A client of the Player protocol (docs/PROTOCOL.md) in C++17, on the C client: the compiler also has to find player.h,
/// and the linker player.c or libplayer (CMake: the target player::cpp). All names are in namespace player.
///
///     player::Client robot("localhost");   // connects; an error is an exception
///     auto sonar = robot.sonar();
///     auto wheels = robot.position();
///     robot.command_lifetime(500ms);       // a program that hangs does not leave the robot driving
///     for (;;) {
///       robot.read();                      // a round of data, ten times a second
///       wheels.drive(sonar.ranges_mm()[3] < 500 ? 0 : 100, 20);  // mm/s, deg/s
///     }
///
/// Names have the units: mm, deg, s. x is forward, y to the left, and angles increase counterclockwise. A value that
/// the hardware does not measure is an empty std::optional. When a Client ends in any way, the server stops its
/// devices.
///
/// A Client can be moved, not copied. Its devices stay valid when it is moved, and keep their newest data when it has
/// ended. One thread uses a Client and its devices.
#ifndef PLAYER_HPP
#define PLAYER_HPP

#include "crobot.hpp"  // the class of the manual, for programs of version 1.0 that include this file
#include "player.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace player {

// ---- Errors ----

/// The error of a call that does not succeed. what() is for people.
class Error : public std::runtime_error {
  player_result result;

public:
  Error(player_result r, const std::string &text) : std::runtime_error(text.empty() ? player_strerror(r) : text), result(r) {}
  /// PLAYER_REFUSED ... PLAYER_USAGE
  player_result code() const noexcept { return result; }
};

/// The robot has no such device, or the server does not grant the access.
class RefusedError : public Error {
  using Error::Error;
};
/// The time is over. The connection can be used, and the next call goes on.
class TimeoutError : public Error {
  using Error::Error;
};
/// There is no connection, or it is lost, and the server has stopped this client's devices: see Client::reconnect.
class ClosedError : public Error {
  using Error::Error;
};
/// A message made no sense. The next call goes on behind it.
class ProtocolError : public Error {
  using Error::Error;
};
/// The call makes no sense now. Nothing was sent.
class UsageError : public Error {
  using Error::Error;
};

// ---- Values ----

/// Elements that are another object's, one behind the other. A std::span of C++20 can be made of it.
template <typename T> class Span {
  T *first = nullptr;
  std::size_t count = 0;

public:
  using value_type = std::remove_cv_t<T>;
  using iterator = T *;

  Span() = default;
  Span(T *data, std::size_t size) : first(data), count(size) {}
  T *data() const { return first; }
  std::size_t size() const { return count; }
  bool empty() const { return count == 0; }
  T *begin() const { return first; }
  T *end() const { return first + count; }
  T &operator[](std::size_t i) const { return first[i]; }
  /// Throws std::out_of_range.
  T &at(std::size_t i) const {
    if (i >= count) throw std::out_of_range("player::Span::at");
    return first[i];
  }
};

enum class Access : char { read = 'r', write = 'w', all = 'a' };

/// Forms of rounds: compact ones are smaller, without loss.
enum class Form { plain = PLAYER_PLAIN, compact = PLAYER_COMPACT, compact_when_full = PLAYER_COMPACT_WHEN_FULL };

/// The command of a gripper (PROTOCOL 5.1).
enum class Grip : std::uint8_t {
  open = PLAYER_GRIP_OPEN,
  close = PLAYER_GRIP_CLOSE,
  stop = PLAYER_GRIP_STOP,
  lift_up = PLAYER_LIFT_RAISE,
  lift_down = PLAYER_LIFT_LOWER,
  lift_stop = PLAYER_LIFT_STOP,
  store = PLAYER_GRIP_STORE,
  deploy = PLAYER_GRIP_DEPLOY,
  halt = PLAYER_GRIP_HALT,
  press = PLAYER_GRIP_PRESS,   ///< with an argument, in steps of 20 ms
  lift_carry = PLAYER_LIFT_CARRY  ///< with an argument, in steps of 20 ms
};

/// How good the place of a satellite receiver is.
enum class Fix : std::uint8_t {
  none = PLAYER_NO_FIX,
  plain = PLAYER_PLAIN_FIX,
  dgps = PLAYER_DGPS_FIX,
  rtk_float = PLAYER_FLOAT_FIX,
  rtk = PLAYER_RTK_FIX,
  dead_reckoning = PLAYER_DEAD_RECKON,
  unknown = PLAYER_UNKNOWN_FIX
};

enum class GotoState : std::uint8_t {
  idle = PLAYER_GOTO_IDLE,
  driving = PLAYER_GOTO_DRIVING,
  arrived = PLAYER_GOTO_ARRIVED,
  blocked = PLAYER_GOTO_BLOCKED,  ///< it sees no way, and tries on
  stopped = PLAYER_GOTO_STOPPED   ///< it has given the goal up: Goto::reason
};

// ---- The connection that a client and its devices share ----

namespace detail {

inline int ms_of(std::chrono::milliseconds t) {
  return t.count() < 0 ? PLAYER_FOREVER : static_cast<int>(std::min<std::chrono::milliseconds::rep>(t.count(), INT32_MAX));
}

inline std::optional<double> scaled(std::int32_t v, double unit) {
  return v == PLAYER_UNKNOWN ? std::nullopt : std::optional<double>(v * unit);
}
inline std::optional<double> scaled(std::uint32_t v, double unit) {
  return v == PLAYER_UNKNOWN_AMOUNT ? std::nullopt : std::optional<double>(v * unit);
}

[[noreturn]] inline void raise(player_result r, const std::string &text) {
  switch (r) {
  case PLAYER_REFUSED: throw RefusedError(r, text);
  case PLAYER_TIMEOUT: throw TimeoutError(r, text);
  case PLAYER_CLOSED: throw ClosedError(r, text);
  case PLAYER_PROTOCOL: throw ProtocolError(r, text);
  default: throw UsageError(r, text);
  }
}

struct Destroy {
  void operator()(player_client *c) const noexcept { player_destroy(c); }
};

struct Connection {
  std::unique_ptr<player_client, Destroy> client{player_create()};
  std::chrono::milliseconds timeout;
  std::map<char, std::shared_ptr<void>> data;  // of the devices that are open, by their bytes

  explicit Connection(std::chrono::milliseconds limit) : timeout(limit) {
    if (!client) throw std::bad_alloc();
  }
  player_client *get() const { return client.get(); }
  int limit() const { return ms_of(timeout); }
  void check(player_result r) const {
    if (r != PLAYER_OK) raise(r, player_error(get()));
  }
};

inline player_result bind(player_client *c, char d, player_position *to) { return player_bind_position(c, d, to); }
inline player_result bind(player_client *c, char d, player_laser *to) { return player_bind_laser(c, d, to); }
inline player_result bind(player_client *c, char d, player_sonar *to) { return player_bind_sonar(c, d, to); }
inline player_result bind(player_client *c, char d, player_ranger *to) { return player_bind_ranger(c, d, to); }
inline player_result bind(player_client *c, char d, player_imu *to) { return player_bind_imu(c, d, to); }
inline player_result bind(player_client *c, char d, player_gps *to) { return player_bind_gps(c, d, to); }
inline player_result bind(player_client *c, char d, player_io *to) { return player_bind_io(c, d, to); }
inline player_result bind(player_client *c, char d, player_servo *to) { return player_bind_servo(c, d, to); }
inline player_result bind(player_client *c, char d, player_goto *to) { return player_bind_goto(c, d, to); }
inline player_result bind(player_client *c, char d, player_misc *to) { return player_bind_misc(c, d, to); }
inline player_result bind(player_client *c, char d, player_gripper *to) { return player_bind_gripper(c, d, to); }
inline player_result bind(player_client *c, char d, player_ptz *to) { return player_bind_ptz(c, d, to); }
inline player_result bind(player_client *c, char d, player_vision *to) { return player_bind_vision(c, d, to); }
inline player_result bind(player_client *c, char d, player_joystick *to) { return player_bind_joystick(c, d, to); }

}  // namespace detail

// ---- Devices ----

/// A device that is open. Client::connect makes it useless; Client::reconnect does not.
template <typename T> class Device {
protected:
  std::shared_ptr<detail::Connection> connection;
  char number;
  std::shared_ptr<T> newest;

public:
  using Data = T;

  Device(std::shared_ptr<detail::Connection> c, char byte, std::shared_ptr<T> data)
      : connection(std::move(c)), number(byte), newest(std::move(data)) {}

  /// Its newest data, as player.h has them; zeros before has_data.
  const T &data() const { return *newest; }
  /// Reports whether it has sent data.
  bool has_data() const { return player_has(connection->get(), number); }
  /// Reports whether the latest round has data of it.
  bool is_new() const { return player_new(connection->get(), number); }
  /// The age of its data when the server made the latest round; none without Client::ages, or without data.
  std::optional<std::chrono::microseconds> age() const {
    std::uint64_t us = 0;
    if (!player_age_us(connection->get(), number, &us)) return std::nullopt;
    return std::chrono::microseconds(us);
  }
  /// Its byte in the protocol (PROTOCOL 2.11).
  char byte() const { return number; }
};

/// The wheels. Speeds stay until the next command of any client, until this client ends, or until the end of its command
/// lifetime.
class Position : public Device<player_position> {
public:
  static constexpr const char *interface = "position";
  static constexpr Access usual = Access::all;
  using Device::Device;

  int x_mm() const { return data().x; }  ///< from the pose at the odometry's origin, as y and heading
  int y_mm() const { return data().y; }
  int heading_deg() const { return data().heading; }  ///< 0 to 359
  int speed_mm_s() const { return data().speed; }
  int turn_rate_deg_s() const { return data().turnrate; }
  int compass_deg() const { return data().compass; }  ///< 0 to 359
  bool stalled() const { return data().stall != 0; }
  /// The time of the data since the server started; simulated in a world in step.
  std::chrono::milliseconds time() const { return std::chrono::milliseconds(data().time); }

  void drive(int speed_mm_s, int turn_rate_deg_s) { connection->check(player_set_speed(connection->get(), speed_mm_s, turn_rate_deg_s)); }
  void stop() { drive(0, 0); }
  /// For all clients. The robot may start at once when its motors are turned on.
  void motors(bool on) { connection->check(player_change_motor_state(connection->get(), on)); }
  /// For all clients: the robot is at 0, 0, 0 now. The wheels go on.
  void reset_odometry() { connection->check(player_reset_position(connection->get())); }
  /// For all clients: speed and turn rate are controlled separately, instead of the wheels.
  void separate_control(bool on) { connection->check(player_change_velocity_control(connection->get(), on)); }
};

/// A ring of 16 sonars.
class Sonar : public Device<player_sonar> {
public:
  static constexpr const char *interface = "sonar";
  static constexpr Access usual = Access::read;
  using Device::Device;

  /// Clockwise from the front left; 0: not fired yet.
  Span<const std::uint16_t> ranges_mm() const { return {data().ranges, PLAYER_SONARS}; }
};

/// A laser scanner of 361 readings.
class Laser : public Device<player_laser> {
public:
  static constexpr const char *interface = "laser";
  static constexpr Access usual = Access::read;
  using Device::Device;

  /// Every half degree, right to left: 180 looks ahead. Above 8182: no distance.
  Span<const std::uint16_t> ranges_mm() const { return {data().ranges, PLAYER_LASERS}; }
};

/// Any range sensor. Client::rays says where each reading looks.
class Ranger : public Device<player_ranger> {
public:
  static constexpr const char *interface = "ranger";
  static constexpr Access usual = Access::read;
  using Device::Device;

  std::size_t size() const { return data().count; }
  /// None if nothing is in range, or there is no such reading.
  std::optional<double> range_mm(std::size_t i) const {
    if (i >= size() || data().ranges[i] >= PLAYER_NOTHING_IN_RANGE) return std::nullopt;
    return 1.0 * data().ranges[i] * data().unit;
  }
};

/// Bumpers and battery.
class Misc : public Device<player_misc> {
public:
  static constexpr const char *interface = "misc";
  static constexpr Access usual = Access::read;
  using Device::Device;

  bool front_bumper(int n) const { return (data().front >> n & 1) != 0; }  ///< 0 to 4
  bool rear_bumper(int n) const { return (data().rear >> n & 1) != 0; }    ///< 0 to 4
  bool bumped() const { return (data().front | data().rear) != 0; }
  double battery_v() const { return data().battery / 10.0; }
};

class Gripper : public Device<player_gripper> {
public:
  static constexpr const char *interface = "gripper";
  static constexpr Access usual = Access::all;
  using Device::Device;

  bool paddles_open() const { return state(PLAYER_PADDLES_OPEN); }
  bool paddles_closed() const { return state(PLAYER_PADDLES_CLOSED); }
  bool paddles_moving() const { return state(PLAYER_PADDLES_MOVING); }
  bool paddles_failed() const { return state(PLAYER_PADDLES_ERROR); }
  bool lift_up() const { return state(PLAYER_LIFT_UP); }
  bool lift_down() const { return state(PLAYER_LIFT_DOWN); }
  bool lift_moving() const { return state(PLAYER_LIFT_MOVING); }
  bool lift_failed() const { return state(PLAYER_LIFT_ERROR); }
  bool outer_beam() const { return (data().beams & PLAYER_OUTER_BEAM) != 0; }  ///< it is interrupted
  bool inner_beam() const { return (data().beams & PLAYER_INNER_BEAM) != 0; }  ///< it is interrupted

  /// A gripper goes on without this client.
  void command(Grip what, std::uint8_t argument = 0) {
    const std::uint8_t b[] = {static_cast<std::uint8_t>(what), argument};
    connection->check(player_command(connection->get(), number, b, sizeof b));
  }
  void open() { command(Grip::open); }
  void close() { command(Grip::close); }

private:
  bool state(int bit) const { return (data().state & bit) != 0; }
};

/// The head of a camera.
class Ptz : public Device<player_ptz> {
public:
  static constexpr const char *interface = "ptz";
  static constexpr Access usual = Access::all;
  using Device::Device;

  int pan_deg() const { return data().pan; }
  int tilt_deg() const { return data().tilt; }
  int zoom() const { return data().zoom; }  ///< 0 wide to 1023 telephoto
  /// It stays so without this client.
  void look(int pan_deg, int tilt_deg, int zoom) {
    std::uint8_t b[6];
    const int values[] = {pan_deg, tilt_deg, zoom};
    for (int i = 0; i < 3; i++) {
      auto v = static_cast<std::uint16_t>(std::clamp<int>(values[i], INT16_MIN, INT16_MAX));
      b[2 * i] = static_cast<std::uint8_t>(v >> 8);
      b[2 * i + 1] = static_cast<std::uint8_t>(v & 255);
    }
    connection->check(player_command(connection->get(), number, b, sizeof b));
  }
};

/// Things of certain colours in the picture of a camera. Client::channel_colors has the colours.
class Vision : public Device<player_vision> {
public:
  static constexpr const char *interface = "vision";
  static constexpr Access usual = Access::read;
  using Device::Device;

  /// Of a channel, 0 to 31, the largest first; pixels.
  Span<const player_blob> blobs(std::size_t channel) const {
    if (channel >= PLAYER_CHANNELS) return {};
    return {data().blobs[channel], data().count[channel]};
  }
};

class Joystick : public Device<player_joystick> {
public:
  static constexpr const char *interface = "joystick";
  static constexpr Access usual = Access::read;
  using Device::Device;

  bool pressed(int button) const { return button >= 0 && button < 32 && (data().buttons >> button & 1) != 0; }
  /// -1 to 1, 0 at rest
  double axis(std::size_t n) const { return n < PLAYER_AXES ? data().axes[n] / 32767.0 : 0; }
};

/// An inertial measurement unit: left side up, front down, counterclockwise; ahead, to the left, up.
class Imu : public Device<player_imu> {
public:
  static constexpr const char *interface = "imu";
  static constexpr Access usual = Access::read;
  using Device::Device;

  std::optional<double> roll_deg() const { return detail::scaled(data().roll, 1e-3); }
  std::optional<double> pitch_deg() const { return detail::scaled(data().pitch, 1e-3); }
  std::optional<double> yaw_deg() const { return detail::scaled(data().yaw, 1e-3); }
  std::optional<double> roll_rate_deg_s() const { return detail::scaled(data().roll_rate, 1e-3); }
  std::optional<double> pitch_rate_deg_s() const { return detail::scaled(data().pitch_rate, 1e-3); }
  std::optional<double> yaw_rate_deg_s() const { return detail::scaled(data().yaw_rate, 1e-3); }
  std::optional<double> x_m_s2() const { return detail::scaled(data().x, 1e-3); }
  std::optional<double> y_m_s2() const { return detail::scaled(data().y, 1e-3); }
  std::optional<double> z_m_s2() const { return detail::scaled(data().z, 1e-3); }  ///< 9.8 at rest
};

/// A satellite receiver, WGS 84.
class Gps : public Device<player_gps> {
public:
  static constexpr const char *interface = "gps";
  static constexpr Access usual = Access::read;
  using Device::Device;

  Fix fix() const { return static_cast<Fix>(data().fix); }
  std::optional<int> satellites() const { return data().satellites == 255 ? std::nullopt : std::optional<int>(data().satellites); }
  std::optional<double> latitude_deg() const { return detail::scaled(data().latitude, 1e-7); }
  std::optional<double> longitude_deg() const { return detail::scaled(data().longitude, 1e-7); }
  std::optional<double> height_m() const { return detail::scaled(data().height, 1e-3); }  ///< above mean sea level
  std::optional<double> horizontal_error_m() const { return detail::scaled(data().horizontal, 1e-3); }  ///< one deviation
  std::optional<double> vertical_error_m() const { return detail::scaled(data().vertical, 1e-3); }      ///< one deviation
  std::optional<double> speed_m_s() const { return detail::scaled(data().speed, 1e-3); }
  std::optional<double> course_deg() const { return detail::scaled(data().course, 1e-3); }  ///< clockwise from north
  std::optional<std::chrono::system_clock::time_point> time() const {
    if (data().time == 0) return std::nullopt;
    return std::chrono::system_clock::time_point(std::chrono::milliseconds(data().time));
  }
};

/// Inputs and outputs. Client::channels has their names, units and limits.
class Io : public Device<player_io> {
public:
  static constexpr const char *interface = "io";
  static constexpr Access usual = Access::all;
  using Device::Device;

  /// In the units of the channels, digital ones 0 or 1; PLAYER_UNKNOWN: not known.
  Span<const std::int32_t> values() const { return {data().values, static_cast<std::size_t>(data().count)}; }
  /// An output keeps its value without this client.
  void set(std::uint8_t channel, std::int32_t value) { connection->check(player_set_output(connection->get(), number, channel, value)); }
};

/// Servos, or the joints of an arm. Client::channels has their names, units and limits. They stop where the wheels stop:
/// when this client ends, or at the end of its command lifetime.
class Servo : public Device<player_servo> {
public:
  static constexpr const char *interface = "servo";
  static constexpr Access usual = Access::all;
  using Device::Device;

  Span<const player_joint> joints() const { return {data().joints, static_cast<std::size_t>(data().count)}; }
  /// To a goal in the joint's unit, at a speed in that unit each second; 0: as the driver moves it.
  void move(std::uint8_t joint, std::int32_t goal, std::uint32_t speed = 0) {
    connection->check(player_move_joint(connection->get(), number, joint, goal, speed));
  }
  void stop() { connection->check(player_stop_joints(connection->get(), number)); }
};

/// Limits of a goal; 0: the goto device's own.
struct GoalLimits {
  std::uint16_t speed_mm_s = 0, turn_rate_deg_s = 0;
  std::uint16_t tolerance_mm = 0;  ///< how far from the goal the robot has arrived
  std::uint16_t radius_mm = 0;     ///< half of the narrowest gap that it is to pass
};

/// A device that drives the robot to a point around obstacles (docs/GOTO.md); the server has one with -goto.
class Goto : public Device<player_goto> {
  player_goal goal{};
  std::uint16_t tag = static_cast<std::uint16_t>(std::chrono::steady_clock::now().time_since_epoch().count());

public:
  static constexpr const char *interface = "goto";
  static constexpr Access usual = Access::all;
  using Device::Device;

  /// Drives to a point in the frame of the odometry, and turns to a heading there. Any command to the wheels ends it, and
  /// so does the end of this client. With a command lifetime, call keep within it.
  void to(std::int32_t x_mm, std::int32_t y_mm, std::optional<int> heading_deg = std::nullopt, const GoalLimits &limits = {}) {
    auto heading = heading_deg ? static_cast<std::uint16_t>((*heading_deg % 360 + 360) % 360) : std::uint16_t{PLAYER_ANY_HEADING};
    goal = {x_mm, y_mm, heading, limits.speed_mm_s, limits.turn_rate_deg_s, limits.tolerance_mm, limits.radius_mm, ++tag};
    keep();
  }
  /// Sends the goal again, for its lifetime's sake. A goal that has ended stays so.
  void keep() { connection->check(player_set_goal(connection->get(), number, &goal)); }
  /// Gives the goal up, and stops the wheels.
  void stop() { connection->check(player_stop_goal(connection->get(), number)); }

  /// Of the goal of to; GotoState::idle before the data is of this goal.
  GotoState state() const {
    bool its = has_data() && data().tag == goal.tag && data().x == goal.x && data().y == goal.y;
    return its ? static_cast<GotoState>(data().state) : GotoState::idle;
  }
  /// Reports whether the goal has ended: the robot has arrived, or has given it up.
  bool ended() const { return state() == GotoState::arrived || state() == GotoState::stopped; }
  /// Why it has given the goal up.
  std::string reason() const { return player_goto_reason(data().reason); }
  std::optional<double> distance_mm() const { return detail::scaled(data().distance, 1); }  ///< in a straight line
};

// ---- The client ----

class Client {
  std::shared_ptr<detail::Connection> connection;

public:
  /// For each call that waits. A negative limit waits for ever.
  static constexpr std::chrono::milliseconds default_timeout = std::chrono::seconds(30);

  /// Connects.
  explicit Client(const std::string &host = "localhost", int port = PLAYER_PORT, std::chrono::milliseconds timeout = default_timeout)
      : Client(unconnected(timeout)) {
    connect(host, port);
  }
  /// Returns a client that connect connects, for example after player_use_tls(robot.handle(), &tls) of player_tls.h.
  static Client unconnected(std::chrono::milliseconds timeout = default_timeout) {
    return Client(std::make_shared<detail::Connection>(timeout));
  }
  Client(Client &&) noexcept = default;
  Client &operator=(Client &&other) noexcept {
    std::swap(connection, other.connection);
    return *this;
  }
  Client(const Client &) = delete;
  Client &operator=(const Client &) = delete;
  ~Client() {
    if (connection) close();  // it was not moved
  }

  /// Connects to another server, or to the same one. Devices of before have to be opened again.
  void connect(const std::string &host, int port = PLAYER_PORT) {
    check(player_connect(handle(), host.c_str(), port, limit()));
    connection->data.clear();
  }
  /// Connects again, as often as the timeout allows: with the same devices, name, lifetime, rate and form of rounds.
  /// All that this client drove was stopped when the connection was lost; no command is repeated. RefusedError: the
  /// connection is there, but not all devices. ProtocolError: the server has other devices now: connect, and open them
  /// by their names.
  void reconnect() { check(player_reconnect(handle(), limit())); }
  /// Ends the connection. The server then stops this client's devices.
  void close() { player_close(handle()); }
  bool connected() const { return player_connected(handle()); }

  std::chrono::milliseconds timeout() const { return connection->timeout; }
  void timeout(std::chrono::milliseconds t) { connection->timeout = t; }

  /// The client of player.h, for calls that this class does not have.
  player_client *handle() const { return connection->get(); }
  /// For poll or an event loop: when it is readable, call try_read until it returns false. -1: no connection.
  int descriptor() const { return player_descriptor(handle()); }

  // ---- Devices ----

  /// Opens the device of an interface that has an index: open<Laser>(1). RefusedError says which devices the robot has.
  template <typename D> D open(int index = 0, Access access = D::usual) {
    std::string name = std::string(D::interface) + ':' + std::to_string(index);
    char byte = 0;
    check(player_open(handle(), name.c_str(), static_cast<char>(access), &byte, limit()));
    std::shared_ptr<void> &data = connection->data[byte];
    if (!data) {
      auto made = std::make_shared<typename D::Data>();
      check(detail::bind(handle(), byte, made.get()));
      data = made;
    }
    return D(connection, byte, std::static_pointer_cast<typename D::Data>(data));
  }
  /// Opens all devices of an interface, in the order of their indexes.
  template <typename D> std::vector<D> all(Access access = D::usual) {
    std::vector<D> opened;
    std::vector<int> indexes;
    std::string begin = std::string(D::interface) + ':';
    for (const player_entry &e : devices())
      if (std::string(e.name).compare(0, begin.size(), begin) == 0) indexes.push_back(std::stoi(e.name + begin.size()));
    std::sort(indexes.begin(), indexes.end());
    for (int index : indexes) opened.push_back(open<D>(index, access));
    return opened;
  }

  Position position(Access access = Access::all) { return open<Position>(0, access); }
  Sonar sonar(int index = 0) { return open<Sonar>(index); }
  Laser laser(int index = 0) { return open<Laser>(index); }
  Ranger ranger(int index = 0) { return open<Ranger>(index); }
  Misc misc(int index = 0) { return open<Misc>(index); }
  Gripper gripper(int index = 0) { return open<Gripper>(index); }
  Ptz ptz(int index = 0) { return open<Ptz>(index); }
  Vision vision(int index = 0) { return open<Vision>(index); }
  Joystick joystick(int index = 0) { return open<Joystick>(index); }
  Imu imu(int index = 0) { return open<Imu>(index); }
  Gps gps(int index = 0) { return open<Gps>(index); }
  Io io(int index = 0) { return open<Io>(index); }
  Servo servo(int index = 0) { return open<Servo>(index); }
  Goto go(int index = 0) { return open<Goto>(index); }

  // ---- Questions: a server that does not know them has no answers ----

  /// Which devices the robot has.
  std::vector<player_entry> devices() { return list<player_entry>(255, player_devices); }
  /// The places and the sizes of the parts of the robot; a device that is open is known best.
  std::vector<player_part> geometry() { return list<player_part>(64, player_geometry); }  // more has no room
  /// Where readings of lasers, sonars and rangers look from and to, at most 1024; open the devices first.
  std::vector<player_ray> rays() { return list<player_ray>(1024, player_rays); }
  /// The inputs, outputs and joints, at most 1024.
  std::vector<player_channel> channels() { return list<player_channel>(1024, player_channels); }
  /// Which colours the channels of vision have, at most 1024.
  std::vector<player_channel_color> channel_colors() { return list<player_channel_color>(1024, player_channel_colors); }

  // ---- Rounds ----

  /// Waits for one round of data of all devices that are open. TimeoutError: the next call goes on with it.
  void read() { check(player_read(handle(), limit())); }
  /// Takes the input that has arrived, without waiting, and reports whether that completes a round.
  bool try_read() { return read_for(std::chrono::milliseconds(0)); }
  /// Waits so long for a round, and reports whether there is one.
  bool read_for(std::chrono::milliseconds t) {
    player_result r = player_read(handle(), detail::ms_of(t));
    if (r != PLAYER_TIMEOUT) check(r);
    return r == PLAYER_OK;
  }
  /// Has rounds say how old their data are: Device::age, server_time. only_new needs it.
  void ages() { check(player_request(handle(), "yr", limit())); }
  /// The time of the latest round since the server started; 0 without ages.
  std::chrono::microseconds server_time() const { return std::chrono::microseconds(player_server_time_us(handle())); }
  /// Selects whether a round has only new data.
  void only_new(bool on) { check(player_set_fresh(handle(), on)); }
  /// Rounds in a second, 1 to 65535; 10 by default.
  void frequency_hz(int hz) { check(player_set_frequency(handle(), hz)); }
  /// Selects whether rounds come only for each request_data.
  void on_request(bool on) { check(player_set_request_reply(handle(), on)); }
  void request_data() { check(player_request_data(handle())); }
  void form(Form f) { check(player_set_compact(handle(), static_cast<int>(f))); }

  // ---- The robot ----

  /// Wheels, joints and goals of this client stop unless their commands are repeated within the time, 1 to 60,000 ms, also
  /// when this program hangs; its zero speeds stop only what it drives itself. 0: commands are good until it ends.
  void command_lifetime(std::chrono::milliseconds t) {
    check(player_set_command_lifetime(handle(), static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(t.count(), INT32_MIN, INT32_MAX))));
  }
  /// The name by which people see this client: at most 64 bytes of printable ASCII. An empty one removes it.
  void name(const std::string &n) { check(player_set_name(handle(), n.c_str())); }
  /// Stops the robot for all, or releases the stop, which holds also when this client has ended.
  void emergency_stop(bool on) { check(player_emergency_stop(handle(), on)); }

private:
  explicit Client(std::shared_ptr<detail::Connection> c) : connection(std::move(c)) {}
  int limit() const { return connection->limit(); }
  void check(player_result r) const { connection->check(r); }
  template <typename Item>
  std::vector<Item> list(std::size_t room, player_result ask(player_client *, Item *, std::size_t, std::size_t *, int)) {
    std::vector<Item> items(room);
    std::size_t count = 0;
    check(ask(handle(), items.data(), room, &count, limit()));
    items.resize(count);
    return items;
  }
};

}  // namespace player

#endif
