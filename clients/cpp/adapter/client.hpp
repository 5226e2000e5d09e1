// SPDX-License-Identifier: Apache-2.0
//
// The adapter of player::Client: devices are objects, and data come by the calls that have units.
#ifndef CLIENT_HPP
#define CLIENT_HPP

#include "requests.hpp"
#include "../player.hpp"

#include <cmath>
#include <cstdio>
#include <map>
#include <memory>

namespace client {

// Returns a quantity in a unit of the protocol.
inline long long raw(std::optional<double> v, double unit, long long unknown = PLAYER_UNKNOWN) {
  return v ? std::llround(*v / unit) : unknown;
}

inline void print(std::ostream &out, const player::Position &d) {
  out << "\"time\":" << d.time().count() << ",\"x\":" << d.x_mm() << ",\"y\":" << d.y_mm() << ",\"heading\":" << d.heading_deg()
      << ",\"speed\":" << d.speed_mm_s() << ",\"turnrate\":" << d.turn_rate_deg_s() << ",\"compass\":" << d.compass_deg()
      << ",\"stall\":" << int(d.data().stall);
  if (d.stalled() != (d.data().stall != 0)) out << ",\"stall\":\"stalled\"";
}
inline void print(std::ostream &out, const player::Sonar &d) { list(out, "ranges", d.ranges_mm().begin(), d.ranges_mm().end()); }
inline void print(std::ostream &out, const player::Laser &d) { list(out, "ranges", d.ranges_mm().begin(), d.ranges_mm().end()); }
inline void print(std::ostream &out, const player::Ranger &d) {
  out << "\"unit_mm\":" << d.data().unit << ",\"ranges\":[";
  for (std::size_t i = 0; i < d.size(); i++) {
    auto mm = d.range_mm(i);
    out << (i ? "," : "") << (mm ? std::llround(*mm / d.data().unit) : d.data().ranges[i]);
  }
  out << ']';
}
inline void print(std::ostream &out, const player::Misc &d) {
  int front = 0, rear = 0;
  for (int i = 0; i < 5; i++) {
    front |= d.front_bumper(i) << i;
    rear |= d.rear_bumper(i) << i;
  }
  long long battery = raw(d.battery_v(), 0.1);
  out << "\"front\":" << front << ",\"rear\":" << rear << ",\"battery\":" << battery << ",\"voltage\":" << battery;
}
inline void print(std::ostream &out, const player::Gripper &d) {
  out << "\"state\":" << (d.paddles_open() | d.paddles_closed() << 1 | d.paddles_moving() << 2 | d.paddles_failed() << 3
      | d.lift_up() << 4 | d.lift_down() << 5 | d.lift_moving() << 6 | d.lift_failed() << 7);
  const int beams = PLAYER_OUTER_BEAM | PLAYER_INNER_BEAM;
  out << ",\"beams\":" << ((d.data().beams & ~beams) | (d.outer_beam() ? PLAYER_OUTER_BEAM : 0) | (d.inner_beam() ? PLAYER_INNER_BEAM : 0));
}
inline void print(std::ostream &out, const player::Ptz &d) {
  out << "\"pan\":" << d.pan_deg() << ",\"tilt\":" << d.tilt_deg() << ",\"zoom\":" << d.zoom();
}
inline void print(std::ostream &out, const player::Vision &d) {
  out << "\"channels\":[";
  for (std::size_t c = 0; c < PLAYER_CHANNELS; c++) {
    out << (c ? ",[" : "[");
    const char *comma = "";
    for (const player_blob &b : d.blobs(c)) {
      out << comma << "{\"area\":" << b.area << ",\"x\":" << int(b.x) << ",\"y\":" << int(b.y) << ",\"left\":" << int(b.left)
          << ",\"right\":" << int(b.right) << ",\"top\":" << int(b.top) << ",\"bottom\":" << int(b.bottom) << '}';
      comma = ",";
    }
    out << ']';
  }
  out << ']';
}
inline void print(std::ostream &out, const player::Joystick &d) {
  std::uint32_t buttons = 0;
  for (int i = 0; i < 32; i++) buttons |= std::uint32_t{d.pressed(i)} << i;
  out << "\"buttons\":" << buttons << ",\"axes\":[";
  for (std::size_t i = 0; i < PLAYER_AXES; i++) out << (i ? "," : "") << raw(d.axis(i), 1 / 32767.0);
  out << ']';
}
inline void print(std::ostream &out, const player::Imu &d) {
  out << "\"roll_mdeg\":" << raw(d.roll_deg(), 1e-3) << ",\"pitch_mdeg\":" << raw(d.pitch_deg(), 1e-3) << ",\"yaw_mdeg\":" << raw(d.yaw_deg(), 1e-3)
      << ",\"roll_rate_mdeg_per_s\":" << raw(d.roll_rate_deg_s(), 1e-3) << ",\"pitch_rate_mdeg_per_s\":" << raw(d.pitch_rate_deg_s(), 1e-3)
      << ",\"yaw_rate_mdeg_per_s\":" << raw(d.yaw_rate_deg_s(), 1e-3) << ",\"x_mm_per_s2\":" << raw(d.x_m_s2(), 1e-3)
      << ",\"y_mm_per_s2\":" << raw(d.y_m_s2(), 1e-3) << ",\"z_mm_per_s2\":" << raw(d.z_m_s2(), 1e-3);
}
inline void print(std::ostream &out, const player::Gps &d) {
  auto amount = [](std::optional<double> v) { return raw(v, 1e-3, PLAYER_UNKNOWN_AMOUNT); };
  auto time = d.time();
  out << "\"fix\":" << int(d.fix()) << ",\"satellites\":" << d.satellites().value_or(255) << ",\"latitude_e7\":" << raw(d.latitude_deg(), 1e-7)
      << ",\"longitude_e7\":" << raw(d.longitude_deg(), 1e-7) << ",\"height_mm\":" << raw(d.height_m(), 1e-3)
      << ",\"horizontal_mm\":" << amount(d.horizontal_error_m()) << ",\"vertical_mm\":" << amount(d.vertical_error_m()) << ",\"time_ms\":"
      << (time ? std::chrono::duration_cast<std::chrono::milliseconds>(time->time_since_epoch()).count() : 0)
      << ",\"speed_mm_per_s\":" << amount(d.speed_m_s()) << ",\"course_mdeg\":" << amount(d.course_deg());
}
inline void print(std::ostream &out, const player::Io &d) { list(out, "values", d.values().begin(), d.values().end()); }
inline void print(std::ostream &out, const player::Servo &d) {
  out << "\"joints\":[";
  const char *comma = "";
  for (const player_joint &j : d.joints()) {
    out << comma << "{\"position\":" << j.position << ",\"goal\":" << j.goal << ",\"state\":" << int(j.state) << '}';
    comma = ",";
  }
  out << ']';
}
inline void print(std::ostream &out, const player::Goto &d) {
  const player_goto &g = d.data();
  out << "\"state\":" << int(g.state) << ",\"reason\":" << int(g.reason) << ",\"tag\":" << g.tag << ",\"x_mm\":" << g.x << ",\"y_mm\":" << g.y
      << ",\"heading_deg\":" << g.heading << ",\"distance_mm\":" << raw(d.distance_mm(), 1, PLAYER_UNKNOWN_AMOUNT);
}

// Devices without commands.
template <typename D> void command(D &, const int *) { throw player::UsageError(PLAYER_USAGE, "usage"); }
inline void command(player::Position &d, const int *v) { d.drive(v[0], v[1]); }
inline void command(player::Ptz &d, const int *v) { d.look(v[0], v[1], v[2]); }
inline void command(player::Gripper &d, const int *v) { d.command(static_cast<player::Grip>(v[0]), static_cast<std::uint8_t>(v[1])); }
inline void command(player::Io &d, const int *v) { d.set(static_cast<std::uint8_t>(v[0]), v[1]); }
inline void command(player::Servo &d, const int *v) {
  if (v[0] == PLAYER_ALL_JOINTS && v[1] == PLAYER_UNKNOWN) return d.stop();
  d.move(static_cast<std::uint8_t>(v[0]), v[1], static_cast<std::uint32_t>(v[2]));
}

// A device that is open.
struct Opened {
  virtual ~Opened() = default;
  virtual bool Has() const = 0;
  virtual bool New() const = 0;
  virtual std::optional<std::chrono::microseconds> Age() const = 0;
  virtual char Byte() const = 0;
  virtual void Print(std::ostream &out) const = 0;
  virtual void Command(const int *values) = 0;
};

template <typename D> struct OpenedAs : Opened {
  D device;
  explicit OpenedAs(D d) : device(std::move(d)) {}
  bool Has() const override { return device.has_data(); }
  bool New() const override { return device.is_new(); }
  std::optional<std::chrono::microseconds> Age() const override { return device.age(); }
  char Byte() const override { return device.byte(); }
  void Print(std::ostream &out) const override { print(out, device); }
  void Command(const int *values) override { command(device, values); }
};

struct Adapter {
  player::Client robot = player::Client::unconnected();
  std::map<std::string, std::unique_ptr<Opened>> opened;  // by name; a device with a letter by that
  std::string error;

  int carry_out(const std::string &line, std::ostream &out) {
    try {
      carry_out(text(line, "op"), line, out);
      return PLAYER_OK;
    } catch (const player::Error &e) {
      error = e.what();
      return e.code();
    }
  }

private:
  [[noreturn]] static void usage() { throw player::UsageError(PLAYER_USAGE, "usage"); }

  template <typename D> std::unique_ptr<Opened> as(int index, player::Access access) {
    return std::make_unique<OpenedAs<D>>(robot.open<D>(index, access));
  }

  std::unique_ptr<Opened> open(const std::string &interface, int index, player::Access access) {
    if (interface == "position") return as<player::Position>(index, access);
    if (interface == "sonar") return as<player::Sonar>(index, access);
    if (interface == "laser") return as<player::Laser>(index, access);
    if (interface == "ranger") return as<player::Ranger>(index, access);
    if (interface == "misc") return as<player::Misc>(index, access);
    if (interface == "gripper") return as<player::Gripper>(index, access);
    if (interface == "ptz") return as<player::Ptz>(index, access);
    if (interface == "vision") return as<player::Vision>(index, access);
    if (interface == "joystick") return as<player::Joystick>(index, access);
    if (interface == "imu") return as<player::Imu>(index, access);
    if (interface == "gps") return as<player::Gps>(index, access);
    if (interface == "io") return as<player::Io>(index, access);
    if (interface == "servo") return as<player::Servo>(index, access);
    if (interface == "goto") return as<player::Goto>(index, access);
    usage();
  }

  void open(const std::string &line, std::ostream &out) {
    std::string name = text(line, "name");
    auto colon = name.find(':');
    std::string number = name.substr(colon + 1);
    if (number.find_first_not_of("0123456789") != std::string::npos) usage();  // an index is a number here
    try {
      auto device = open(name.substr(0, colon), std::stoi(number), static_cast<player::Access>(text(line, "access")[0]));
      char byte = device->Byte();
      opened[static_cast<unsigned char>(byte) < 128 ? std::string(1, byte) : name] = std::move(device);
    } catch (const player::RefusedError &) {
      for (int byte = 1; byte < 256; byte++) {
        std::string why = player_why(robot.handle(), static_cast<char>(byte));
        if (!why.empty() && player_device_name(robot.handle(), static_cast<char>(byte)) == name) out << "\"why\":{" << quote(name) << ':' << quote(why) << "},";
      }
      throw;
    }
  }

  player::Position &wheels() {
    auto *found = dynamic_cast<OpenedAs<player::Position> *>(&at("p"));
    if (!found) usage();
    return found->device;
  }

  Opened &at(const std::string &name) {
    auto found = opened.find(name);
    if (found == opened.end()) usage();
    return *found->second;
  }

  void get(const std::string &name, std::ostream &out) {
    auto found = opened.find(name);
    if (found == opened.end()) { // the adapter of CRobot also has data of such devices: none
      if (name == "y") out << "\"age_us\":null,\"data\":{\"time\":" << robot.server_time().count() << "},";
      else out << "\"age_us\":null,\"data\":null,";
      return;
    }
    const Opened &device = *found->second;
    out << "\"age_us\":";
    if (auto age = device.Age()) out << age->count();
    else out << "null";
    out << ",\"data\":";
    if (!device.Has()) {
      out << "null,";
      return;
    }
    out << '{';
    device.Print(out);
    out << "},";
  }

  // A goal of the suite has a tag, which player::Goto gives its goals itself.
  void goal(const Opened &device, const int *v) {
    auto u16 = [v](int n) { return static_cast<std::uint16_t>(v[n]); };
    const player_goal g = {v[0], v[1], u16(2), u16(3), u16(4), u16(5), u16(6), u16(7)};
    player_result r = v[0] == PLAYER_UNKNOWN ? player_stop_goal(robot.handle(), device.Byte()) : player_set_goal(robot.handle(), device.Byte(), &g);
    if (r != PLAYER_OK) player::detail::raise(r, player_error(robot.handle()));
  }

  void config(const std::string &line) {
    std::string name = text(line, "name");
    int value = number(line, "value");
    bool on = value != 0;
    if (name == "frequency") return robot.frequency_hz(value);
    if (name == "lifetime") return robot.command_lifetime(std::chrono::milliseconds(value));
    if (name == "mode") return robot.on_request(on);
    if (name == "data") return robot.request_data();
    if (name == "fresh") return robot.only_new(on);
    if (name == "name") return robot.name(text(line, "text"));
    if (name == "stop") return robot.emergency_stop(on);
    if (name == "motors") return wheels().motors(on);
    if (name == "velocity") return wheels().separate_control(on);
    if (name == "reset_odometry") return wheels().reset_odometry();
    usage();
  }

  std::string label(char device) const {
    return device >= 'a' && device <= 'z' ? std::string(1, device) : player_device_name(robot.handle(), device);
  }

  template <typename Items, typename Row> void rows(std::ostream &out, const char *name, const Items &items, Row row) {
    out.precision(17);
    out << '"' << name << "\":[";
    const char *comma = "";
    for (const auto &item : items) {
      out << comma << '[';
      row(item);
      out << ']';
      comma = ",";
    }
    out << "],";
  }

  void carry_out(const std::string &op, const std::string &line, std::ostream &out) {
    robot.timeout(std::chrono::milliseconds(number(line, "timeout_ms")));
    if (op == "connect") {
      if (!useTls(robot.handle(), line)) usage();
      opened.clear();
      robot.connect(text(line, "host"), number(line, "port"));
    } else if (op == "request" && text(line, "pairs") == "yr") {
      robot.ages();
    } else if (op == "request" && text(line, "pairs").empty()) {
      robot.devices();
    } else if (op == "reconnect") {
      robot.reconnect();
    } else if (op == "open") {
      open(line, out);
    } else if (op == "read") {
      robot.read();
      out << "\"new\":\"";
      for (const auto &[name, device] : opened) {
        char escape[8];
        std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(device->Byte())));
        if (device->New()) out << escape;
      }
      out << "\",";
    } else if (op == "get") {
      get(text(line, "device"), out);
    } else if (op == "command") {
      int v[8] = {};
      json_ints(line.c_str(), "values", v, 8);
      std::string name = text(line, "device");
      if (name.rfind("goto", 0) == 0) goal(at(name), v);
      else at(name).Command(v);
    } else if (op == "config") {
      config(line);
    } else if (op == "devices") {
      rows(out, "devices", robot.devices(), [&](const player_entry &e) { out << quote(e.name) << ',' << int(static_cast<unsigned char>(e.device)); });
    } else if (op == "geometry") {
      rows(out, "parts", robot.geometry(), [&](const player_part &p) {
        out << quote(label(p.device)) << ',' << p.number << ',' << p.x << ',' << p.y << ',' << p.heading << ',' << p.length << ',' << p.width << ','
            << p.range << ',' << p.view;
      });
    } else if (op == "rays") {
      rows(out, "rays", robot.rays(), [&](const player_ray &r) {
        out << quote(label(r.device)) << ',' << r.first << ',' << r.count << ',' << r.x << ',' << r.y << ',' << r.heading << ',' << r.step << ','
            << r.near_mm << ',' << r.far_mm << ',' << r.cone;
      });
    } else if (op == "channels") {
      rows(out, "channels", robot.channels(), [&](const player_channel &c) {
        out << quote(label(c.device)) << ',' << c.number << ',' << quote(c.role == 'i' ? "input" : c.role == 'o' ? "output" : "joint") << ','
            << quote(c.unit) << ',' << c.min << ',' << c.max << ',' << quote(c.name);
      });
    } else if (op == "colors") {
      rows(out, "colors", robot.channel_colors(), [&](const player_channel_color &c) { out << quote(label(c.device)) << ',' << c.channel << ',' << c.color; });
    } else if (op == "close") {
      robot.close();
    } else {
      usage();
    }
  }
};

}  // namespace client

#endif
