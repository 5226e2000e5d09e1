// SPDX-License-Identifier: Apache-2.0
//
// The data of devices without a letter in the units of Player 2 and 3: inertial measurement
// units, receivers of satellites, inputs and outputs, joints.
#include <limits>

#include "core.hpp"

namespace playerc {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// ---- IMU ----

// Returns a value of which so many are one unit here.
static double scaled(int32_t v, double units) { return v == PLAYER_UNKNOWN ? unknown : v / units; }
static double scaled(uint32_t v, double units) { return v == PLAYER_UNKNOWN_AMOUNT ? unknown : v / units; }

playerc_imu_t Device::Imu() const {
  return With([&](const player::CRobot &) {
    playerc_imu_t out{};
    if (!valid) return out;
    const player_imu &imu = std::get<player_imu>(slot->named->data);
    constexpr double degree = 180e3 / M_PI, metre = 1000; // thousandths of a degree in a radian, mm in a metre
    out.pose = {0, 0, 0, scaled(imu.roll, degree), scaled(imu.pitch, degree), Normal(scaled(imu.yaw, degree))};
    out.vel = {0, 0, 0, scaled(imu.roll_rate, degree), scaled(imu.pitch_rate, degree), scaled(imu.yaw_rate, degree)};
    out.acc = {scaled(imu.x, metre), scaled(imu.y, metre), scaled(imu.z, metre), 0, 0, 0};
    auto f = [](double v) { return static_cast<float>(v); };
    float none = f(unknown);
    out.calib_data = {f(out.acc.px), f(out.acc.py), f(out.acc.pz), f(out.vel.proll), f(out.vel.ppitch), f(out.vel.pyaw), none, none, none};
    double r = out.pose.proll / 2, p = out.pose.ppitch / 2, y = out.pose.pyaw / 2;
    out.q0 = f(cos(r) * cos(p) * cos(y) + sin(r) * sin(p) * sin(y));
    out.q1 = f(sin(r) * cos(p) * cos(y) - cos(r) * sin(p) * sin(y));
    out.q2 = f(cos(r) * sin(p) * cos(y) + sin(r) * cos(p) * sin(y));
    out.q3 = f(cos(r) * cos(p) * sin(y) - sin(r) * sin(p) * cos(y));
    return out;
  });
}

// ---- GPS ----

// Sets easting and northing in m, of the zone of the longitude, from latitude and longitude in
// degrees: the series of Krueger to the fourth power, exact to a millimetre within the zone.
static void universal(double latitude, double longitude, double &east, double &north) {
  constexpr double n = 1 / (2 * 298.257223563 - 1), radius = 6378137 / (1 + n) * (1 + n * n / 4 + n * n * n * n / 64); // of WGS 84
  constexpr double scale = 0.9996, middle = 500000, south = 1e7; // of UTM: on the meridian, m at it, m at the equator
  constexpr double a[] = {n / 2 - n * n * 2 / 3 + n * n * n * 5 / 16, n * n * 13 / 48 - n * n * n * 3 / 5, n * n * n * 61 / 240};
  double meridian = std::floor(longitude / 6) * 6 + 3, lambda = Radians(longitude - meridian), phi = Radians(latitude);
  double e = 2 * std::sqrt(n) / (1 + n), t = std::sinh(std::atanh(std::sin(phi)) - e * std::atanh(e * std::sin(phi)));
  double xi = std::atan2(t, std::cos(lambda)), eta = std::atanh(std::sin(lambda) / std::sqrt(1 + t * t));
  double x = eta, y = xi;
  for (int j = 1; j <= 3; j++) {
    x += a[j - 1] * std::cos(2 * j * xi) * std::sinh(2 * j * eta);
    y += a[j - 1] * std::sin(2 * j * xi) * std::cosh(2 * j * eta);
  }
  east = middle + scale * radius * x;
  north = (latitude < 0 ? south : 0) + scale * radius * y;
}

playerc_gps_t Device::Gps() const {
  return With([&](const player::CRobot &) {
    playerc_gps_t out{};
    if (!valid) return out;
    const player_gps &gps = std::get<player_gps>(slot->named->data);
    auto known = [](double v) { return std::isnan(v) ? 0 : v; };
    constexpr double degree = 1e7, metre = 1000, second = 1000, turn = 180e3 / M_PI;
    out.utc_time = static_cast<double>(gps.time) / second;
    bool placed = gps.latitude != PLAYER_UNKNOWN && gps.longitude != PLAYER_UNKNOWN;
    if (placed) {
      out.lat = gps.latitude / degree;
      out.lon = gps.longitude / degree;
      universal(out.lat, out.lon, out.utm_e, out.utm_n);
    }
    out.alt = known(scaled(gps.height, metre));
    out.speed = known(scaled(gps.speed, metre));
    out.course = known(scaled(gps.course, turn));
    out.err_horz = scaled(gps.horizontal, metre);
    out.err_vert = scaled(gps.vertical, metre);
    // 0: none, 1: from satellites alone, 2: with corrections.
    out.quality = !placed || gps.fix == PLAYER_NO_FIX ? 0 : gps.fix == PLAYER_DGPS_FIX || gps.fix == PLAYER_FLOAT_FIX || gps.fix == PLAYER_RTK_FIX ? 2 : 1;
    constexpr uint8_t not_counted = 255;
    out.sat_count = gps.satellites == not_counted ? 0 : gps.satellites;
    return out;
  });
}

// ---- Inputs and outputs ----

// Returns how many of a unit of the server are one V, rad or m; 1: it is another unit.
static double units(const player_channel &c) {
  static const struct {
    const char *name;
    double many;
  } all[] = {{"mV", 1e3}, {"uV", 1e6}, {"mdeg", 180e3 / M_PI}, {"deg", 180 / M_PI}, {"mm", 1e3}, {"um", 1e6}, {"mrad", 1e3}, {"urad", 1e6}};
  for (auto &u : all)
    if (!strcmp(c.unit, u.name)) return u.many;
  return 1;
}

static bool turns(const player_channel &c) { return strstr(c.unit, "deg") || strstr(c.unit, "rad"); }

// Returns a value in the unit of a channel, as commands have it: within its limits.
static int32_t counts(const player_channel &c, double value) {
  if (!std::isfinite(value)) throw Failure{"a value is not a number"};
  double low = c.min == PLAYER_UNKNOWN ? -INT32_MAX : c.min, high = c.max == PLAYER_UNKNOWN ? INT32_MAX : c.max;
  return static_cast<int32_t>(std::llround(std::clamp(value * units(c), low, high)));
}

// Returns the i-th channel of a role that is digital or not, or NULL.
static const player_channel *channel(const Named &n, char role, bool digital, unsigned i) {
  for (const player_channel &c : n.channels)
    if (c.role == role && digital == !strcmp(c.unit, "bit") && i-- == 0) return &c;
  return nullptr;
}

unsigned Device::Channels(char role, bool digital) const {
  return With([&](const player::CRobot &) {
    unsigned n = 0;
    while (!absent && (valid || role == 'o') && channel(*slot->named, role, digital, n)) n++;
    return n;
  });
}

double Device::Input(unsigned i, bool digital) const {
  return With([&](const player::CRobot &) {
    const player_channel *c = valid ? channel(*slot->named, 'i', digital, i) : nullptr;
    if (!c) return 0.0;
    const player_io &io = std::get<player_io>(slot->named->data);
    double v = c->number < io.count ? scaled(io.values[c->number], units(*c)) : unknown;
    return digital && std::isnan(v) ? 0 : v;
  });
}

void Device::Output(unsigned i, bool digital, double value) {
  std::lock_guard<std::recursive_mutex> lock(client->mutex);
  if (absent) return;
  const player_channel *c = channel(*slot->named, 'o', digital, i);
  if (!c) throw Failure{slot->name + " has no " + (digital ? "digital" : "analogue") + " output " + std::to_string(i)};
  Send([&](player::CRobot &robot) { return robot.SetOutput(Byte(), static_cast<uint8_t>(c->number), counts(*c, value)); });
}

uint32_t Device::Inputs() const {
  uint32_t bits = 0;
  for (unsigned i = 0; i < std::min(Channels('i', true), 32u); i++) bits |= (Input(i, true) != 0 ? 1u : 0u) << i;
  return bits;
}

void Device::Outputs(unsigned count, uint32_t bits) {
  for (unsigned i = 0; i < count; i++) Output(i, true, i < 32 ? bits >> i & 1 : 0);
}

// ---- Joints ----

static const player_channel &joint(const Slot &slot, unsigned i) {
  const auto &all = slot.named->channels;
  if (i >= all.size()) throw Failure{slot.name + " has no joint " + std::to_string(i)};
  return all[i];
}

unsigned Device::Joints() const {
  return With([&](const player::CRobot &) { return absent ? 0 : static_cast<unsigned>(slot->named->channels.size()); });
}

player_actarray_actuator_t Device::Joint(unsigned i) const {
  return With([&](const player::CRobot &) {
    player_actarray_actuator_t out{};
    if (!valid || i >= Joints()) return out;
    const player_servo &servo = std::get<player_servo>(slot->named->data);
    const player_channel &c = slot->named->channels[i];
    if (c.number >= servo.count) return out;
    const player_joint &j = servo.joints[c.number];
    out.position = static_cast<float>(scaled(j.position, units(c)));
    bool known = (j.state & PLAYER_JOINT_KNOWN) != 0;
    out.state = known && j.state & PLAYER_JOINT_FAILED   ? PLAYER_ACTARRAY_ACTSTATE_STALLED
                : known && j.state & PLAYER_JOINT_MOVING ? PLAYER_ACTARRAY_ACTSTATE_MOVING
                                                         : PLAYER_ACTARRAY_ACTSTATE_IDLE;
    return out;
  });
}

player_actarray_actuatorgeom_t Device::JointGeometry(unsigned i) const {
  return With([&](const player::CRobot &) {
    player_actarray_actuatorgeom_t out{};
    if (i >= Joints()) return out;
    const player_channel &c = slot->named->channels[i];
    auto limit = [&](int32_t v) { return v == PLAYER_UNKNOWN ? 0 : static_cast<float>(v / units(c)); };
    out.type = turns(c) ? PLAYER_ACTARRAY_TYPE_ROTARY : PLAYER_ACTARRAY_TYPE_LINEAR;
    out.min = limit(c.min);
    out.max = limit(c.max);
    out.centre = (out.min + out.max) / 2;
    out.home = std::clamp(0.0f, std::min(out.min, out.max), std::max(out.min, out.max));
    auto speed = joint_speeds.find(i);
    out.config_speed = speed == joint_speeds.end() ? 0 : static_cast<float>(speed->second);
    return out;
  });
}

// Returns a speed as commands have it: not 0, which leaves it to the driver.
static uint32_t speed_of(const player_channel &c, double speed) {
  return static_cast<uint32_t>(std::llround(std::clamp(std::fabs(speed) * units(c), 1.0, static_cast<double>(INT32_MAX))));
}

void Device::MoveJoint(unsigned i, double position, double speed) {
  std::lock_guard<std::recursive_mutex> lock(client->mutex);
  if (absent) return;
  const player_channel &c = joint(*slot, i);
  auto set = joint_speeds.find(i);
  if (speed == 0 && set != joint_speeds.end()) speed = set->second;
  uint32_t rate = speed == 0 ? 0 : speed_of(c, speed);
  Send([&](player::CRobot &robot) { return robot.MoveJoint(Byte(), static_cast<uint8_t>(c.number), counts(c, position), rate); });
}

void Device::TurnJoint(unsigned i, double speed) {
  if (!std::isfinite(speed)) throw Failure{"a speed is not a number"};
  std::lock_guard<std::recursive_mutex> lock(client->mutex);
  if (absent) return;
  const player_channel &c = joint(*slot, i);
  int32_t end = speed > 0 ? c.max : c.min;
  if (speed != 0 && end == PLAYER_UNKNOWN) throw Failure{slot->name + " does not say how far joint " + std::to_string(i) + " moves: give it a position"};
  Send([&](player::CRobot &robot) {
    return robot.MoveJoint(Byte(), static_cast<uint8_t>(c.number), speed == 0 ? PLAYER_UNKNOWN : end, speed == 0 ? 0 : speed_of(c, speed));
  });
}

void Device::HomeJoints(int i) {
  if (i >= 0) throw Failure{"a joint has no home of its own here: joint -1 moves all of them to where they start"};
  Send([&](player::CRobot &robot) { return robot.Config(Byte(), "R", 1); });
}

void Device::SetJointSpeed(unsigned i, double speed) {
  if (!(speed >= 0)) throw Failure{"a speed is below zero, or not a number"};
  std::lock_guard<std::recursive_mutex> lock(client->mutex);
  joint_speeds[i] = speed;
}

void Device::PowerJoints(bool on) {
  const char payload[] = {'m', static_cast<char>(on)};
  Send([&](player::CRobot &robot) { return robot.Config(Byte(), payload, sizeof payload); });
}

}  // namespace playerc
