// SPDX-License-Identifier: Apache-2.0
/// @file crobot.hpp
/// The class CRobot of appendix A of the Player manual, in C++17 on the C client, for programs of the manual and of
/// version 1.0. New ones have player::Client of player.hpp. All names are in namespace player; playerclient.h has them
/// also outside of it, for the manual's programs.
///
///     player::CRobot robot;
///     if (robot.Connect("tanis") || robot.Request("srpw")) return 1;
///     robot.SetCommandLifetime(std::chrono::seconds(1));  // a program that hangs does not leave the robot driving
///     while (!robot.Read()) {  // ten times a second
///       robot.newspeed = robot.sonar[3] < 500 ? 0 : 100;
///       robot.newturnrate = 20;
///       robot.Write();
///     }
///
/// Methods return zero if they succeed, otherwise a player_result (player.h). Lengths are in mm, angles in degrees. x is
/// forward, y to the left, and angles increase counterclockwise.
#ifndef PLAYER_CROBOT_HPP
#define PLAYER_CROBOT_HPP

#include "player.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace player {

constexpr int ACTS_NUM_CHANNELS = PLAYER_CHANNELS;
constexpr int ACTS_MAX_NO_BLOBS = PLAYER_MAX_BLOBS;

struct CPosition {
  unsigned int time;  // ms since the server started
  int xpos, ypos;
  unsigned short heading;  // 0..359
  unsigned short compass;  // 0..359
  short speed, turnrate;   // mm/s, deg/s
  unsigned char stalls;    // zero if the motors turn freely
};

struct CMisc {
  unsigned char frontbumpers, rearbumpers;  // lowest five bits, set while pressed
  unsigned char voltage;                    // decivolt
  unsigned char battery;                    // the same, by the name that the manual's Java has
};

struct CGripper {
  unsigned char paddlesOpen, paddlesClose, paddlesMoving, paddlesError;
  unsigned char leftPaddleOpen, rightPaddleOpen;
  unsigned char gripLimitReached;
  unsigned char liftUp, liftDown, liftMoving, liftError, liftLimitReached;
  unsigned char outerBeamObstructed, innerBeamObstructed;
};

struct CPtz {
  short pan, tilt, zoom;
};

struct CBlob {
  unsigned int area;  // pixels
  unsigned char x, y, left, right, top, bottom;
};

struct CVision {
  char NumBlobs[ACTS_NUM_CHANNELS];  // blobs in each channel
  CBlob *Blobs[ACTS_NUM_CHANNELS];   // largest first
};

struct CJoystick {  // not in the manual (PROTOCOL 7.8)
  unsigned int buttons;  // bit n is set while button n is pressed
  short axes[PLAYER_AXES];
};

enum data_mode_t { CONTINUOUS, REQUESTREPLY };
enum velocity_mode_t { DIRECTWHEELVELOCITY, SEPARATETRANSROT };

enum : unsigned char {  // gripper commands; the last two have an argument in steps of 20 ms
  GRIPopen = PLAYER_GRIP_OPEN,
  GRIPclose = PLAYER_GRIP_CLOSE,
  GRIPstop = PLAYER_GRIP_STOP,
  LIFTup = PLAYER_LIFT_RAISE,
  LIFTdown = PLAYER_LIFT_LOWER,
  LIFTstop = PLAYER_LIFT_STOP,
  GRIPstore = PLAYER_GRIP_STORE,
  GRIPdeploy = PLAYER_GRIP_DEPLOY,
  GRIPhalt = PLAYER_GRIP_HALT,
  GRIPpress = PLAYER_GRIP_PRESS,
  GRIPPress = GRIPpress,  // as the manual's example spells it
  LIFTcarry = PLAYER_LIFT_CARRY
};

// A device that is opened by its name (CRobot::Open), and its newest data: CDevice<player_imu> or another of the
// structures that player.h has for Open. CRobot::Has reports whether it has sent some. It must last until the robot's
// next Connect, or its end.
template <typename Data>
class CDevice {
  friend class CRobot;
  char device = 0;
  Data data{};

public:
  CDevice() = default;
  CDevice(const CDevice &) = delete;
  CDevice &operator=(const CDevice &) = delete;

  const Data *operator->() const { return &data; }
  const Data &operator*() const { return data; }
  // Its byte, for the methods of CRobot that take a device; 0 before Open.
  operator char() const { return device; }
};

class CRobot {
  struct Destroy {
    void operator()(player_client *c) const { player_destroy(c); }
  };
  // First, since the public members point into it.
  struct State {
    std::unique_ptr<player_client, Destroy> c{player_create()};
    CPosition position{};
    CMisc misc{};
    CGripper gripper{};
    CPtz ptz{};
    CVision vision{};
    CJoystick joystick{};
    CBlob blobs[ACTS_NUM_CHANNELS][ACTS_MAX_NO_BLOBS]{};
  };
  std::unique_ptr<State> s = std::make_unique<State>();

public:
  CRobot() {
    if (!s->c) throw std::bad_alloc();
    for (int i = 0; i < ACTS_NUM_CHANNELS; i++) vision->Blobs[i] = s->blobs[i];
  }
  CRobot(const CRobot &) = delete;
  CRobot &operator=(const CRobot &) = delete;

  std::string host = "localhost";
  int port = PLAYER_PORT;
  // The limit for Connect, Request, Read and Reconnect each. A negative one waits
  // without a limit, like the manual's library.
  std::chrono::milliseconds timeout = std::chrono::seconds(30);

  // The newest data. Has reports whether a device has sent some.
  unsigned short *const sonar = Mutable(player_get_sonar(s->c.get()));  // 16, clockwise from the front left; 0: not fired yet
  unsigned short *const laser = Mutable(player_get_laser(s->c.get()));  // 361, every half degree, right to left
  CPosition *const position = &s->position;
  CVision *const vision = &s->vision;
  CGripper *const gripper = &s->gripper;
  CMisc *const misc = &s->misc;
  CPtz *const ptz = &s->ptz;
  CJoystick *const joystick = &s->joystick;

  // The command that Write sends.
  short newspeed = 0;     // mm/s forward
  short newturnrate = 0;  // deg/s counterclockwise
  short pan = 0;          // -100..100, counterclockwise
  short tilt = 0;         // -25..25, up
  short zoom = 0;         // 0 wide .. 1023 telephoto
  short newgrip = 0;      // set by GripperCommand; 0: none

  // Has the arguments for player_use_tls of player_tls.h, for connections by TLS.
  player_client *Client() { return s->c.get(); }

  // Connects without printing why it fails: see Error.
  int TryConnect() { return player_connect(s->c.get(), host.c_str(), port, Timeout()); }
  int Connect() {
    int r = TryConnect();
    if (r) std::fprintf(stderr, "player: %s port %d: %s\n", host.c_str(), port, Error());
    return r;
  }
  int Connect(const char *name) {
    host = name;
    return Connect();
  }
  int Connect(const char *name, int number) {
    port = number;
    return Connect(name);
  }

  // Closes the connection. The server then stops the wheels if this client had
  // write access to them.
  void Close() { player_close(s->c.get()); }

  // Connects again to the same server, asks for the devices that were open, and
  // sets name, mode, frequency, lifetime, form of rounds and freshness as they were.
  // PLAYER_PROTOCOL: a byte means another device now, since the server was started anew
  // with other devices; Connect, and Open them.
  int Reconnect() { return player_reconnect(s->c.get(), Timeout()); }

  // Asks for devices, as "srpw": sonar read, position write. PLAYER_REFUSED: less was
  // granted, see Access, and is in force; Why has the reasons.
  int Request(const char *pairs) {
    int r = player_request(s->c.get(), pairs, Timeout());
    Convert();
    return r;
  }

  // Opens a device by its name: an interface and an index, for example "laser:1", or an
  // interface alone, whose index is 0: "imu". access is 'r', 'w' or 'a'. It asks the server
  // which devices there are unless it knows the name. PLAYER_REFUSED: the robot has no such
  // device, and Error has those that it has; or as Request, and Why(to) has the reason.
  // PLAYER_USAGE: the name is none, or to is of another interface. Read then has the data in
  // to; data that is not the interface's is PLAYER_PROTOCOL, and changes nothing.
  template <typename Data>
  int Open(const char *name, char access, CDevice<Data> &to) {
    int r = player_open(s->c.get(), name, access, &to.device, Timeout());
    int bound = to.device ? Bind(to.device, &to.data) : PLAYER_OK;
    if (bound) r = bound;
    Convert();
    return r;
  }

  // Asks which devices the robot has (PROTOCOL 8.9.5). A server that does not know the
  // question has none.
  int Devices(std::vector<player_entry> &entries) { return List(entries, 255, player_devices); }

  // Asks where readings of lasers, sonars and rangers look from and to: at most 1024, see
  // player_ray. Open the devices first. A server that does not know the question has none.
  int Rays(std::vector<player_ray> &rays) { return List(rays, 1024, player_rays); }

  // Asks for the inputs, outputs and joints: at most 1024, see player_channel. A server
  // that does not know the question has none.
  int Channels(std::vector<player_channel> &channels) { return List(channels, 1024, player_channels); }

  // Asks which colours the channels of vision have: see player_channel_color. A server that does not
  // know the question has none.
  int ChannelColors(std::vector<player_channel_color> &colors) { return List(colors, 1024, player_channel_colors); }

  // Asks for the places and the sizes of the parts of the robot (PROTOCOL 8.9.3): see
  // player_part. A server without such answers has none.
  int Geometry(std::vector<player_part> &parts) { return List(parts, 64, player_geometry); }  // more has no room

  // Waits for one round of data.
  int Read() {
    int r = player_read(s->c.get(), Timeout());
    Convert();
    return r;
  }

  // Sends the commands above to the devices that are open for writing. A gripper
  // command is sent once.
  int Write() {
    int r = 0;
    if (Writable('p')) r = SetSpeed(newspeed, newturnrate);
    if (!r && Writable('z')) r = SetPTZ(pan, tilt, zoom);
    if (!r && Writable('g') && newgrip != 0) {
      r = SetGripper(static_cast<unsigned char>(newgrip >> 8 & 255), static_cast<unsigned char>(newgrip & 255));
      newgrip = 0;
    }
    return r;
  }

  // Sets newgrip. The command is sent by Write.
  void GripperCommand(unsigned char command, unsigned char value = 0) { newgrip = static_cast<short>(command << 8 | value); }

  // Commands that are sent at once, whatever Write would send.
  int SetSpeed(int speed, int turnrate) { return player_set_speed(s->c.get(), speed, turnrate); }
  int SetPTZ(int p, int t, int z) { return player_set_ptz(s->c.get(), p, t, z); }
  int SetGripper(unsigned char command, unsigned char value = 0) { return player_set_gripper(s->c.get(), command, value); }

  // Sets an output of an io device to a value in its unit (Channels).
  int SetOutput(char device, unsigned char channel, int value) {
    return player_set_output(s->c.get(), device, channel, value);
  }
  // Moves a joint of a servo device, or PLAYER_ALL_JOINTS, to a goal in its unit, at a speed in
  // that unit each second; 0: as the driver moves it. PLAYER_UNKNOWN stops it where it is.
  int MoveJoint(char device, unsigned char joint, int goal, unsigned speed = 0) {
    return player_move_joint(s->c.get(), device, joint, goal, speed);
  }
  // Stops all joints of a servo device where they are.
  int StopJoints(char device) { return player_stop_joints(s->c.get(), device); }
  // Has a goto device drive to a goal around obstacles; its data say how far it has come.
  int SetGoal(char device, const player_goal &goal) { return player_set_goal(s->c.get(), device, &goal); }
  // Has a goto device give its goal up, and stop the wheels.
  int StopGoal(char device) { return player_stop_goal(s->c.get(), device); }
  // Send a command, which needs write access, and a configuration of any layout.
  int Command(char device, const void *payload, size_t size) { return player_command(s->c.get(), device, payload, size); }
  int Config(char device, const void *payload, size_t size) { return player_config(s->c.get(), device, payload, size); }

  int SetDataMode(data_mode_t mode) { return player_set_request_reply(s->c.get(), mode == REQUESTREPLY); }
  // The wheels stop unless SetSpeed is repeated within ms, at most 60000, also when this program
  // hangs; zero speeds stop only what this client drives. 0: commands are good until it leaves.
  int SetCommandLifetime(std::chrono::milliseconds ms) { return player_set_command_lifetime(s->c.get(), static_cast<int>(ms.count())); }
  // Sets the rate of rounds, 1 to 65535 Hz. Others are PLAYER_USAGE.
  int SetFrequency(int hz) { return player_set_frequency(s->c.get(), hz); }
  int RequestData() { return player_request_data(s->c.get()); }
  int ChangeMotorState(unsigned char on) { return player_change_motor_state(s->c.get(), on != 0); }
  int ResetPosition() { return player_reset_position(s->c.get()); }
  int ChangeVelocityControl(velocity_mode_t mode) { return player_change_velocity_control(s->c.get(), mode == SEPARATETRANSROT); }

  // Selects whether a round has only new data. It needs device y open for reading
  // (PROTOCOL 8).
  int SetFresh(bool on) { return player_set_fresh(s->c.get(), on); }

  // Selects the form of rounds: PLAYER_PLAIN, PLAYER_COMPACT or PLAYER_COMPACT_WHEN_FULL.
  int SetCompact(int form) { return player_set_compact(s->c.get(), form); }

  // Sets the name by which people see this client: at most 64 bytes of printable
  // ASCII. An empty name removes it.
  int SetName(const char *name) { return player_set_name(s->c.get(), name); }

  // Stops the robot for all, or releases the stop. While it holds, which it
  // does also when this client has left, the server drops all commands of all
  // clients. It needs no open device, but the right to write; without it the
  // server ignores the call.
  int EmergencyStop(bool on) { return player_emergency_stop(s->c.get(), on); }

  // Reports whether a device has data: its latest block was valid and not empty.
  bool Has(char device) const { return player_has(s->c.get(), device); }
  // Reports whether the latest round has a block of this device.
  bool New(char device) const { return player_new(s->c.get(), device); }
  // The access that the server granted last: r, w, a, c, e; 0 before.
  char Access(char device) const { return player_access(s->c.get(), device); }
  // Why the last Request was refused a device: a word of PROTOCOL 8.9.1, a space, and
  // text for people. Empty if it was not refused, or the server does not say.
  std::string Why(char device) const { return player_why(s->c.get(), device); }
  // The name of a device in the server's list, for example "laser:1"; empty if it is not listed.
  std::string DeviceName(char device) const { return player_device_name(s->c.get(), device); }
  // The text of Why for people.
  std::string Reason(char device) const { return player_reason(s->c.get(), device); }
  // The size of a device's latest block in bytes.
  int Size(char device) const { return player_size(s->c.get(), device); }
  // The age of a device's data when the server made the latest round. There is
  // none if device y is not read, or the device has no data yet.
  std::optional<std::chrono::microseconds> Age(char device) const {
    uint64_t us;
    if (!player_age_us(s->c.get(), device, &us)) return std::nullopt;
    return std::chrono::microseconds(us);
  }
  // The time of the latest round since the server started, if device y is read.
  std::chrono::microseconds ServerTime() const { return std::chrono::microseconds(player_server_time_us(s->c.get())); }
  // The text of the last result that was not zero.
  const char *Error() const { return player_error(s->c.get()); }
  // The file descriptor of the connection, for a program that waits by itself; -1: none.
  int Socket() const { return player_descriptor(s->c.get()); }

  // Prints the data of all devices that have some.
  void Print() const {
    if (Has('p'))
      std::printf("position: time %u x %d y %d heading %d speed %d turn rate %d compass %d stalls %d\n", position->time, position->xpos,
                  position->ypos, position->heading, position->speed, position->turnrate, position->compass, position->stalls);
    if (Has('s')) {
      std::printf("sonar:");
      for (int i = 0; i < PLAYER_SONARS; i++) std::printf(" %d", sonar[i]);
      std::printf("\n");
    }
    if (Has('l')) std::printf("laser: right %d ahead %d left %d\n", laser[0], laser[180], laser[360]);
    if (Has('m')) std::printf("misc: bumpers %d %d voltage %d\n", misc->frontbumpers, misc->rearbumpers, misc->voltage);
    if (Has('z')) std::printf("ptz: pan %d tilt %d zoom %d\n", ptz->pan, ptz->tilt, ptz->zoom);
    if (Has('g')) std::printf("gripper: state %d beams %d\n", player_get_gripper(s->c.get())->state, player_get_gripper(s->c.get())->beams);
    for (int i = 0; Has('v') && i < ACTS_NUM_CHANNELS; i++)
      for (int n = 0; n < vision->NumBlobs[i]; n++)
        std::printf("vision: channel %d area %u x %d y %d\n", i, vision->Blobs[i][n].area, vision->Blobs[i][n].x, vision->Blobs[i][n].y);
  }

private:
  static unsigned short *Mutable(const uint16_t *data) { return const_cast<uint16_t *>(data); }  // as the manual has them
  int Timeout() const {
    return timeout.count() < 0 ? -1 : static_cast<int>(std::min<std::chrono::milliseconds::rep>(timeout.count(), INT32_MAX));
  }
  int Bind(char d, player_laser *to) { return player_bind_laser(s->c.get(), d, to); }
  int Bind(char d, player_sonar *to) { return player_bind_sonar(s->c.get(), d, to); }
  int Bind(char d, player_ranger *to) { return player_bind_ranger(s->c.get(), d, to); }
  int Bind(char d, player_imu *to) { return player_bind_imu(s->c.get(), d, to); }
  int Bind(char d, player_gps *to) { return player_bind_gps(s->c.get(), d, to); }
  int Bind(char d, player_io *to) { return player_bind_io(s->c.get(), d, to); }
  int Bind(char d, player_servo *to) { return player_bind_servo(s->c.get(), d, to); }
  int Bind(char d, player_goto *to) { return player_bind_goto(s->c.get(), d, to); }
  int Bind(char d, player_misc *to) { return player_bind_misc(s->c.get(), d, to); }
  int Bind(char d, player_gripper *to) { return player_bind_gripper(s->c.get(), d, to); }
  int Bind(char d, player_ptz *to) { return player_bind_ptz(s->c.get(), d, to); }
  int Bind(char d, player_vision *to) { return player_bind_vision(s->c.get(), d, to); }
  int Bind(char d, player_joystick *to) { return player_bind_joystick(s->c.get(), d, to); }

  // Has a question answered into a list, of at most room.
  template <typename Item>
  int List(std::vector<Item> &items, size_t room, player_result ask(player_client *, Item *, size_t, size_t *, int)) {
    size_t count = 0;
    items.resize(room);
    int r = ask(s->c.get(), items.data(), room, &count, Timeout());
    items.resize(count);
    Convert();
    return r;
  }
  bool Writable(char device) const { return Access(device) == 'w' || Access(device) == 'a'; }

  // Brings the manual's structures up to date.
  void Convert() {
    const player_client *c = s->c.get();
    const player_position &p = *player_get_position(c);
    const player_misc &m = *player_get_misc(c);
    const player_ptz &z = *player_get_ptz(c);
    const player_gripper &g = *player_get_gripper(c);
    const player_joystick &j = *player_get_joystick(c);
    const player_vision &v = *player_get_vision(c);
    *position = {p.time, p.x, p.y, p.heading, p.compass, p.speed, p.turnrate, p.stall};
    *misc = {m.front, m.rear, m.voltage, m.battery};
    *ptz = {z.pan, z.tilt, z.zoom};
    auto state = [&](int bit) { return static_cast<unsigned char>((g.state & bit) != 0); };
    auto beams = [&](int bit) { return static_cast<unsigned char>((g.beams & bit) != 0); };
    gripper->paddlesOpen = state(PLAYER_PADDLES_OPEN);
    gripper->paddlesClose = state(PLAYER_PADDLES_CLOSED);
    gripper->paddlesMoving = state(PLAYER_PADDLES_MOVING);
    gripper->paddlesError = state(PLAYER_PADDLES_ERROR);
    gripper->leftPaddleOpen = beams(PLAYER_LEFT_PADDLE_OPEN);
    gripper->rightPaddleOpen = beams(PLAYER_RIGHT_PADDLE_OPEN);
    gripper->gripLimitReached = beams(PLAYER_GRIP_LIMIT);
    gripper->liftUp = state(PLAYER_LIFT_UP);
    gripper->liftDown = state(PLAYER_LIFT_DOWN);
    gripper->liftMoving = state(PLAYER_LIFT_MOVING);
    gripper->liftError = state(PLAYER_LIFT_ERROR);
    gripper->liftLimitReached = beams(PLAYER_LIFT_LIMIT);
    gripper->outerBeamObstructed = beams(PLAYER_OUTER_BEAM);
    gripper->innerBeamObstructed = beams(PLAYER_INNER_BEAM);
    joystick->buttons = j.buttons;
    std::copy(j.axes, j.axes + PLAYER_AXES, joystick->axes);
    if (!Has('v')) return;
    for (int i = 0; i < ACTS_NUM_CHANNELS; i++) {
      vision->NumBlobs[i] = static_cast<char>(v.count[i]);
      for (int n = 0; n < v.count[i]; n++) {
        const player_blob &b = v.blobs[i][n];
        s->blobs[i][n] = {b.area, b.x, b.y, b.left, b.right, b.top, b.bottom};
      }
    }
  }
};

}  // namespace player

#endif
