// SPDX-License-Identifier: Apache-2.0
//
// The adapter of the C++ client for the conformance suite (docs/CLIENTS.md). It
// uses the same names as a program: the manual's methods and members, or, with the argument
// Client, the names of player::Client.
#include "adapter/requests.hpp"
#include "adapter/client.hpp"
#include "playerclient.h"
#include "simulation.hpp"

#include <iostream>
#include <map>
#include <sstream>

namespace {

// A device that was opened by its name.
struct Opened {
  virtual ~Opened() = default;
  virtual int Open(CRobot &robot, const char *name, char access) = 0;
  virtual char Byte() const = 0;
  virtual void Print(std::ostream &out) const = 0;
};
std::map<std::string, std::unique_ptr<Opened>> opened;

void print(std::ostream &out, const player_laser &d) { list(out, "ranges", d.ranges, d.ranges + PLAYER_LASERS); }
void print(std::ostream &out, const player_ranger &d) {
  out << "\"unit_mm\":" << d.unit << ',';
  list(out, "ranges", d.ranges, d.ranges + d.count);
}
void print(std::ostream &out, const player_imu &d) {
  out << "\"roll_mdeg\":" << d.roll << ",\"pitch_mdeg\":" << d.pitch << ",\"yaw_mdeg\":" << d.yaw
      << ",\"roll_rate_mdeg_per_s\":" << d.roll_rate << ",\"pitch_rate_mdeg_per_s\":" << d.pitch_rate
      << ",\"yaw_rate_mdeg_per_s\":" << d.yaw_rate << ",\"x_mm_per_s2\":" << d.x << ",\"y_mm_per_s2\":" << d.y
      << ",\"z_mm_per_s2\":" << d.z;
}
void print(std::ostream &out, const player_gps &d) {
  out << "\"fix\":" << int(d.fix) << ",\"satellites\":" << int(d.satellites) << ",\"latitude_e7\":" << d.latitude
      << ",\"longitude_e7\":" << d.longitude << ",\"height_mm\":" << d.height << ",\"horizontal_mm\":" << d.horizontal
      << ",\"vertical_mm\":" << d.vertical << ",\"time_ms\":" << d.time << ",\"speed_mm_per_s\":" << d.speed
      << ",\"course_mdeg\":" << d.course;
}
void print(std::ostream &out, const player_io &d) { list(out, "values", d.values, d.values + d.count); }
void print(std::ostream &out, const player_servo &d) {
  out << "\"joints\":[";
  for (int i = 0; i < d.count; i++)
    out << (i ? "," : "") << "{\"position\":" << d.joints[i].position << ",\"goal\":" << d.joints[i].goal
        << ",\"state\":" << int(d.joints[i].state) << '}';
  out << ']';
}

void print(std::ostream &out, const player_goto &d) {
  out << "\"state\":" << int(d.state) << ",\"reason\":" << int(d.reason) << ",\"tag\":" << d.tag << ",\"x_mm\":" << d.x
      << ",\"y_mm\":" << d.y << ",\"heading_deg\":" << d.heading << ",\"distance_mm\":" << d.distance;
}

template <typename Data> struct OpenedAs : Opened {
  player::CDevice<Data> device;
  int Open(CRobot &robot, const char *name, char access) override { return robot.Open(name, access, device); }
  char Byte() const override { return device; }
  void Print(std::ostream &out) const override { print(out, *device); }
};

std::unique_ptr<Opened> make(const std::string &interface) {
  if (interface == "ranger") return std::make_unique<OpenedAs<player_ranger>>();
  if (interface == "imu") return std::make_unique<OpenedAs<player_imu>>();
  if (interface == "gps") return std::make_unique<OpenedAs<player_gps>>();
  if (interface == "io") return std::make_unique<OpenedAs<player_io>>();
  if (interface == "servo") return std::make_unique<OpenedAs<player_servo>>();
  if (interface == "goto") return std::make_unique<OpenedAs<player_goto>>();
  return std::make_unique<OpenedAs<player_laser>>();
}

// The name of a device: its letter, or its name in the server's list.
std::string label(const CRobot &robot, char device) {
  return device >= 'a' && device <= 'z' ? std::string(1, device) : robot.DeviceName(device);
}

int open(CRobot &robot, const std::string &line, std::ostream &out) {
  std::string name = text(line, "name");
  std::unique_ptr<Opened> device = make(name.substr(0, name.find(':')));
  int r = device->Open(robot, name.c_str(), text(line, "access")[0]);
  char byte = device->Byte();
  if (byte) out << "\"code\":" << int(static_cast<unsigned char>(byte)) << ',';
  if (byte && r == PLAYER_REFUSED) {
    std::string reason = robot.Why(byte);
    out << "\"why\":{" << (reason.empty() ? "" : quote(label(robot, byte)) + ':' + quote(reason)) << "},";
  }
  if (byte) opened[name] = std::move(device); // the robot has its address
  return r;
}

int request(CRobot &robot, const std::string &line, std::ostream &out) {
  std::string pairs = text(line, "pairs");
  int r = robot.Request(pairs.c_str());
  if (r != PLAYER_OK && r != PLAYER_REFUSED) return r;
  std::string why;
  for (size_t i = 1; i < pairs.size(); i += 2) {
    pairs[i] = robot.Access(pairs[i - 1]);
    std::string reason = robot.Why(pairs[i - 1]);
    if (!reason.empty()) why += (why.empty() ? "\"" : ",\"") + std::string(1, pairs[i - 1]) + "\":" + quote(reason);
  }
  out << "\"granted\":\"" << pairs << "\",";
  if (r == PLAYER_REFUSED) out << "\"why\":{" << why << "},";
  return r;
}

int read(CRobot &robot, std::ostream &out) {
  int r = robot.Read();
  out << "\"new\":\"";
  for (char letter : std::string("lspgmvzjy"))
    if (!r && robot.New(letter)) out << letter;
  for (const auto &[name, device] : opened) {
    unsigned char byte = static_cast<unsigned char>(device->Byte());
    char escape[8];
    std::snprintf(escape, sizeof escape, "\\u%04x", byte);
    if (!r && byte >= 128 && robot.New(device->Byte())) out << escape;
  }
  out << "\",";
  return r;
}

void data(CRobot &robot, char letter, std::ostream &out) {
  switch (letter) {
  case 'p': {
    const CPosition &p = *robot.position;
    out << "\"time\":" << p.time << ",\"x\":" << p.xpos << ",\"y\":" << p.ypos << ",\"heading\":" << p.heading << ",\"speed\":" << p.speed
        << ",\"turnrate\":" << p.turnrate << ",\"compass\":" << p.compass << ",\"stall\":" << int(p.stalls);
    break;
  }
  case 's':
    list(out, "ranges", robot.sonar, robot.sonar + PLAYER_SONARS);
    break;
  case 'l':
    list(out, "ranges", robot.laser, robot.laser + PLAYER_LASERS);
    break;
  case 'm':
    out << "\"front\":" << int(robot.misc->frontbumpers) << ",\"rear\":" << int(robot.misc->rearbumpers)
        << ",\"battery\":" << int(robot.misc->battery) << ",\"voltage\":" << int(robot.misc->voltage);
    break;
  case 'g': {
    const CGripper &g = *robot.gripper;
    out << "\"state\":" << (g.paddlesOpen | g.paddlesClose << 1 | g.paddlesMoving << 2 | g.paddlesError << 3 | g.liftUp << 4 | g.liftDown << 5 | g.liftMoving << 6 | g.liftError << 7)
        << ",\"beams\":" << (g.gripLimitReached | g.liftLimitReached << 1 | g.outerBeamObstructed << 2 | g.innerBeamObstructed << 3 | g.leftPaddleOpen << 4 | g.rightPaddleOpen << 5);
    break;
  }
  case 'z':
    out << "\"pan\":" << robot.ptz->pan << ",\"tilt\":" << robot.ptz->tilt << ",\"zoom\":" << robot.ptz->zoom;
    break;
  case 'v':
    out << "\"channels\":[";
    for (int c = 0; c < ACTS_NUM_CHANNELS; c++) {
      out << (c ? ",[" : "[");
      for (int n = 0; n < robot.vision->NumBlobs[c]; n++) {
        const CBlob &b = robot.vision->Blobs[c][n];
        out << (n ? "," : "") << "{\"color\":" << c << ",\"area\":" << b.area << ",\"x\":" << int(b.x) << ",\"y\":" << int(b.y) << ",\"left\":" << int(b.left)
            << ",\"right\":" << int(b.right) << ",\"top\":" << int(b.top) << ",\"bottom\":" << int(b.bottom) << '}';
      }
      out << ']';
    }
    out << ']';
    break;
  case 'j':
    out << "\"buttons\":" << robot.joystick->buttons << ',';
    list(out, "axes", robot.joystick->axes, robot.joystick->axes + PLAYER_AXES);
    break;
  case 'y':
    out << "\"time\":" << robot.ServerTime().count();
    break;
  }
}

int get(CRobot &robot, const std::string &name, std::ostream &out) {
  auto found = opened.find(name);
  if (found == opened.end() && name.size() != 1) return PLAYER_USAGE;
  char letter = found == opened.end() ? name[0] : found->second->Byte();
  out << "\"size\":" << robot.Size(letter) << ",\"age_us\":";
  if (auto age = robot.Age(letter))
    out << age->count();
  else
    out << "null";
  out << ",\"data\":";
  if (robot.Has(letter)) {
    out << '{';
    if (found == opened.end())
      data(robot, letter, out);
    else
      found->second->Print(out);
    out << "},";
  } else {
    out << "null,";
  }
  return PLAYER_OK;
}

int command(CRobot &robot, const std::string &line) {
  int v[8] = {};
  json_ints(line.c_str(), "values", v, 8);
  std::string name = text(line, "device");
  auto found = opened.find(name);
  if (found != opened.end()) {
    char device = found->second->Byte();
    auto number = static_cast<unsigned char>(v[0]);
    if (name.rfind("io", 0) == 0) return robot.SetOutput(device, number, v[1]);
    if (name.rfind("goto", 0) == 0 && v[0] == PLAYER_UNKNOWN) return robot.StopGoal(device);
    if (name.rfind("goto", 0) == 0) {
      auto u16 = [&](int n) { return static_cast<uint16_t>(v[n]); };
      return robot.SetGoal(device, {v[0], v[1], u16(2), u16(3), u16(4), u16(5), u16(6), u16(7)});
    }
    if (number == PLAYER_ALL_JOINTS && v[1] == PLAYER_UNKNOWN) return robot.StopJoints(device);
    return robot.MoveJoint(device, number, v[1], static_cast<unsigned>(v[2]));
  }
  if (name.size() != 1) return PLAYER_USAGE;
  switch (name[0]) {
  case 'p':
    return robot.SetSpeed(v[0], v[1]);
  case 'z':
    return robot.SetPTZ(v[0], v[1], v[2]);
  case 'g':
    return robot.SetGripper(static_cast<unsigned char>(v[0]), static_cast<unsigned char>(v[1]));
  }
  return PLAYER_USAGE;
}

int config(CRobot &robot, const std::string &line) {
  std::string name = text(line, "name");
  int value = number(line, "value");
  if (name == "frequency") return robot.SetFrequency(static_cast<unsigned short>(value));
  if (name == "lifetime") return robot.SetCommandLifetime(std::chrono::milliseconds(value));
  if (name == "mode") return robot.SetDataMode(value ? REQUESTREPLY : CONTINUOUS);
  if (name == "data") return robot.RequestData();
  if (name == "fresh") return robot.SetFresh(value != 0);
  if (name == "motors") return robot.ChangeMotorState(value != 0);
  if (name == "velocity") return robot.ChangeVelocityControl(value ? SEPARATETRANSROT : DIRECTWHEELVELOCITY);
  if (name == "name") return robot.SetName(text(line, "text").c_str());
  if (name == "stop") return robot.EmergencyStop(value != 0);
  if (name == "reset_odometry") return robot.ResetPosition();
  return PLAYER_USAGE;
}

std::string sightings(const player_mover &m) {
  std::ostringstream out;
  out.precision(17);
  for (int i = 0; i < m.seen; i++) {
    const player_sighting &s = m.sees[i];
    out << (i ? "," : "") << "{\"name\":" << quote(s.name) << ",\"id\":" << s.id << ",\"range\":" << s.range << ",\"bearing\":" << s.bearing << '}';
  }
  return out.str();
}

int simulate(const std::string &line, std::ostream &out, std::string &error) {
  player::Simulation world(text(line, "host"), number(line, "port"));
  world.timeout = std::chrono::milliseconds(number(line, "timeout_ms"));
  char order[2048];
  if (!useTls(world.Client(), line)) return PLAYER_USAGE;
  if (int r = json_object(line.c_str(), "order", order, sizeof order) ? world.Order(order) : world.Read()) {
    error = world.Error();
    return r;
  }
  auto truth = [](bool b) { return b ? "true" : "false"; };
  out.precision(17);
  out << "\"state\":{\"time\":" << world.time << ",\"speed\":" << world.speed << ",\"paused\":" << truth(world.paused)
      << ",\"finished\":" << truth(world.finished) << ",\"seed\":" << world.seed << ",\"movers\":[";
  const char *comma = "";
  for (const player_mover &m : world.movers) {
    out << comma << "{\"name\":" << quote(m.name) << ",\"robot\":" << truth(m.robot) << ",\"x\":" << m.x << ",\"y\":" << m.y
        << ",\"heading\":" << m.heading << ",\"sees\":[" << sightings(m) << "]}";
    comma = ",";
  }
  out << "]},";
  return PLAYER_OK;
}

int geometry(CRobot &robot, std::ostream &out) {
  std::vector<player_part> parts;
  int r = robot.Geometry(parts);
  out.precision(17);
  out << "\"parts\":[";
  const char *comma = "";
  for (const player_part &p : parts) {
    out << comma << '[' << quote(label(robot, p.device)) << ',' << p.number << ',' << p.x << ',' << p.y << ',' << p.heading
        << ',' << p.length << ',' << p.width << ',' << p.range << ',' << p.view << ']';
    comma = ",";
  }
  out << "],";
  return r;
}

int devices(CRobot &robot, std::ostream &out) {
  std::vector<player_entry> entries;
  int r = robot.Devices(entries);
  out << "\"devices\":[";
  const char *comma = "";
  for (const player_entry &e : entries) {
    out << comma << '[' << quote(e.name) << ',' << int(static_cast<unsigned char>(e.device)) << ']';
    comma = ",";
  }
  out << "],";
  return r;
}

int rays(CRobot &robot, std::ostream &out) {
  std::vector<player_ray> rays;
  int r = robot.Rays(rays);
  out.precision(17);
  out << "\"rays\":[";
  const char *comma = "";
  for (const player_ray &ray : rays) {
    out << comma << '[' << quote(label(robot, ray.device)) << ',' << ray.first << ',' << ray.count << ',' << ray.x << ','
        << ray.y << ',' << ray.heading << ',' << ray.step << ',' << ray.near_mm << ',' << ray.far_mm << ',' << ray.cone << ']';
    comma = ",";
  }
  out << "],";
  return r;
}

int channels(CRobot &robot, std::ostream &out) {
  std::vector<player_channel> channels;
  int r = robot.Channels(channels);
  out << "\"channels\":[";
  const char *comma = "";
  for (const player_channel &c : channels) {
    out << comma << '[' << quote(label(robot, c.device)) << ',' << c.number << ','
        << quote(c.role == 'i' ? "input" : c.role == 'o' ? "output" : "joint") << ',' << quote(c.unit) << ',' << c.min
        << ',' << c.max << ',' << quote(c.name) << ']';
    comma = ",";
  }
  out << "],";
  return r;
}

int colors(CRobot &robot, std::ostream &out) {
  std::vector<player_channel_color> colors;
  int r = robot.ChannelColors(colors);
  out << "\"colors\":[";
  const char *comma = "";
  for (const player_channel_color &c : colors) {
    out << comma << '[' << quote(label(robot, c.device)) << ',' << c.channel << ',' << c.color << ']';
    comma = ",";
  }
  out << "],";
  return r;
}

int carryOut(CRobot &robot, const std::string &line, std::ostream &out) {
  std::string op = text(line, "op");
  robot.timeout = std::chrono::milliseconds(number(line, "timeout_ms"));
  if (op == "connect" && !useTls(robot.Client(), line)) return PLAYER_USAGE;
  if (op == "connect") {
    int r = robot.Connect(text(line, "host").c_str(), number(line, "port"));
    opened.clear(); // the robot has forgotten their addresses
    return r;
  }
  if (op == "reconnect") return robot.Reconnect();
  if (op == "request") return request(robot, line, out);
  if (op == "read") return read(robot, out);
  if (op == "get") return get(robot, text(line, "device"), out);
  if (op == "command") return command(robot, line);
  if (op == "config") return config(robot, line);
  if (op == "geometry") return geometry(robot, out);
  if (op == "devices") return devices(robot, out);
  if (op == "open") return open(robot, line, out);
  if (op == "rays") return rays(robot, out);
  if (op == "channels") return channels(robot, out);
  if (op == "colors") return colors(robot, out);
  if (op == "close") return robot.Close(), PLAYER_OK;
  return PLAYER_USAGE;
}

// Answers requests by CRobot.
struct Manual {
  CRobot robot;
  std::string error;

  int carry_out(const std::string &line, std::ostream &out) {
    error.clear();
    int r = text(line, "op") == "simulation" ? simulate(line, out, error) : carryOut(robot, line, out);
    if (error.empty()) error = r == PLAYER_USAGE ? "usage" : robot.Error();
    return r;
  }
};

template <typename Adapter> int serve() {
  Adapter adapter;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::ostringstream out;
    int r = adapter.carry_out(line, out);
    std::cout << '{' << out.str();
    if (r == PLAYER_OK)
      std::cout << "\"ok\":true}" << std::endl;
    else
      std::cout << "\"ok\":false,\"error\":\"" << kinds[r] << "\",\"text\":" << quote(adapter.error) << "}" << std::endl;
  }
  return 0;
}

}  // namespace

int main(int count, char **arguments) {
  if (count > 1 && std::string(arguments[1]) == "Client") return serve<client::Adapter>();
  return serve<Manual>();
}
