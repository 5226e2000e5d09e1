// SPDX-License-Identifier: Apache-2.0
//
// core.hpp is the common part of the libraries of Player 2 and 3: the
// connections of one of their clients to this server, and the data of devices in their
// units, metres and radians.
#ifndef PLAYERC_CORE_HPP
#define PLAYERC_CORE_HPP

#include <libplayerc/playerc.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "crobot.hpp"

namespace playerc {

// Failure is thrown when a call does not succeed. Its text has the remedy.
struct Failure {
  std::string text;
};

// Settings are read from the environment: README.md describes them.
struct Settings {
  bool step = false;                       // PLAYERC_STEP
  bool tolerant = false;                   // PLAYERC_MISSING
  std::vector<std::string> rangers;        // PLAYERC_RANGERS, devices in the order of the indexes; empty: the robot's own
  bool every_reading = false;              // PLAYERC_READINGS: a ranger of several sensors has all, not the nearest of each
  bool resampled = false;                  // PLAYERC_LASER is set
  unsigned laser_count = PLAYER_LASERS;    // PLAYERC_LASER
  double laser_angle = M_PI;               // PLAYERC_LASER
  enum { Two, All, Create } bumpers = Two; // PLAYERC_BUMPERS
  unsigned width = 160, height = 120;      // PLAYERC_BLOBFINDER, pixels
  std::string simulation;                  // PLAYERC_SIMULATION, HOST:PORT; empty: port 8080 of the server's host
  std::string robot;                       // PLAYERC_ROBOT, its name in the simulation; empty: the one of this port from 6665 on

  // Throws Failure if a setting is not understood.
  static Settings Read();
};

// Kinds of devices: letters of docs/PROTOCOL.md, and of those that have none there, these.
constexpr char ranger_kind = 'R', imu_kind = 'I', gps_kind = 'G', io_kind = 'O', servo_kind = 'J', goto_kind = 'T';

struct Interface {
  int code;
  const char *name;
  char kind;   // of the device that serves it; 0: none
  char access; // that it needs
};

// Returns NULL for an unknown one.
const Interface *FindInterface(int code);
const Interface *FindInterface(const std::string &name);

// Named is a device that has been opened by its name, on one connection, and its newest data.
struct Named {
  char byte = 0;                        // on the connection
  std::vector<player_ray> rays;         // of a ranger, in the order of its readings
  std::vector<player_channel> channels; // inputs and outputs, or joints, in the order of the data
  std::variant<player_ranger, player_laser, player_sonar, player_misc, player_gripper, player_ptz, player_vision, player_imu, player_gps, player_io, player_servo, player_goto> data;
};

// Slot is where the devices of a link find one that has been opened by its name. It stays when
// the connection is lost, and its content is replaced.
struct Slot {
  std::string name; // for example laser:1
  char kind = 0, access = 'r';
  int users = 0;
  std::unique_ptr<Named> named;
};

// Link is the connection to one port.
struct Link {
  std::unique_ptr<player::CRobot> robot = std::make_unique<player::CRobot>(); // replaced when it is lost
  // In step: how many rounds have been requested, and have come. Both begin at the rounds
  // of the other connections of the program.
  long requested = 0, taken = 0;
  bool waiting = false;      // a round has been taken, which no Read has delivered
  std::map<char, int> users; // of a device that has a letter
  std::map<std::string, Slot> slots; // devices without one, by name
  std::vector<player_entry> entries; // which devices the robot has; none: an older server, or it was not asked
  bool asked = false;
  std::vector<player_channel_color> colors; // of the channels of its cameras, as far as the server knows them
  std::vector<player_part> parts; // of the devices that have been opened, as far as the server knows them

  // Returns a part of a device, or NULL.
  const player_part *Part(char device, int number = 0) const;
  // Returns how many devices of a kind the server lists. It asks once.
  uint32_t Count(char kind);
};

class Client;

// Picture is one of a camera: JPEG, or after Decompress red, green and blue of each pixel.
struct Picture {
  unsigned width = 0, height = 0;
  std::vector<uint8_t> bytes;
  bool compressed = true;

  // Throws Failure if the bytes are damaged.
  void Decompress();
  // Write a file, Save with the extension of its format. They throw Failure.
  void Save(const std::string &name) const { Write(name + (compressed ? ".jpg" : ".ppm")); }
  void Write(const std::string &path) const;
};

// Device is one proxy's part of a device.
class Device {
public:
  const Interface &interface;
  const uint32_t index;
  char kind;                 // differs from the interface's for rangers
  Slot *slot = nullptr;      // of a device that has no letter
  bool absent = false;        // tolerated: there is no data, and commands are dropped
  std::shared_ptr<Client> client;
  Link *link;

  bool opened = false;       // and no Read since
  std::vector<player_fiducial_item_t> fiducials;
  std::string camera; // its name on the dashboard
  Picture picture;
  unsigned saved = 0; // pictures

  // The data of the latest Read.
  bool valid = false, fresh = false;
  double time = 0, elapsed = 0; // s

  // Where the program has put the odometry: it is at target where the robot's is at origin.
  player_pose2d_t origin{}, target{};

  // Goal is where the server's goto device drives the robot.
  struct Goal {
    player_pose2d_t pose;
    double speed, turnrate; // at most, m/s and rad/s; not above zero: as the device chooses
    uint16_t tag;           // of its data, among the goals of this program
  };
  std::optional<Goal> goal;
  struct Course {
    double speed, heading;
  };
  std::optional<Course> course;

  int next_slot = 0;
  std::map<int, std::function<void()>> slots;

  // Opens a device. Throws Failure if the robot does not have it.
  Device(std::shared_ptr<Client> client, const Interface &interface, uint32_t index);
  ~Device();
  Device(const Device &) = delete;

  // Wheels.
  void Drive(double speed, double turnrate);
  // Has the server drive to a pose around obstacles (docs/GOTO.md), until it is there or Drive is called. Velocities
  // that are not above zero are chosen. Throws Failure if the server has no goto device.
  void GoTo(player_pose2d_t pose, double speed = 0, double turnrate = 0);
  void Aim(); // gives the server the goal
  player_pose2d_t Pose() const;
  player_pose2d_t Velocity() const;
  bool Stalled() const;
  void SetPose(player_pose2d_t pose);
  void Steer(double speed, double angle);  // as a car
  void Head(double speed, double heading); // turns to it and keeps it

  // The byte of the device on its connection.
  char Byte() const { return slot ? slot->named->byte : kind; }
  // Its newest data: of the first device of the robot, which has a letter, or of a named one.
  template <typename Data> const Data &Newest(const Data &first) const { return slot ? std::get<Data>(slot->named->data) : first; }
  // Sends a command to the device.
  void Command(const std::vector<uint8_t> &payload);

  // Ranges of a laser, of sonars, or of a ranger. The count is 0 before there is data.
  bool Scans() const { return kind == 'l' || (kind == ranger_kind && slot && slot->named->rays.size() < 2); } // from one point
  unsigned Count() const;
  unsigned Elements() const; // readings, also before there is data; a ranger may not know them
  unsigned Sensors() const;  // points from which they look
  double Range(unsigned i) const;
  player_point_3d_t Point(unsigned i) const; // of a ranger: from its middle, or the robot's if it has several sensors
  double Bearing(unsigned i) const;
  double MaxRange() const;
  double MinRange() const;
  double Resolution() const;
  double RangeResolution() const;
  double FirstAngle() const; // of a scan, from its middle; 0: it is none
  double LastAngle() const { return -FirstAngle(); }
  player_pose3d_t ElementPose(unsigned i) const;
  // Where the body, the laser or the gripper is, and how large it is: of the robot if its
  // server knows, otherwise of a Pioneer 2-DX.
  player_pose3d_t MountPose() const;
  player_bbox3d_t Size() const;
  double Shortest(unsigned begin, unsigned end) const; // of readings, without the end
  unsigned Middle() const { return (Count() + 1) / 2; } // the right half ends before it

  unsigned Bumpers() const;
  bool Bumped(unsigned i) const;

  void Grip(uint8_t command);
  unsigned GripState() const; // PLAYER_GRIPPER_STATE_OPEN ...; 0 before there is data
  unsigned Beams() const;     // bit 0: the outer one is broken, bit 1: the inner

  double Volts() const;
  double Charge() const; // percent

  player_pose2d_t Gaze() const; // px: pan, py: tilt, pa: field of view
  void Look(double pan, double tilt, double fov);

  unsigned Blobs() const;
  player_blobfinder_blob_t Blob(unsigned i) const;

  // A value that an IMU does not measure is not a number.
  playerc_imu_t Imu() const;
  playerc_gps_t Gps() const; // unknown values are 0, unknown errors not a number

  // Inputs, 'i', and outputs, 'o', of an io device: digital ones are 0 or 1, others in V or
  // in their unit if it is none of voltage. Inputs are counted when there is data.
  unsigned Channels(char role, bool digital) const;
  double Input(unsigned i, bool digital) const; // outside of the count: 0
  uint32_t Inputs() const; // digital ones: bit n is input n
  void Output(unsigned i, bool digital, double value);
  void Outputs(unsigned count, uint32_t bits); // digital ones, the first

  // Joints, in rad or m, or in their unit if it is none of both.
  unsigned Joints() const;
  player_actarray_actuator_t Joint(unsigned i) const;
  player_actarray_actuatorgeom_t JointGeometry(unsigned i) const;
  void MoveJoint(unsigned i, double position, double speed = 0); // speed 0: as SetJointSpeed has said
  void TurnJoint(unsigned i, double speed);                  // to its limit; 0: it stops
  void HomeJoints(int i); // all of them, -1: throws Failure for a single one
  void SetJointSpeed(unsigned i, double speed);
  void PowerJoints(bool on);
  std::map<unsigned, double> joint_speeds;

  // Ends the goals of all proxies of this device: the newest command counts.
  void Relieve();
  // Keeps the course, and forgets a goal that is reached. The client calls it with new data.
  void Approach();

  Slot *way = nullptr; // the goto device, which is open as long as this one

  // Sends something to the robot.
  void Send(const std::function<int(player::CRobot &)> &order);
  // Calls f with the robot, whose data does not change meanwhile.
  template <typename F> auto With(F f) const;
};

// Client is the connections of one client of a program: the one of its port, and
// others for devices with an index.
class Client : public std::enable_shared_from_this<Client> {
public:
  const std::string host;
  const uint32_t port;
  const Settings settings;
  std::recursive_mutex mutex; // of all below, and of its devices
  static constexpr std::chrono::milliseconds default_patience{10000};
  std::chrono::milliseconds patience = default_patience; // for connections and requests
  int retries = 0;            // -1: for ever
  double retry_pause = 10;    // s
  std::map<uint32_t, std::unique_ptr<Link>> links; // by index
  std::vector<Device *> devices;
  std::atomic<bool> stopping{false}; // Read returns without data
  // Stops a Read of another thread, also while it waits for a server that is lost.
  void Stop();

  // Connects.
  static std::shared_ptr<Client> Connect(const std::string &host, uint32_t port, std::chrono::milliseconds patience = default_patience);
  ~Client();
  bool Connected();
  // Ends the connections. Devices may outlive them.
  void Close();
  // From now on goals are driven to also while the program sleeps.
  void Assist();
  // Waits for a round and delivers it to the devices.
  void Read();
  bool Peek(std::chrono::milliseconds timeout);
  // Returns the connection for devices of an index, which it makes if need be.
  Link *At(uint32_t index);
  // Returns host and port of the dashboard of its server.
  std::pair<std::string, std::string> Dashboard() const;
  // Opens the device of an interface with an index, for a device that is being made.
  void Open(Device &device);

private:
  friend class Device;
  std::mutex reading; // one thread reads
  Client(const std::string &host, uint32_t port);
  std::unique_ptr<Link> Dial(uint32_t number);
  void Ask(bool insist = false);
  enum class Taken { Nothing, Round, Lost };
  Taken Take(Link &link);
  bool Wait(Link &link, std::chrono::steady_clock::time_point deadline);
  void Restore(Link &link);
  bool Round();
  bool Incomplete();
  void Deliver();
  void Attend();
  void Approach();

  // While there is a goal and the program does not read, a thread does.
  std::thread attendant;
  std::mutex leaving;
  std::condition_variable leave;
  bool ending = false, closed = false;
};

template <typename F> auto Device::With(F f) const {
  std::lock_guard<std::recursive_mutex> lock(client->mutex);
  return f(*link->robot);
}

double Radians(double degrees);
double Degrees(double radians);
// To (-pi, pi].
double Normal(double angle);
player_pose3d_t At(double x, double y, double yaw);
double Zoom(double fov);          // 0 to 1023
double FieldOfView(double zoom);  // radians

// Ranges of a laser above laser_valid, mm, are no distances (docs/PROTOCOL.md 7.3). Its
// maximum is its reading without an echo, so that programs may compare with it.
constexpr int laser_valid = 8182;
constexpr double laser_max = 8.191;
// A sonar of the Pioneer reads this without an echo, m.
constexpr double sonar_max = 5;

// The Pioneer 2-DX, whose wheels are in front of its middle, its laser, a SICK LMS-200,
// and its gripper, whose paddles are 10 cm long and open 21.5 cm.
constexpr player_pose3d_t body_pose{-0.04, 0, 0, 0, 0, 0}, laser_pose{0.08, 0, 0, 0, 0, 0}, gripper_pose{0.18, 0, 0, 0, 0, 0};
constexpr player_bbox3d_t body_size{0.38, 0.44, 0.22}, laser_size{0.155, 0.156, 0.19}, gripper_inner{0.215, 0.10, 0.10};

// The paddles of a gripper are 5 cm thick.
constexpr player_bbox3d_t GripperOuter(player_bbox3d_t inner) { return {inner.sw + 0.1, inner.sl, inner.sh}; }

// The simulated world, behind the address of the dashboard. x and y are in m.
double WorldTime(const Client &client);  // s
player_pose2d_t WorldPose(const Client &client, const std::string &name);
// Returns the name of a camera of a client's robot, and its newest picture.
std::string FindCamera(const Client &client, uint32_t index);
Picture TakePicture(const Client &client, const std::string &camera);
// Fiducials that the finder of a client's robot sees, in the robot's frame.
std::vector<player_fiducial_item_t> WorldFiducials(const Client &client, uint32_t index);
void SetWorldPose(const Client &client, const std::string &name, player_pose2d_t pose);
// A property of a robot or a thing. There is "color": three or four floats from 0 to 1, of which
// the fourth is 1 when it is read, and without effect when it is set.
void WorldProperty(const Client &client, const std::string &name, const std::string &property, void *value, size_t size);
void SetWorldProperty(const Client &client, const std::string &name, const std::string &property, const void *value, size_t size);

}  // namespace playerc

#endif
