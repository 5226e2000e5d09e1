// SPDX-License-Identifier: Apache-2.0
#include "core.hpp"

#include <poll.h>
#include <locale>
#include <random>
#include <sstream>
#include <thread>

#include "player_struct.h"
#include "simulation.hpp"

namespace playerc {

using namespace std::chrono;

double Radians(double degrees) { return degrees * M_PI / 180; }
double Degrees(double radians) { return radians * 180 / M_PI; }

double Normal(double angle) {
  angle = std::remainder(angle, 2 * M_PI);
  return angle <= -M_PI ? M_PI : angle;
}

player_pose3d_t At(double x, double y, double yaw) { return {x, y, 0, 0, 0, yaw}; }

// The horizontal field of view of the EVI-D30 at both ends of its zoom, degrees. It is
// linear in between (docs/STAGE.md).
constexpr double wide = 48.8, tele = 4.4, max_zoom = 1023;

double FieldOfView(double zoom) { return Radians(wide + (tele - wide) * zoom / max_zoom); }
double Zoom(double fov) { return std::clamp(max_zoom * (Degrees(fov) - wide) / (tele - wide), 0.0, max_zoom); }

// ---- Settings ----

// How the server names the devices of each kind.
static const struct {
  char kind;
  const char *name;
} served[] = {{'p', "position"}, {'l', "laser"}, {'s', "sonar"}, {'m', "misc"}, {'g', "gripper"}, {'z', "ptz"}, {'v', "vision"},
              {ranger_kind, "ranger"}, {imu_kind, "imu"}, {gps_kind, "gps"}, {io_kind, "io"}, {servo_kind, "servo"}, {goto_kind, "goto"}};

static std::string served_as(char kind) {
  for (auto &s : served)
    if (s.kind == kind) return s.name;
  return "";
}

static bool has_letter(char kind, uint32_t number) { return number == 0 && kind >= 'a'; }

// Splits the name of a device, for example laser:1 or laser, into its kind and its number.
// It returns 0 if the name is none.
static char split(const std::string &name, uint32_t &number) {
  number = 0;
  size_t colon = name.find(':');
  char rest;
  if (colon != std::string::npos && sscanf(name.c_str() + colon, ":%u%c", &number, &rest) != 1) return 0;
  for (auto &s : served)
    if (name.compare(0, colon, s.name) == 0) return s.kind;
  return 0;
}

static std::string variable(const char *name) {
  const char *value = getenv(name);
  return value ? value : "";
}

static Failure misunderstood(const char *name, const std::string &value, const std::string &expected) {
  return {"the environment has " + std::string(name) + "=" + value + ", which has to be " + expected};
}

Settings Settings::Read() {
  Settings s;
  std::string v = variable("PLAYERC_STEP");
  if (v == "1") s.step = true;
  else if (v != "" && v != "0") throw misunderstood("PLAYERC_STEP", v, "0 or 1");
  v = variable("PLAYERC_MISSING");
  if (v == "warn") s.tolerant = true;
  else if (v != "" && v != "throw") throw misunderstood("PLAYERC_MISSING", v, "warn or throw");
  v = variable("PLAYERC_RANGERS");
  std::istringstream names(v);
  for (std::string name; std::getline(names, name, ',');) {
    uint32_t number;
    if (!strchr("lsR", split(name, number)) || !split(name, number)) throw misunderstood("PLAYERC_RANGERS", v, "devices, as sonar,laser or laser,ranger:1");
    s.rangers.push_back(name);
  }
  v = variable("PLAYERC_READINGS");
  if (v == "all") s.every_reading = true;
  else if (v != "" && v != "nearest") throw misunderstood("PLAYERC_READINGS", v, "nearest or all");
  v = variable("PLAYERC_LASER");
  if (v != "") {
    s.resampled = true;
    unsigned angle;
    char rest;
    if (sscanf(v.c_str(), "%u,%u%c", &s.laser_count, &angle, &rest) != 2 || s.laser_count < 2 || s.laser_count > 10000 || angle < 1 || angle > 360)
      throw misunderstood("PLAYERC_LASER", v, "the number of readings and their angle in degrees, as 180,180");
    s.laser_angle = Radians(angle);
  }
  v = variable("PLAYERC_BUMPERS");
  if (v == "all") s.bumpers = All;
  else if (v == "create") s.bumpers = Create;
  else if (v != "" && v != "two") throw misunderstood("PLAYERC_BUMPERS", v, "two, all or create");
  v = variable("PLAYERC_BLOBFINDER");
  if (v != "") {
    char rest;
    if (sscanf(v.c_str(), "%ux%u%c", &s.width, &s.height, &rest) != 2 || s.width < 1 || s.width > 10000 || s.height < 1 || s.height > 10000)
      throw misunderstood("PLAYERC_BLOBFINDER", v, "the size of the image in pixels, as 80x60");
  }
  s.simulation = v = variable("PLAYERC_SIMULATION");
  if (v != "" && (v.find("://") != std::string::npos || v.rfind(':') == std::string::npos)) throw misunderstood("PLAYERC_SIMULATION", v, "HOST:PORT");
  s.robot = variable("PLAYERC_ROBOT");
  return s;
}

// ---- Interfaces ----

static const Interface interfaces[] = {
    {PLAYER_POSITION2D_CODE, "position2d", 'p', 'a'},
    {PLAYER_LASER_CODE, "laser", 'l', 'r'},
    {PLAYER_SONAR_CODE, "sonar", 's', 'r'},
    {PLAYER_IR_CODE, "ir", 's', 'r'},
    {PLAYER_RANGER_CODE, "ranger", ranger_kind, 'r'}, // also a laser or sonars: a setting says which
    {PLAYER_BUMPER_CODE, "bumper", 'm', 'r'},
    {PLAYER_POWER_CODE, "power", 'm', 'r'},
    {PLAYER_GRIPPER_CODE, "gripper", 'g', 'a'},
    {PLAYER_PTZ_CODE, "ptz", 'z', 'a'},
    {PLAYER_BLOBFINDER_CODE, "blobfinder", 'v', 'r'},
    {PLAYER_IMU_CODE, "imu", imu_kind, 'r'},
    {PLAYER_GPS_CODE, "gps", gps_kind, 'r'},
    {PLAYER_DIO_CODE, "dio", io_kind, 'a'},
    {PLAYER_AIO_CODE, "aio", io_kind, 'a'},
    {PLAYER_ACTARRAY_CODE, "actarray", servo_kind, 'a'},
    {PLAYER_SIMULATION_CODE, "simulation", 0, 0},
    {PLAYER_GRAPHICS2D_CODE, "graphics2d", 0, 0},
    {PLAYER_CAMERA_CODE, "camera", 0, 0},
    {PLAYER_LOCALIZE_CODE, "localize", 0, 0},
    {PLAYER_PLANNER_CODE, "planner", 0, 0},
    {PLAYER_FIDUCIAL_CODE, "fiducial", 0, 0},
    {PLAYER_SPEECH_CODE, "speech", 0, 0},
    {PLAYER_OPAQUE_CODE, "opaque", 0, 0},
    {PLAYER_MAP_CODE, "map", 0, 0},
    {PLAYER_POSITION3D_CODE, "position3d", 0, 0},
};

const Interface *FindInterface(int code) {
  for (const Interface &i : interfaces)
    if (i.code == code) return &i;
  return nullptr;
}

const Interface *FindInterface(const std::string &name) {
  for (const Interface &i : interfaces)
    if (i.name == name) return &i;
  return nullptr;
}

// ---- Devices without a letter ----

static int limit(const player::CRobot &robot) { return static_cast<int>(std::clamp<milliseconds::rep>(robot.timeout.count(), 0, 1 << 30)); }

static player_result bind(player_client *c, char device, player_ranger &to) { return player_bind_ranger(c, device, &to); }
static player_result bind(player_client *c, char device, player_laser &to) { return player_bind_laser(c, device, &to); }
static player_result bind(player_client *c, char device, player_sonar &to) { return player_bind_sonar(c, device, &to); }
static player_result bind(player_client *c, char device, player_misc &to) { return player_bind_misc(c, device, &to); }
static player_result bind(player_client *c, char device, player_gripper &to) { return player_bind_gripper(c, device, &to); }
static player_result bind(player_client *c, char device, player_ptz &to) { return player_bind_ptz(c, device, &to); }
static player_result bind(player_client *c, char device, player_vision &to) { return player_bind_vision(c, device, &to); }
static player_result bind(player_client *c, char device, player_imu &to) { return player_bind_imu(c, device, &to); }
static player_result bind(player_client *c, char device, player_gps &to) { return player_bind_gps(c, device, &to); }
static player_result bind(player_client *c, char device, player_io &to) { return player_bind_io(c, device, &to); }
static player_result bind(player_client *c, char device, player_servo &to) { return player_bind_servo(c, device, &to); }
static player_result bind(player_client *c, char device, player_goto &to) { return player_bind_goto(c, device, &to); }

// Gives the data of a device the type of its kind.
static void prepare(Named &n, char kind) {
  switch (kind) {
  case 'l': n.data.emplace<player_laser>(); break;
  case 's': n.data.emplace<player_sonar>(); break;
  case 'm': n.data.emplace<player_misc>(); break;
  case 'g': n.data.emplace<player_gripper>(); break;
  case 'z': n.data.emplace<player_ptz>(); break;
  case 'v': n.data.emplace<player_vision>(); break;
  case imu_kind: n.data.emplace<player_imu>(); break;
  case gps_kind: n.data.emplace<player_gps>(); break;
  case io_kind: n.data.emplace<player_io>(); break;
  case servo_kind: n.data.emplace<player_servo>(); break;
  case goto_kind: n.data.emplace<player_goto>(); break;
  default: n.data.emplace<player_ranger>();
  }
}

// Opens the device of a slot on a connection. It returns a player_result.
static int find(player::CRobot &robot, const Slot &slot, Named &n) {
  prepare(n, slot.kind);
  player_client *c = robot.Client();
  int r = player_open(c, slot.name.c_str(), slot.access, &n.byte, limit(robot));
  if (r != PLAYER_OK) return r;
  r = std::visit([&](auto &data) { return bind(c, n.byte, data); }, n.data);
  if (r != PLAYER_OK) return r;
  if (slot.kind == ranger_kind) {
    std::vector<player_ray> all;
    r = robot.Rays(all);
    std::copy_if(all.begin(), all.end(), std::back_inserter(n.rays), [&](const player_ray &ray) { return ray.device == n.byte && ray.count > 0; });
  } else if (slot.kind == io_kind || slot.kind == servo_kind) {
    std::vector<player_channel> all;
    r = robot.Channels(all);
    std::copy_if(all.begin(), all.end(), std::back_inserter(n.channels), [&](const player_channel &channel) { return channel.device == n.byte; });
  }
  return r;
}

uint32_t Link::Count(char kind) {
  if (!asked) asked = robot->Devices(entries) == PLAYER_OK;
  std::string begin = served_as(kind) + ":";
  auto is = [&](const player_entry &e) { return !strncmp(e.name, begin.c_str(), begin.size()); };
  return static_cast<uint32_t>(std::count_if(entries.begin(), entries.end(), is));
}

// ---- Client ----

// Clients are all of this program. In step, each of them has to ask for its next round
// before time goes on for one that waits.
struct Clients {
  std::mutex mutex;
  std::vector<std::weak_ptr<Client>> all;
  std::atomic<long> rounds{0}; // that have come to the connection that has most
};

static Clients &clients() {
  static Clients c;
  return c;
}

Client::Client(const std::string &h, uint32_t p) : host(h), port(p), settings(Settings::Read()) {}

std::shared_ptr<Client> Client::Connect(const std::string &host, uint32_t port, milliseconds patience) {
  std::shared_ptr<Client> c(new Client(host, port));
  c->patience = patience;
  c->links[0] = c->Dial(port);
  std::lock_guard<std::mutex> lock(clients().mutex);
  std::vector<std::weak_ptr<Client>> alive{c};
  for (auto &other : clients().all)
    if (!other.expired()) alive.push_back(other);
  clients().all.swap(alive);
  return c;
}

Client::~Client() {
  {
    std::lock_guard<std::mutex> lock(leaving);
    ending = true;
  }
  leave.notify_all();
  if (attendant.joinable()) attendant.join();
}

void Client::Assist() {
  // In step, data comes with the reads of the program only.
  if (!settings.step && !attendant.joinable()) attendant = std::thread([this] { Attend(); });
}

// Takes the rounds that the program does not read, so that one on its way to a goal or a heading need not.
void Client::Attend() {
  for (;;) {
    {
      constexpr milliseconds pause(20); // of 100 from round to round
      std::unique_lock<std::mutex> lock(leaving);
      if (leave.wait_for(lock, pause, [this] { return ending; })) return;
    }
    std::unique_lock<std::mutex> reader(reading, std::try_to_lock);
    if (!reader) continue; // the program reads
    try {
      Link *link;
      {
        std::lock_guard<std::recursive_mutex> lock(mutex);
        link = links[0].get();
        if (std::none_of(devices.begin(), devices.end(), [](Device *d) { return d->goal || d->course; })) continue;
        Taken taken = Take(*link);
        if (taken == Taken::Round) Approach();
        if (taken != Taken::Lost) continue;
      }
      Restore(*link);
    } catch (...) { // the program's next call reports it
    }
  }
}

// Passes new data to all devices on their way.
void Client::Approach() {
  for (Device *d : devices) d->Approach();
}

std::unique_ptr<Link> Client::Dial(uint32_t number) {
  auto link = std::make_unique<Link>();
  player::CRobot &robot = *link->robot;
  robot.host = host;
  robot.port = static_cast<int>(number);
  robot.timeout = patience;
  // CRobot.Connect prints why it fails; here the program says so, if it wants to.
  if (robot.TryConnect() != 0)
    throw Failure{"cannot connect to " + host + " port " + std::to_string(number) + " (" + robot.Error() + "): is the server running there?"};
  robot.SetName(program_invocation_short_name);
  if (settings.step) robot.SetDataMode(player::REQUESTREPLY);
  link->requested = link->taken = clients().rounds;
  // The ages of data. An old server does not have them.
  int r = robot.Request("yr");
  if (r != PLAYER_OK && r != PLAYER_REFUSED) throw Failure{host + " port " + std::to_string(number) + " is no Player server: " + robot.Error()};
  return link;
}

Link *Client::At(uint32_t index) {
  auto found = links.find(index);
  if (found != links.end()) return found->second.get();
  return (links[index] = Dial(port + index)).get();
}

void Client::Stop() {
  {
    std::lock_guard<std::mutex> lock(leaving);
    stopping = true;
  }
  leave.notify_all();
}

void Client::Close() {
  {
    std::lock_guard<std::mutex> lock(leaving);
    closed = true;
  }
  leave.notify_all();
  std::lock_guard<std::recursive_mutex> lock(mutex);
  for (auto &[index, link] : links) link->robot->Close();
}

bool Client::Connected() {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  return links[0]->robot->Socket() >= 0;
}

// In step, asks for the next round of each connection of this program, unless the own one
// has arrived. Time goes on when the last of them has been asked: one thread may read its
// clients in any order.
void Client::Ask(bool insist) {
  if (!settings.step) return;
  long round; // that it waits for
  {
    std::lock_guard<std::recursive_mutex> lock(mutex);
    if (Take(*links[0]) != Taken::Nothing) return; // Wait reports a loss
    round = links[0]->taken + 1;
  }
  std::vector<std::shared_ptr<Client>> all;
  {
    std::lock_guard<std::mutex> lock(clients().mutex);
    for (auto &c : clients().all)
      if (auto alive = c.lock()) all.push_back(alive);
  }
  long most = 0; // rounds that a connection has
  for (auto &c : all) {
    std::lock_guard<std::recursive_mutex> lock(c->mutex);
    for (auto &[index, link] : c->links) {
      most = std::max(most, link->taken);
      c->Take(*link); // its own Read reports a loss
      // Not before the others need it: a program computes commands from its data, and the
      // server may see the command of one connection behind the request of another.
      if (link->requested == link->taken && (link->taken < round || insist) && link->robot->RequestData() == PLAYER_OK) link->requested++;
    }
  }
  if (!insist) return;
  // A connection that began with a round from before the time went on is one ahead of
  // another, whose device had no data yet. From now on they count alike.
  std::lock_guard<std::recursive_mutex> lock(mutex);
  long behind = std::max(0L, most - links[0]->taken);
  links[0]->taken += behind;
  links[0]->requested += behind;
}

// Takes all rounds that have arrived, without waiting, and returns whether the program has
// one to read: a program that is slower than its robot sees the newest data. A loss is
// reported as soon as nothing came before it, also while a round waits for the program.
Client::Taken Client::Take(Link &link) {
  bool came = false;
  for (;;) {
    link.robot->timeout = milliseconds(0);
    int r = link.robot->Read();
    link.robot->timeout = patience;
    switch (r) {
    case PLAYER_OK:
      came = link.waiting = true;
      link.requested = std::max(link.requested, ++link.taken);
      clients().rounds = std::max<long>(clients().rounds, link.taken);
      break;
    case PLAYER_TIMEOUT:
      return link.waiting ? Taken::Round : Taken::Nothing;
    case PLAYER_PROTOCOL:
      break; // a block that is skipped
    case PLAYER_USAGE: // an old server, and no device is open: there is nothing to read
      std::this_thread::sleep_for(milliseconds(100));
      return Taken::Round;
    default:
      return came ? Taken::Round : Taken::Lost; // the next call reports the loss
    }
  }
}

// Gives a connection the data of another one, until it has its own.
static void Keep(player::CRobot &from, player::CRobot &to) {
  const player_client &old = *from.Client();
  player_client &next = *to.Client();
  std::copy_n(old.sonar, PLAYER_SONARS, next.sonar);
  std::copy_n(old.laser, PLAYER_LASERS, next.laser);
  next.position = old.position;
  next.misc = old.misc;
  next.gripper = old.gripper;
  next.ptz = old.ptz;
  *to.position = *from.position;
}

// Connects again. It is called by the one that reads. The mutex is free meanwhile, so that other
// threads, for which the connection is lost, do not wait.
void Client::Restore(Link &link) {
  uint32_t number;
  std::string why, wanted;
  std::vector<Slot *> slots;
  {
    std::lock_guard<std::recursive_mutex> lock(mutex);
    number = static_cast<uint32_t>(link.robot->port);
    why = link.robot->Error();
    for (auto &[letter, n] : link.users) {
      if (n <= 0) continue;
      wanted += letter;
      wanted += letter == 'p' || letter == 'g' || letter == 'z' ? 'a' : 'r';
    }
    for (auto &[name, slot] : link.slots)
      if (slot.users > 0) slots.push_back(&slot);
  }
  for (int left = retries; left != 0; left -= left > 0) {
    {
      std::unique_lock<std::mutex> lock(leaving);
      if (leave.wait_for(lock, duration<double>(retry_pause), [this] { return stopping || closed || ending; })) break;
    }
    try {
      auto made = Dial(number);
      int r = wanted.empty() ? PLAYER_OK : made->robot->Request(wanted.c_str());
      // The server may have other bytes for them now.
      std::vector<std::unique_ptr<Named>> found;
      for (Slot *slot : slots) {
        if (r != PLAYER_OK && r != PLAYER_REFUSED) break;
        found.push_back(std::make_unique<Named>());
        r = find(*made->robot, *slot, *found.back());
      }
      if (r == PLAYER_OK && !slots.empty()) r = made->robot->Geometry(made->parts);
      if (r == PLAYER_OK && !slots.empty()) r = made->robot->ChannelColors(made->colors);
      if (r != PLAYER_OK && r != PLAYER_REFUSED) continue;
      std::lock_guard<std::recursive_mutex> lock(mutex);
      if (std::lock_guard<std::mutex> leaver(leaving); closed) break;
      Keep(*link.robot, *made->robot);
      for (size_t i = 0; i < slots.size(); i++) {
        if (!made->robot->Has(found[i]->byte)) found[i]->data = slots[i]->named->data;
        slots[i]->named.swap(found[i]);
      }
      if (!slots.empty()) {
        link.parts.swap(made->parts);
        link.colors.swap(made->colors);
      }
      link.robot.swap(made->robot);
      link.requested = link.taken;
      for (Device *d : devices) // the server has given their goals up
        if (d->link == &link && d->goal) d->Aim();
      return;
    } catch (const Failure &) { // the next attempt
    }
  }
  throw Failure{"the connection to " + host + " port " + std::to_string(number) + " is lost: " + why};
}

// Waits for a round of a connection. It reports false at the deadline, or if stopping.
bool Client::Wait(Link &link, steady_clock::time_point deadline) {
  for (int slices = 0;; slices++) {
    int socket;
    Taken taken;
    {
      std::lock_guard<std::recursive_mutex> lock(mutex);
      taken = Take(link);
      socket = link.robot->Socket();
    }
    if (taken == Taken::Round) return true;
    if (taken == Taken::Lost) {
      Restore(link);
      continue;
    }
    auto left = ceil<milliseconds>(deadline - steady_clock::now());
    if (left.count() <= 0 || stopping) return false;
    pollfd p{socket, POLLIN, 0};
    // Stopping is checked ten times a second. In step, the round of another client may
    // have come meanwhile: it has to ask again before this one gets more.
    milliseconds::rep slice = settings.step ? 5 : 100;
    // Of clients of different worlds one may lack a round: half a second is enough.
    if (poll(&p, 1, static_cast<int>(std::min(left.count(), slice))) == 0) Ask(slices > 100);
  }
}

bool Client::Peek(milliseconds timeout) {
  std::lock_guard<std::mutex> reader(reading);
  Ask();
  return Wait(*links[0], steady_clock::now() + timeout);
}

void Client::Read() {
  std::lock_guard<std::mutex> reader(reading);
  if (Round() && Incomplete()) Round();
}

// Waits for a round of all connections and delivers it. It reports false if stopping.
bool Client::Round() {
  Ask();
  constexpr auto never = hours(24 * 365 * 100);
  if (!Wait(*links[0], steady_clock::now() + never)) return false;
  for (auto &[index, link] : links) {
    if (index == 0) continue;
    if (settings.step) {
      if (!Wait(*link, steady_clock::now() + never)) return false;
    } else {
      bool lost;
      {
        std::lock_guard<std::recursive_mutex> lock(mutex);
        lost = Take(*link) == Taken::Lost;
      }
      if (lost) Restore(*link);
    }
  }
  Deliver();
  return true;
}

// Reports whether a device has no data after the first round since it was opened. In
// step, a device that is opened after another one has data in the second round.
bool Client::Incomplete() {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  bool any = false;
  for (Device *d : devices) {
    any = any || (d->opened && !d->valid);
    d->opened = false;
  }
  return any;
}

// Gives all devices the rounds that have been taken, and calls the functions that wait for them.
void Client::Deliver() {
  std::vector<std::function<void()>> calls;
  // The dashboard is asked before the lock is taken: it may not answer.
  std::map<uint32_t, std::vector<player_fiducial_item_t>> seen;
  std::map<std::string, Picture> taken; // by camera
  {
    std::lock_guard<std::recursive_mutex> lock(mutex);
    for (Device *d : devices)
      if (d->interface.code == PLAYER_FIDUCIAL_CODE && !d->absent) seen[d->index];
      else if (!d->camera.empty()) taken[d->camera];
  }
  for (auto &[name, picture] : taken) picture = TakePicture(*this, name);
  for (auto &[index, items] : seen) items = WorldFiducials(*this, index);
  {
    std::lock_guard<std::recursive_mutex> lock(mutex);
    for (Device *d : devices) {
      double now = duration<double>(steady_clock::now().time_since_epoch()).count();
      if ((d->interface.code == PLAYER_FIDUCIAL_CODE && !d->absent) || !d->camera.empty()) {
        auto found = seen.find(d->index);
        auto picture = taken.find(d->camera);
        if (d->camera.empty() ? found == seen.end() : picture == taken.end()) continue; // it was made meanwhile
        if (d->camera.empty()) d->fiducials = found->second;
        else d->picture = picture->second;
        d->elapsed = d->valid ? now - d->time : 0;
        d->time = now;
        d->valid = d->fresh = true;
        for (auto &slot : d->slots) calls.push_back(slot.second);
        continue;
      }
      if (d->absent || !d->link->waiting) continue;
      const player::CRobot &robot = *d->link->robot;
      if (!robot.Has(d->Byte())) continue;
      if (auto age = robot.Age(d->Byte())) now = duration<double>(robot.ServerTime() - *age).count();
      constexpr double rounding = 1e-4; // s: ages are whole us
      // In step each round is new, however little real time has passed.
      if (!settings.step && d->valid && std::fabs(now - d->time) < rounding) continue;
      d->elapsed = d->valid ? now - d->time : 0;
      d->time = now;
      d->valid = d->fresh = true;
      for (auto &slot : d->slots) calls.push_back(slot.second);
    }
    Approach();
    for (auto &[index, link] : links) link->waiting = false;
  }
  for (auto &call : calls) call();
}

// ---- Devices ----

const player_part *Link::Part(char device, int number) const {
  for (const player_part &p : parts)
    if (p.device == device && p.number == number) return &p;
  return nullptr;
}

// Opens a device of a kind. It returns why not.
static std::string open(Link &link, char kind, uint32_t number, char access, Slot *&slot) {
  player::CRobot &robot = *link.robot;
  slot = nullptr;
  int r;
  char byte = kind;
  if (has_letter(kind, number)) {
    const char pairs[] = {kind, access, 0};
    r = robot.Request(pairs);
    if (r == PLAYER_OK) link.users[kind]++;
  } else {
    std::string name = served_as(kind) + ":" + std::to_string(number);
    Slot &found = link.slots[name];
    found.name = name;
    found.kind = kind;
    found.access = access;
    r = PLAYER_OK;
    if (found.users == 0) {
      auto named = std::make_unique<Named>();
      r = find(robot, found, *named);
      byte = named->byte;
      if (r == PLAYER_OK) found.named = std::move(named);
    }
    if (r == PLAYER_OK) {
      found.users++;
      slot = &found;
    }
  }
  if (r == PLAYER_OK) {
    robot.Geometry(link.parts); // an older server does not answer
    if (kind == 'v') robot.ChannelColors(link.colors);
    return "";
  }
  std::string reason = byte ? robot.Reason(byte) : "";
  return reason.empty() ? robot.Error() : reason;
}

// Ends the use of a device, and closes it with the last one. Nothing depends on the reply, which
// the next call takes.
static void release(Link &link, char kind, Slot *slot, milliseconds patience) {
  if (--(slot ? slot->users : link.users[kind]) > 0 || link.robot->Socket() < 0) return;
  const char pairs[] = {slot ? slot->named->byte : kind, 'c', 0};
  link.robot->timeout = milliseconds(0);
  link.robot->Request(pairs);
  link.robot->timeout = patience;
}

// Opens the n-th of some devices of a robot, for a device. Those that it does not have are not
// counted: it returns why not, and how many there are.
static std::string open_ranger(Link &link, const std::vector<std::string> &names, uint32_t n, Device &d, uint32_t &count) {
  std::string why;
  count = 0;
  for (const std::string &name : names) {
    uint32_t number;
    char kind = split(name, number);
    Slot *slot;
    std::string refused = open(link, kind, number, 'r', slot);
    if (!refused.empty()) {
      why += (why.empty() ? "" : "; ") + refused;
      continue;
    }
    if (count++ == n) {
      d.link = &link;
      d.kind = kind;
      d.slot = slot;
      return "";
    }
    release(link, kind, slot, link.robot->timeout);
  }
  return why.empty() ? "the robot has " + std::to_string(count) + " of them, see PLAYERC_RANGERS" : why;
}

// Has a device read the ranger that is the same sensor as its laser, if the robot has one: with
// the readings and angles that the world or the hardware gives it.
static void sharpen(Link &link, Device &d) {
  std::vector<player_ray> rays;
  if (link.Count(ranger_kind) == 0 || link.robot->Rays(rays) != PLAYER_OK) return;
  auto sensors = [&](char device) { return std::count_if(rays.begin(), rays.end(), [&](const player_ray &r) { return r.device == device; }); };
  auto middle = [](const player_ray &r) { return r.heading + r.step * (r.count - 1) / 2; };
  constexpr double near_by = 1, aligned_by = 0.5; // mm and degrees: they are rounded
  const player_ray *laser = nullptr;
  for (const player_ray &r : rays)
    if (r.device == d.Byte()) laser = &r;
  for (const player_ray &r : rays) {
    std::string name = link.robot->DeviceName(r.device);
    uint32_t number;
    if (!laser || split(name, number) != ranger_kind || sensors(r.device) != 1 || r.count < 2) continue;
    if (std::hypot(r.x - laser->x, r.y - laser->y) > near_by || std::fabs(std::remainder(middle(r) - middle(*laser), 360)) > aligned_by) continue;
    Slot *slot;
    if (!open(link, ranger_kind, number, 'r', slot).empty()) continue;
    release(link, d.kind, d.slot, link.robot->timeout);
    d.kind = ranger_kind;
    d.slot = slot;
    return;
  }
}

// The index counts the devices of the robot, and then the devices of the robots at the next ports. A
// robot whose server lists no more than one has one.
void Client::Open(Device &d) {
  char kind = d.interface.kind;
  bool ranger = d.interface.code == PLAYER_RANGER_CODE;
  uint32_t n = d.index, distance = 0;
  if (kind == 'p') {
    distance = n;
    n = 0;
  }
  for (std::string before;;) {
    Link *link;
    try {
      link = At(distance);
    } catch (const Failure &f) {
      throw Failure{before + f.text};
    }
    uint32_t count = 1;
    if (ranger && (!settings.rangers.empty() || link->Count(kind) == 0)) {
      std::string why = open_ranger(*link, settings.rangers.empty() ? std::vector<std::string>{"sonar", "laser"} : settings.rangers, n, d, count);
      if (why.empty()) return;
      if (count == 0 || !settings.rangers.empty()) throw Failure{before + why};
    } else {
      if (n > 0 || kind < 'a') count = link->Count(kind);
      if (n > 0 && count <= 1 && kind >= 'a') { // one for each robot
        distance += n;
        n = 0;
        continue;
      }
      if (n < count || count == 0) {
        std::string why = open(*link, kind, n, d.interface.access, d.slot);
        if (!why.empty()) throw Failure{before + why};
        d.link = link;
        if (d.interface.code == PLAYER_LASER_CODE && !settings.resampled) sharpen(*link, d);
        return;
      }
    }
    n -= count;
    distance++;
    before = "the robot has " + std::to_string(count) + " of them, and the next one: ";
  }
}

Device::Device(std::shared_ptr<Client> c, const Interface &i, uint32_t n)
    : interface(i), index(n), kind(i.kind), client(std::move(c)), link(nullptr) {
  std::lock_guard<std::recursive_mutex> lock(client->mutex);
  std::string why;
  try {
    if (kind) {
      client->Open(*this);
    } else if (i.code == PLAYER_FIDUCIAL_CODE) {
      WorldFiducials(*client, n);
      link = client->links[0].get();
    } else if (i.code == PLAYER_CAMERA_CODE) {
      camera = FindCamera(*client, n);
      link = client->links[0].get();
    } else if (i.code != PLAYER_SIMULATION_CODE && i.code != PLAYER_GRAPHICS2D_CODE) {
      why = "this server has no such devices, see clients/playerc/README.md";
    }
  } catch (const Failure &f) {
    why = f.text;
  }
  if (!why.empty()) {
    std::string text = std::string(i.name) + ":" + std::to_string(n) + " is not here: " + why;
    if (!client->settings.tolerant) throw Failure{text};
    fprintf(stderr, "playerc: %s; the program goes on without it\n", text.c_str());
    link = nullptr;
  }
  if (!link) {
    absent = true;
    link = client->links[0].get();
  }
  opened = !absent;
  client->devices.push_back(this);
}

Device::~Device() {
  std::lock_guard<std::recursive_mutex> lock(client->mutex);
  auto &all = client->devices;
  all.erase(std::remove(all.begin(), all.end(), this), all.end());
  if (absent || !kind) return;
  // Nothing steers any more: the robot would keep the latest speed while another proxy is open.
  if ((goal || course) && link->robot->Socket() >= 0) link->robot->SetSpeed(0, 0);
  release(*link, kind, slot, client->patience);
  if (way) release(*link, goto_kind, way, client->patience);
}

void Device::Send(const std::function<int(player::CRobot &)> &order) {
  std::lock_guard<std::recursive_mutex> lock(client->mutex);
  if (absent) return;
  if (order(*link->robot) != PLAYER_OK) throw Failure{std::string(interface.name) + ":" + std::to_string(index) + ": " + link->robot->Error()};
}

void Device::Command(const std::vector<uint8_t> &payload) {
  Send([&](player::CRobot &robot) { return robot.Command(Byte(), payload.data(), payload.size()); });
}

// Rounds to a whole number that a command has room for. A speed above zero stays so: a
// loop that turns slowly to its goal must not stand still before it.
static int whole(double v) {
  double r = std::round(v);
  if (r == 0 && v != 0) r = v > 0 ? 1 : -1;
  return static_cast<int>(std::clamp(r, -32767.0, 32767.0));
}

void Device::Relieve() {
  for (Device *d : client->devices) {
    if (d->link != link || d->kind != kind) continue;
    d->goal.reset();
    d->course.reset();
  }
}

void Device::Drive(double speed, double turnrate) {
  if (!std::isfinite(speed) || !std::isfinite(turnrate)) throw Failure{"a speed is not a number"};
  std::lock_guard<std::recursive_mutex> lock(client->mutex);
  Relieve();
  Send([&](player::CRobot &robot) { return robot.SetSpeed(whole(speed * 1000), whole(Degrees(turnrate))); });
}

static player_pose2d_t raw(const player::CRobot &robot) {
  int heading = robot.position->heading;
  return {robot.position->xpos / 1000.0, robot.position->ypos / 1000.0, Radians(heading > 180 ? heading - 360 : heading)};
}

// Turns a pose of the program's odometry to the robot's, in mm.
static std::pair<int, int> place(const Device &d, player_pose2d_t pose) {
  constexpr double furthest = 1e5; // m: a goal beyond is as good as none
  double turn = d.origin.pa - d.target.pa, x = pose.px - d.target.px, y = pose.py - d.target.py;
  auto mm = [&](double v) { return static_cast<int>(std::lround(std::clamp(v, -furthest, furthest) * 1000)); };
  return {mm(d.origin.px + x * cos(turn) - y * sin(turn)), mm(d.origin.py + x * sin(turn) + y * cos(turn))};
}

// A reading that is no distance, and those outside of the count, are the maximum.

constexpr double unknown_far = 65.533; // m: of a ranger whose range is not known, the most that can be written in mm

static double far_of(const player_ray &r) { return r.far_mm > 0 ? r.far_mm / 1000 : unknown_far; }

// Returns a reading of a ranger in m.
static double distance(const player_ranger &data, size_t i, double maximum) {
  if (i >= data.count || data.ranges[i] >= PLAYER_NOTHING_IN_RANGE) return maximum;
  return data.ranges[i] * data.unit / 1000.0;
}

constexpr double goal_tolerance = 0.05; // m: how far from its goal a robot has arrived

// Returns a limit of a goal, of which 0 is the goto device's own.
static uint16_t limit_of(double v) { return v > 0 ? static_cast<uint16_t>(std::clamp(std::round(v), 1.0, 65535.0)) : uint16_t{0}; }

void Device::GoTo(player_pose2d_t pose, double speed, double turnrate) {
  if (!std::isfinite(pose.px) || !std::isfinite(pose.py) || !std::isfinite(pose.pa)) throw Failure{"the pose to go to is not a number"};
  std::lock_guard<std::recursive_mutex> lock(client->mutex);
  if (absent) return;
  if (!way) {
    std::string why = open(*link, goto_kind, 0, 'w', way);
    if (!why.empty()) throw Failure{"GoTo needs the goto device of a robot that sees: start the server with -goto (" + why + ")"};
  }
  static std::atomic<uint16_t> tags{static_cast<uint16_t>(std::random_device{}())}; // not those of an earlier run
  Goal next{pose, speed, turnrate, ++tags};
  Relieve();
  goal = next;
  Aim();
  client->Assist();
}

void Device::Aim() {
  auto [x, y] = place(*this, goal->pose);
  double heading = std::round(Degrees(goal->pose.pa + origin.pa - target.pa));
  const player_goal to{x, y, static_cast<uint16_t>(std::lround(heading - 360 * std::floor(heading / 360))), limit_of(goal->speed * 1000),
                       limit_of(Degrees(goal->turnrate)), static_cast<uint16_t>(goal_tolerance * 1000), 0, goal->tag};
  Send([&](player::CRobot &robot) { return robot.SetGoal(way->named->byte, to); });
}

// Headings have steps of a degree, 0.0175 rad.
static constexpr double aligned = 0.02;

void Device::Approach() {
  const player::CRobot &robot = *link->robot;
  if (course && robot.Has('p')) {
    double error = Normal(course->heading - Pose().pa); // gone in about a second
    int turn = std::fabs(error) < aligned ? 0 : whole(Degrees(error));
    Send([&](player::CRobot &r) { return r.SetSpeed(whole(course->speed * 1000), turn); });
  }
  // The goto device is open for writing alone: its data would come between the data of the steps of a world in step.
  constexpr double there = goal_tolerance + 0.01, turned = 0.03; // m, rad: poses are rounded
  if (!goal || !robot.Has('p')) return;
  player_pose2d_t at = Pose();
  if (std::hypot(goal->pose.px - at.px, goal->pose.py - at.py) < there && std::fabs(Normal(goal->pose.pa - at.pa)) < turned) goal.reset();
}

player_pose2d_t Device::Pose() const {
  return With([&](const player::CRobot &robot) -> player_pose2d_t {
    if (!valid) return target;
    player_pose2d_t p = raw(robot);
    if (origin.px == target.px && origin.py == target.py && origin.pa == target.pa) return p;
    double turn = target.pa - origin.pa, x = p.px - origin.px, y = p.py - origin.py;
    return {target.px + x * cos(turn) - y * sin(turn), target.py + x * sin(turn) + y * cos(turn), Normal(p.pa + turn)};
  });
}

player_pose2d_t Device::Velocity() const {
  return With([&](const player::CRobot &robot) -> player_pose2d_t {
    if (!valid) return {};
    return {robot.position->speed / 1000.0, 0, Radians(robot.position->turnrate)};
  });
}

void Device::SetPose(player_pose2d_t pose) {
  std::lock_guard<std::recursive_mutex> lock(client->mutex);
  origin = absent ? player_pose2d_t{} : raw(*link->robot);
  target = pose;
  if (goal) GoTo(goal->pose, goal->speed, goal->turnrate);
}

bool Device::Stalled() const {
  return With([&](const player::CRobot &robot) { return valid && robot.position->stalls != 0; });
}

void Device::Head(double speed, double heading) {
  if (!std::isfinite(heading)) throw Failure{"the heading is not a number"};
  std::lock_guard<std::recursive_mutex> lock(client->mutex);
  Drive(speed, 0);
  if (absent) return;
  course = Course{speed, heading};
  client->Assist();
  Approach();
}

void Device::Steer(double speed, double angle) {
  constexpr double wheelbase = 0.32; // m, the distance of a Pioneer's wheels
  Drive(speed, speed * std::tan(Normal(angle)) / wheelbase);
}

// ---- Ranges ----

// The sonars of the Pioneer 2-DX, in the order of PROTOCOL 7.2: m, degrees.
static const struct {
  double x, y, yaw;
} sonars[PLAYER_SONARS] = {
    {0.069, 0.136, 90},    {0.114, 0.119, 50},    {0.148, 0.078, 30},    {0.166, 0.027, 10},    {0.166, -0.027, -10},  {0.148, -0.078, -30},
    {0.114, -0.119, -50},  {0.069, -0.136, -90},  {-0.157, -0.136, -90}, {-0.203, -0.119, -130}, {-0.237, -0.078, -150}, {-0.255, -0.027, -170},
    {-0.255, 0.027, 170},  {-0.237, 0.078, 150},  {-0.203, 0.119, 130},  {-0.157, 0.136, 90},
};

unsigned Device::Elements() const {
  if (absent) return 0;
  if (kind == 'l') return client->settings.laser_count;
  if (kind == 's') return PLAYER_SONARS;
  const auto &rays = slot->named->rays;
  if (rays.empty()) return valid ? std::get<player_ranger>(slot->named->data).count : 0;
  if (rays.size() > 1 && !client->settings.every_reading) return static_cast<unsigned>(rays.size());
  return static_cast<unsigned>(rays.back().first + rays.back().count);
}
unsigned Device::Sensors() const { return absent ? 0 : Scans() ? 1 : kind == 's' ? +PLAYER_SONARS : static_cast<unsigned>(slot->named->rays.size()); }
unsigned Device::Count() const {
  return With([&](const player::CRobot &) { return valid ? Elements() : 0; });
}
double Device::MaxRange() const {
  if (kind != ranger_kind || absent) return kind == 's' ? sonar_max : laser_max;
  double furthest = slot->named->rays.empty() ? unknown_far : 0;
  for (const player_ray &r : slot->named->rays) furthest = std::max(furthest, far_of(r));
  return furthest;
}
double Device::MinRange() const {
  if (kind != ranger_kind || absent || slot->named->rays.empty()) return 0;
  double nearest = slot->named->rays[0].near_mm;
  for (const player_ray &r : slot->named->rays) nearest = std::min(nearest, r.near_mm);
  return nearest / 1000;
}
double Device::RangeResolution() const {
  return kind == ranger_kind && valid ? std::get<player_ranger>(slot->named->data).unit / 1000.0 : 0.001;
}
double Device::Resolution() const {
  if (absent || !Scans()) return 0;
  if (kind == 'l') return client->settings.laser_angle / (client->settings.laser_count - 1);
  return slot->named->rays.empty() ? 0 : Radians(std::fabs(slot->named->rays[0].step));
}
double Device::FirstAngle() const {
  if (absent || !Scans()) return 0;
  return kind == 'l' ? -client->settings.laser_angle / 2 : Elements() > 0 ? Bearing(0) : 0;
}

// Returns which sensor of a ranger has a reading, and that a reading has none.
static const player_ray *sensor_of(const Named &n, unsigned reading) {
  for (const player_ray &r : n.rays)
    if (reading - static_cast<unsigned>(r.first) < static_cast<unsigned>(r.count)) return &r;
  return nullptr;
}

double Device::Bearing(unsigned i) const {
  if (absent) return 0;
  if (kind == 'l') return -client->settings.laser_angle / 2 + i * Resolution();
  if (kind == 's') return ElementPose(i).pyaw;
  if (Scans()) return slot->named->rays.empty() ? 0 : Radians(slot->named->rays[0].step) * (i - (slot->named->rays[0].count - 1) / 2.0);
  if (!client->settings.every_reading) return ElementPose(i).pyaw;
  const player_ray *r = sensor_of(*slot->named, i);
  return r ? Normal(Radians(r->heading + r->step * (i - static_cast<unsigned>(r->first)))) : 0;
}

double Device::Range(unsigned i) const {
  return With([&](const player::CRobot &robot) {
    if (!valid || i >= Elements()) return MaxRange();
    if (kind == 's') {
      uint16_t range = slot ? std::get<player_sonar>(slot->named->data).ranges[i] : robot.sonar[i];
      return range == 0 ? sonar_max : range / 1000.0; // 0: it has not fired yet
    }
    if (kind == 'l') {
      double reading = std::round((Degrees(Bearing(i)) + 90) * 2);
      if (reading < 0 || reading >= PLAYER_LASERS) return laser_max;
      int range = (slot ? std::get<player_laser>(slot->named->data).ranges : robot.laser)[static_cast<int>(reading)];
      return range > laser_valid ? laser_max : range / 1000.0;
    }
    const player_ranger &data = std::get<player_ranger>(slot->named->data);
    const auto &rays = slot->named->rays;
    if (rays.size() < 2 || client->settings.every_reading) {
      const player_ray *r = sensor_of(*slot->named, i);
      return distance(data, i, r ? far_of(*r) : MaxRange());
    }
    double nearest = far_of(rays[i]);
    for (int k = 0; k < rays[i].count; k++) nearest = std::min(nearest, distance(data, static_cast<size_t>(rays[i].first + k), nearest));
    return nearest;
  });
}

player_point_3d_t Device::Point(unsigned i) const {
  return With([&](const player::CRobot &) -> player_point_3d_t {
    double range = Range(i), bearing = Bearing(i);
    player_pose3d_t from{};
    if (kind == 's' || (kind == ranger_kind && !client->settings.every_reading)) from = ElementPose(i);
    else if (kind == ranger_kind && !Scans())
      if (const player_ray *r = sensor_of(*slot->named, i)) from = At(r->x / 1000, r->y / 1000, 0);
    return {from.px + range * cos(bearing), from.py + range * sin(bearing), 0};
  });
}

// Returns the pose of a part.
static player_pose3d_t pose_of(const player_part &p) { return At(p.x / 1000, p.y / 1000, Normal(Radians(p.heading))); }

// Returns the pose of a sensor of a ranger, whose heading points to the middle of its readings.
static player_pose3d_t pose_of(const player_ray &r) { return At(r.x / 1000, r.y / 1000, Normal(Radians(r.heading + r.step * (r.count - 1) / 2))); }

player_pose3d_t Device::ElementPose(unsigned i) const {
  if (i >= Sensors() || Scans()) return {};
  return With([&](const player::CRobot &) {
    if (kind == ranger_kind) return pose_of(slot->named->rays[i]);
    if (const player_part *p = link->Part(Byte(), static_cast<int>(i))) return pose_of(*p);
    return At(sonars[i].x, sonars[i].y, Radians(sonars[i].yaw));
  });
}

player_pose3d_t Device::MountPose() const {
  return With([&](const player::CRobot &) {
    if (!absent && kind == ranger_kind) return Scans() && !slot->named->rays.empty() ? pose_of(slot->named->rays[0]) : player_pose3d_t{};
    if (const player_part *p = link->Part(Byte())) return pose_of(*p);
    return kind == 'p' ? body_pose : kind == 'l' ? laser_pose : kind == 'g' ? gripper_pose : player_pose3d_t{};
  });
}

player_bbox3d_t Device::Size() const {
  return With([&](const player::CRobot &) {
    player_bbox3d_t size = kind == 'p' ? body_size : interface.code == PLAYER_LASER_CODE ? laser_size : kind == 'g' ? gripper_inner : player_bbox3d_t{};
    const player_part *p = absent ? nullptr : link->Part(Byte());
    if (p && p->length > 0 && p->width > 0) {
      size.sl = p->length / 1000;
      size.sw = p->width / 1000;
    }
    return size;
  });
}

double Device::Shortest(unsigned begin, unsigned end) const {
  double shortest = MaxRange();
  for (; begin < end; begin++) shortest = std::min(shortest, Range(begin));
  return shortest;
}

// ---- Bumpers ----

unsigned Device::Bumpers() const {
  return With([&](const player::CRobot &) { return !valid ? 0 : client->settings.bumpers == Settings::All ? 10 : 2; });
}

bool Device::Bumped(unsigned i) const {
  return With([&](player::CRobot &robot) {
    // Five in front, from the left, and five at the back, from the right; a Create has
    // one at the right and one at the left.
    if (!valid) return false;
    const player_misc &misc = Newest(*player_get_misc(robot.Client()));
    unsigned front = misc.front, all = front | static_cast<unsigned>(misc.rear) << 5;
    if (i >= Bumpers()) return false;
    switch (client->settings.bumpers) {
    case Settings::All:
      return (all >> i & 1) != 0;
    case Settings::Create:
      return (front >> (1 - i) & 1) != 0;
    default:
      return (front & (i == 0 ? 0x07u : 0x1cu)) != 0; // a head-on collision is both
    }
  });
}

// ---- Gripper, battery, camera head ----

void Device::Grip(uint8_t command) { Command({command, 0}); }

unsigned Device::GripState() const {
  return With([&](player::CRobot &robot) -> unsigned {
    unsigned state = Newest(*player_get_gripper(robot.Client())).state;
    if (!valid) return 0;
    if (state & PLAYER_PADDLES_ERROR) return PLAYER_GRIPPER_STATE_ERROR;
    if (state & PLAYER_PADDLES_MOVING) return PLAYER_GRIPPER_STATE_MOVING;
    return state & PLAYER_PADDLES_OPEN ? PLAYER_GRIPPER_STATE_OPEN : PLAYER_GRIPPER_STATE_CLOSED;
  });
}

unsigned Device::Beams() const {
  return With([&](player::CRobot &robot) -> unsigned {
    unsigned beams = Newest(*player_get_gripper(robot.Client())).beams;
    if (!valid) return 0;
    return (beams & PLAYER_OUTER_BEAM ? 1u : 0u) | (beams & PLAYER_INNER_BEAM ? 2u : 0u);
  });
}

double Device::Volts() const {
  return With([&](player::CRobot &robot) { return valid ? Newest(*player_get_misc(robot.Client())).battery / 10.0 : 0.0; });
}

double Device::Charge() const {
  constexpr double empty = 11.0, full = 12.6; // V, of a lead battery of 12 V
  return std::clamp((Volts() - empty) / (full - empty) * 100, 0.0, 100.0);
}

player_pose2d_t Device::Gaze() const {
  return With([&](player::CRobot &robot) -> player_pose2d_t {
    if (!valid) return {};
    const player_ptz &ptz = Newest(*player_get_ptz(robot.Client()));
    return {Radians(ptz.pan), Radians(ptz.tilt), FieldOfView(ptz.zoom)};
  });
}

void Device::Look(double pan, double tilt, double fov) {
  if (!std::isfinite(pan) || !std::isfinite(tilt) || !std::isfinite(fov)) throw Failure{"an angle of the camera is not a number"};
  auto degrees = [](double angle) { return static_cast<int>(std::lround(std::clamp(Degrees(angle), -1000.0, 1000.0))); };
  std::lock_guard<std::recursive_mutex> lock(client->mutex);
  if (absent) return;
  int zoom = fov > 0 ? static_cast<int>(std::lround(Zoom(fov))) : Newest(*player_get_ptz(link->robot->Client())).zoom;
  std::vector<uint8_t> payload;
  for (int v : {degrees(pan), degrees(tilt), zoom}) payload.insert(payload.end(), {static_cast<uint8_t>(v >> 8), static_cast<uint8_t>(v)});
  Command(payload);
}

// ---- Blobs ----

// The colour of a channel: the one that the server names, or the pure colour that it has in
// simulations (docs/STAGE.md).
static uint32_t colour(const Link &link, char device, unsigned channel) {
  for (const player_channel_color &c : link.colors)
    if (c.device == device && c.channel == static_cast<int>(channel)) return c.color;
  static const uint32_t colours[] = {0xff0000, 0x00ff00, 0x0000ff, 0xffff00, 0xff8000, 0x800080, 0x00ffff, 0xff00ff, 0xffc0cb, 0xa52a2a};
  if (channel < std::size(colours)) return colours[channel];
  return channel == player::ACTS_NUM_CHANNELS - 1 ? 0xffffff : 0;
}

unsigned Device::Blobs() const {
  return With([&](player::CRobot &robot) {
    const player_vision &vision = Newest(*player_get_vision(robot.Client()));
    unsigned n = 0;
    for (int channel = 0; valid && channel < PLAYER_CHANNELS; channel++) n += vision.count[channel];
    return n;
  });
}

// The image of ACTS, pixels, and the height of the lens above the floor, m.
constexpr double image_width = 160, image_height = 120, lens = 0.45;

// Returns how far the foot of a blob is away, for a thing on the floor and a camera
// that looks ahead; 0: it is not below the horizon.
static double distance(const player_blob &b) {
  double focal = image_width / 2 / tan(FieldOfView(0) / 2);
  double below = b.bottom + 1 - image_height / 2, aside = b.x + 0.5 - image_width / 2;
  if (below <= 0) return 0;
  return std::hypot(lens * focal / below, aside * lens / below);
}

player_blobfinder_blob_t Device::Blob(unsigned i) const {
  return With([&](player::CRobot &robot) {
    player_blobfinder_blob_t out{};
    if (i >= Blobs()) return out;
    const player_vision &vision = Newest(*player_get_vision(robot.Client()));
    unsigned channel = 0;
    for (; i >= vision.count[channel]; channel++) i -= vision.count[channel];
    const player_blob &b = vision.blobs[channel][i];
    double across = client->settings.width / image_width, down = client->settings.height / image_height;
    auto x = [&](double v) { return static_cast<uint32_t>(v * across); };
    auto y = [&](double v) { return static_cast<uint32_t>(v * down); };
    out.id = channel;
    out.color = colour(*link, Byte(), channel);
    out.area = static_cast<uint32_t>(b.area * across * down);
    out.x = x(b.x);
    out.y = y(b.y);
    out.left = x(b.left);
    out.right = x(b.right);
    out.top = y(b.top);
    out.bottom = y(b.bottom);
    out.range = static_cast<float>(distance(b));
    return out;
  });
}

// ---- The world ----

std::pair<std::string, std::string> Client::Dashboard() const {
  const std::string &address = settings.simulation;
  if (address.empty()) return {host, "8080"};
  auto colon = address.rfind(':');
  return {address.substr(0, colon), address.substr(colon + 1)};
}

// Has an order carried out, or none, and returns the state afterwards.
static player::Simulation world(const Client &client, const char *order) {
  auto [host, port] = client.Dashboard();
  player::Simulation w(host, atoi(port.c_str()));
  w.timeout = client.patience;
  int r = order ? w.Order(order) : w.Read();
  if (r == PLAYER_OK) return w;
  std::string text = "the simulation at " + host + ":" + port + ": " + w.Error();
  if (r != PLAYER_REFUSED) text += "; start the server with -stage and -http, or set PLAYERC_SIMULATION to the HOST:PORT of its dashboard";
  throw Failure{text};
}

double WorldTime(const Client &client) { return world(client, nullptr).time; }

player_pose2d_t WorldPose(const Client &client, const std::string &name) {
  for (const player_mover &m : world(client, nullptr).movers)
    if (name == m.name) return {m.x, m.y, Normal(Radians(m.heading))};
  throw Failure{"the world has no robot and no thing that can move with the name " + name};
}

std::vector<player_fiducial_item_t> WorldFiducials(const Client &client, uint32_t index) {
  uint32_t port = 6665; // of the first robot
  const std::string &name = client.settings.robot;
  bool found = false;
  for (const player_mover &m : world(client, nullptr).movers) {
    if (!m.robot) continue;
    found = found || (name.empty() ? client.port == port : name == m.name);
    port++;
    if (!found || index-- > 0) continue;
    std::vector<player_fiducial_item_t> items;
    for (int i = 0; i < std::min<int>(m.seen, PLAYER_MAX_SIGHTINGS); i++) {
      double bearing = Radians(m.sees[i].bearing);
      items.push_back({m.sees[i].id, At(m.sees[i].range * cos(bearing), m.sees[i].range * sin(bearing), 0), {}});
    }
    return items;
  }
  if (found) throw Failure{"the world has fewer robots"};
  throw Failure{"the world has no robot " + (name.empty() ? "of port " + std::to_string(client.port) : name) + ": set PLAYERC_ROBOT to its name"};
}

// Returns a text of JSON.
static std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

void SetWorldPose(const Client &client, const std::string &name, player_pose2d_t pose) {
  if (!std::isfinite(pose.px) || !std::isfinite(pose.py) || !std::isfinite(pose.pa)) throw Failure{"the pose of " + name + " is not a number"};
  std::string order = R"({"move":[{"name":)" + quoted(name);
  std::ostringstream numbers;
  numbers.imbue(std::locale::classic()); // JSON has a point, whatever the program's country has
  numbers << std::fixed << R"(,"x":)" << pose.px << R"(,"y":)" << pose.py << R"(,"heading":)" << Degrees(pose.pa) << "}]}";
  world(client, (order + numbers.str()).c_str());
}

// Throws Failure unless a property is a colour of a size that it may have. It returns how many
// floats it has.
static size_t check_colour(const std::string &property, size_t size) {
  if (property != "color") throw Failure{"the property " + property + " is in the world file: of a thing, a program reads and changes color"};
  size_t floats = size / sizeof(float);
  if (size % sizeof(float) || floats < 3 || floats > 4) throw Failure{"the property color has four floats, not " + std::to_string(size) + " bytes"};
  return floats;
}

void WorldProperty(const Client &client, const std::string &name, const std::string &property, void *value, size_t size) {
  size_t floats = check_colour(property, size);
  for (const player_mover &m : world(client, nullptr).movers) {
    unsigned r, g, b;
    if (name != m.name || sscanf(m.color, "#%2x%2x%2x", &r, &g, &b) != 3) continue;
    constexpr float most = 255;
    const float out[] = {static_cast<float>(r) / most, static_cast<float>(g) / most, static_cast<float>(b) / most, 1};
    memcpy(value, out, floats * sizeof(float));
    return;
  }
  throw Failure{"the world has no robot and no thing that can move with the name " + name + ", or does not tell its colour"};
}

void SetWorldProperty(const Client &client, const std::string &name, const std::string &property, const void *value, size_t size) {
  float in[4];
  memcpy(in, value, check_colour(property, size) * sizeof(float));
  unsigned parts[3];
  for (int i = 0; i < 3; i++) {
    if (!(in[i] >= 0 && in[i] <= 1)) throw Failure{"the property color of " + name + " has a part that is not from 0 to 1"};
    parts[i] = static_cast<unsigned>(std::lround(in[i] * 255));
  }
  char text[8];
  snprintf(text, sizeof text, "#%02x%02x%02x", parts[0] & 255, parts[1] & 255, parts[2] & 255);
  world(client, (R"({"color":[{"name":)" + quoted(name) + R"(,"color":")" + text + "\"}]}").c_str());
}

}  // namespace playerc
