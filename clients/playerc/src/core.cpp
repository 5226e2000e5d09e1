// SPDX-License-Identifier: Apache-2.0
#include "core.hpp"

#include <poll.h>
#include <locale>
#include <sstream>
#include <thread>

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
  if (v == "laser,sonar") s.rangers = "ls";
  else if (v == "laser") s.rangers = "l";
  else if (v == "sonar") s.rangers = "s";
  else if (v != "" && v != "sonar,laser") throw misunderstood("PLAYERC_RANGERS", v, "sonar,laser or laser,sonar or one of them");
  v = variable("PLAYERC_LASER");
  if (v != "") {
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
    {PLAYER_RANGER_CODE, "ranger", 0, 'r'}, // a setting says which
    {PLAYER_BUMPER_CODE, "bumper", 'm', 'r'},
    {PLAYER_POWER_CODE, "power", 'm', 'r'},
    {PLAYER_GRIPPER_CODE, "gripper", 'g', 'a'},
    {PLAYER_PTZ_CODE, "ptz", 'z', 'a'},
    {PLAYER_BLOBFINDER_CODE, "blobfinder", 'v', 'r'},
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

// Takes the rounds that the program does not read, and drives to goals.
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

// Drives to the goals of all devices.
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
    if (Take(*links[0]) != Taken::Nothing) return; // of a loss, Wait tells
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
      c->Take(*link); // of a loss, its own Read tells
      // Not before the others need it: a program commands with what it reads, and the
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
static void Keep(const player::CRobot &from, player::CRobot &to) {
  std::copy_n(from.sonar, PLAYER_SONARS, to.sonar);
  std::copy_n(from.laser, PLAYER_LASERS, to.laser);
  *to.position = *from.position;
  *to.misc = *from.misc;
  *to.gripper = *from.gripper;
  *to.ptz = *from.ptz;
}

// Connects again. It is called by the one that reads. The mutex is free meanwhile, so that other
// threads, for which the connection is lost, do not wait.
void Client::Restore(Link &link) {
  uint32_t number;
  std::string why, wanted;
  {
    std::lock_guard<std::recursive_mutex> lock(mutex);
    number = static_cast<uint32_t>(link.robot->port);
    why = link.robot->Error();
    for (auto &[letter, n] : link.users) {
      if (n <= 0) continue;
      wanted += letter;
      wanted += letter == 'p' || letter == 'g' || letter == 'z' ? 'a' : 'r';
    }
  }
  for (int left = retries; left != 0; left -= left > 0) {
    {
      std::unique_lock<std::mutex> lock(leaving);
      if (leave.wait_for(lock, duration<double>(retry_pause), [this] { return stopping || closed || ending; })) break;
    }
    try {
      auto made = Dial(number);
      int r = wanted.empty() ? PLAYER_OK : made->robot->Request(wanted.c_str());
      if (r != PLAYER_OK && r != PLAYER_REFUSED) continue;
      std::lock_guard<std::recursive_mutex> lock(mutex);
      if (std::lock_guard<std::mutex> leaver(leaving); closed) break;
      Keep(*link.robot, *made->robot);
      link.robot.swap(made->robot);
      link.requested = link.taken;
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

// Tells all devices of the rounds that have been taken, and calls what wants to know.
void Client::Deliver() {
  std::vector<std::function<void()>> calls;
  // The dashboard is asked before the lock is taken: it may not answer.
  std::map<uint32_t, std::vector<player_fiducial_item_t>> seen;
  {
    std::lock_guard<std::recursive_mutex> lock(mutex);
    for (Device *d : devices)
      if (d->interface.code == PLAYER_FIDUCIAL_CODE && !d->absent) seen[d->index];
  }
  for (auto &[index, items] : seen) items = WorldFiducials(*this, index);
  {
    std::lock_guard<std::recursive_mutex> lock(mutex);
    for (Device *d : devices) {
      double now = duration<double>(steady_clock::now().time_since_epoch()).count();
      if (d->interface.code == PLAYER_FIDUCIAL_CODE && !d->absent) {
        auto found = seen.find(d->index);
        if (found == seen.end()) continue; // it was made meanwhile
        d->fiducials = found->second;
        d->elapsed = d->valid ? now - d->time : 0;
        d->time = now;
        d->valid = d->fresh = true;
        for (auto &slot : d->slots) calls.push_back(slot.second);
        continue;
      }
      if (d->absent || !d->link->waiting) continue;
      const player::CRobot &robot = *d->link->robot;
      if (!robot.Has(d->letter)) continue;
      if (auto age = robot.Age(d->letter)) now = duration<double>(robot.ServerTime() - *age).count();
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

// Requests a device for reading, or reading and writing. It returns why not.
static std::string open(Link &link, char letter, char access) {
  const char pairs[] = {letter, access, 0};
  player::CRobot &robot = *link.robot;
  int r = robot.Request(pairs);
  if (r == PLAYER_OK) {
    link.users[letter]++;
    robot.Geometry(link.parts); // an older server does not answer
    return "";
  }
  std::string reason = robot.Reason(letter);
  return reason.empty() ? robot.Error() : reason;
}

Device::Device(std::shared_ptr<Client> c, const Interface &i, uint32_t n)
    : interface(i), index(n), letter(i.letter), client(std::move(c)), link(nullptr) {
  std::lock_guard<std::recursive_mutex> lock(client->mutex);
  std::string why;
  if (i.code == PLAYER_RANGER_CODE) {
    // The index counts the rangers that the robot has.
    link = client->At(0);
    uint32_t place = 0;
    for (char candidate : client->settings.rangers) {
      std::string refused = open(*link, candidate, 'r');
      if (refused.empty() && place++ == n) {
        letter = candidate;
        break;
      }
      if (refused.empty()) {
        if (--link->users[candidate] == 0) link->robot->Request(candidate == 's' ? "sc" : "lc");
        continue;
      }
      why += (why.empty() ? "" : "; ") + refused;
    }
    if (letter) why.clear();
    else if (why.empty()) why = "the robot has " + std::to_string(place) + " of them, see PLAYERC_RANGERS";
  } else if (letter) {
    try {
      link = client->At(n);
      why = open(*link, letter, i.access);
    } catch (const Failure &f) {
      why = f.text;
    }
  } else if (i.code == PLAYER_FIDUCIAL_CODE) {
    try {
      WorldFiducials(*client, n);
      link = client->links[0].get();
    } catch (const Failure &f) {
      why = f.text;
    }
  } else if (i.code != PLAYER_SIMULATION_CODE && i.code != PLAYER_GRAPHICS2D_CODE) {
    why = "this server has no such devices, see clients/playerc/README.md";
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
  if (absent || !letter) return;
  // Nothing steers any more: the robot would keep the latest speed while another proxy is open.
  if ((goal || course) && link->robot->Socket() >= 0) link->robot->SetSpeed(0, 0);
  for (char open : {letter, sensor}) {
    if (!open || --link->users[open] > 0 || link->robot->Socket() < 0) continue;
    const char pairs[] = {open, 'c', 0};
    link->robot->timeout = milliseconds(0); // nothing depends on the reply, which the next call takes
    link->robot->Request(pairs);
    link->robot->timeout = client->patience;
  }
}

void Device::Send(const std::function<int(player::CRobot &)> &order) {
  std::lock_guard<std::recursive_mutex> lock(client->mutex);
  if (absent) return;
  if (order(*link->robot) != PLAYER_OK) throw Failure{std::string(interface.name) + ":" + std::to_string(index) + ": " + link->robot->Error()};
}

// Rounds to a whole number that a command has room for. What is not zero stays so: a
// loop that turns slowly to its goal must not stand still before it.
static int whole(double v) {
  double r = std::round(v);
  if (r == 0 && v != 0) r = v > 0 ? 1 : -1;
  return static_cast<int>(std::clamp(r, -32767.0, 32767.0));
}

void Device::Relieve() {
  for (Device *d : client->devices) {
    if (d->link != link || d->letter != letter) continue;
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

void Device::GoTo(player_pose2d_t pose, double speed, double turnrate) {
  if (!std::isfinite(pose.px) || !std::isfinite(pose.py) || !std::isfinite(pose.pa)) throw Failure{"the pose to go to is not a number"};
  std::lock_guard<std::recursive_mutex> lock(client->mutex);
  if (absent) return;
  for (char candidate : {'l', 's'})
    if (!sensor && open(*link, candidate, 'r').empty()) sensor = candidate;
  if (!(speed > 0)) speed = 0.3;
  if (!(turnrate > 0)) turnrate = 0.6;
  player::WayConfig config = player::ConfigOf(link->parts);
  config.max_speed = whole(speed * 1000);
  auto [x, y] = place(*this, pose);
  std::optional<Goal> next; // before what drives now is given up: a refused goal changes nothing
  try {
    next.emplace(Goal{pose, speed, turnrate, false, player::Way(config, x, y)});
  } catch (const std::invalid_argument &e) {
    throw Failure{std::string("goto: ") + e.what()};
  }
  Relieve();
  goal = std::move(next);
  client->Assist();
  Approach();
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
  if (!goal || !robot.Has('p') || (sensor && !robot.Has(sensor))) return;
  constexpr double gone = 0.2; // m: it has been carried away
  std::vector<player::Beam> beams;
  if (sensor == 'l') {
    player_part laser{};
    laser.x = laser_pose.px * 1000;
    beams = player::LaserBeams(link->Part('l') ? *link->Part('l') : laser, robot.laser);
  } else if (sensor == 's') {
    beams = player::SonarBeams(link->parts, robot.sonar);
  }
  player::Way::Command command = goal->way.Next(*robot.position, beams);
  player_pose2d_t at = Pose();
  goal->there = command.arrived || (goal->there && std::hypot(goal->pose.px - at.px, goal->pose.py - at.py) < gone);
  if (goal->there) {
    double error = Normal(goal->pose.pa - at.pa);
    if (std::fabs(error) < aligned) {
      Drive(0, 0);
      return;
    }
    command = {0, whole(Degrees(1.2 * error)), true};
  }
  int most = whole(Degrees(goal->turnrate));
  Send([&](player::CRobot &r) { return r.SetSpeed(command.speed, std::clamp(command.turn, -most, most)); });
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

unsigned Device::Elements() const { return absent ? 0 : Laser() ? client->settings.laser_count : +PLAYER_SONARS; }
unsigned Device::Count() const {
  return With([&](const player::CRobot &) { return valid ? Elements() : 0; });
}
double Device::MaxRange() const { return Laser() ? laser_max : sonar_max; }
double Device::Resolution() const { return Laser() ? client->settings.laser_angle / (client->settings.laser_count - 1) : 0; }

double Device::Bearing(unsigned i) const {
  if (!Laser()) return ElementPose(i).pyaw;
  return -client->settings.laser_angle / 2 + i * Resolution();
}

double Device::Range(unsigned i) const {
  return With([&](const player::CRobot &robot) {
    if (!valid || i >= Elements()) return MaxRange();
    if (!Laser()) return robot.sonar[i] == 0 ? sonar_max : robot.sonar[i] / 1000.0; // 0: it has not fired yet
    double reading = std::round((Degrees(Bearing(i)) + 90) * 2);
    if (reading < 0 || reading >= PLAYER_LASERS) return laser_max;
    int range = robot.laser[static_cast<int>(reading)];
    return range > laser_valid ? laser_max : range / 1000.0;
  });
}

// Returns the pose of a part.
static player_pose3d_t pose_of(const player_part &p) { return At(p.x / 1000, p.y / 1000, Normal(Radians(p.heading))); }

player_pose3d_t Device::ElementPose(unsigned i) const {
  if (i >= Elements()) return {};
  if (Laser()) return At(0, 0, 0);
  return With([&](const player::CRobot &) {
    if (const player_part *p = link->Part('s', static_cast<int>(i))) return pose_of(*p);
    return At(sonars[i].x, sonars[i].y, Radians(sonars[i].yaw));
  });
}

player_pose3d_t Device::MountPose() const {
  return With([&](const player::CRobot &) {
    if (const player_part *p = link->Part(letter)) return pose_of(*p);
    return letter == 'p' ? body_pose : letter == 'l' ? laser_pose : letter == 'g' ? gripper_pose : player_pose3d_t{};
  });
}

player_bbox3d_t Device::Size() const {
  return With([&](const player::CRobot &) {
    player_bbox3d_t size = letter == 'p' ? body_size : letter == 'l' ? laser_size : letter == 'g' ? gripper_inner : player_bbox3d_t{};
    const player_part *p = link->Part(letter);
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
  return With([&](const player::CRobot &robot) {
    // Five in front, from the left, and five at the back, from the right; a Create has
    // one at the right and one at the left.
    if (!valid) return false;
    unsigned front = robot.misc->frontbumpers, all = front | static_cast<unsigned>(robot.misc->rearbumpers) << 5;
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

unsigned Device::GripState() const {
  return With([&](const player::CRobot &robot) -> unsigned {
    const player::CGripper &g = *robot.gripper;
    if (!valid) return 0;
    if (g.paddlesError) return PLAYER_GRIPPER_STATE_ERROR;
    if (g.paddlesMoving) return PLAYER_GRIPPER_STATE_MOVING;
    return g.paddlesOpen ? PLAYER_GRIPPER_STATE_OPEN : PLAYER_GRIPPER_STATE_CLOSED;
  });
}

unsigned Device::Beams() const {
  return With([&](const player::CRobot &robot) -> unsigned {
    if (!valid) return 0;
    return (robot.gripper->outerBeamObstructed ? 1u : 0u) | (robot.gripper->innerBeamObstructed ? 2u : 0u);
  });
}

double Device::Volts() const {
  return With([&](const player::CRobot &robot) { return valid ? robot.misc->voltage / 10.0 : 0.0; });
}

double Device::Charge() const {
  constexpr double empty = 11.0, full = 12.6; // V, of a lead battery of 12 V
  return std::clamp((Volts() - empty) / (full - empty) * 100, 0.0, 100.0);
}

player_pose2d_t Device::Gaze() const {
  return With([&](const player::CRobot &robot) -> player_pose2d_t {
    if (!valid) return {};
    return {Radians(robot.ptz->pan), Radians(robot.ptz->tilt), FieldOfView(robot.ptz->zoom)};
  });
}

void Device::Look(double pan, double tilt, double fov) {
  if (!std::isfinite(pan) || !std::isfinite(tilt) || !std::isfinite(fov)) throw Failure{"an angle of the camera is not a number"};
  auto degrees = [](double angle) { return static_cast<int>(std::lround(std::clamp(Degrees(angle), -1000.0, 1000.0))); };
  Send([&](player::CRobot &robot) {
    int zoom = fov > 0 ? static_cast<int>(std::lround(Zoom(fov))) : robot.ptz->zoom;
    return robot.SetPTZ(degrees(pan), degrees(tilt), zoom);
  });
}

// ---- Blobs ----

// The pure colour of each channel of the simulation (docs/STAGE.md).
static uint32_t colour(unsigned channel) {
  static const uint32_t colours[] = {0xff0000, 0x00ff00, 0x0000ff, 0xffff00, 0xff8000, 0x800080, 0x00ffff, 0xff00ff, 0xffc0cb, 0xa52a2a};
  if (channel < std::size(colours)) return colours[channel];
  return channel == player::ACTS_NUM_CHANNELS - 1 ? 0xffffff : 0;
}

unsigned Device::Blobs() const {
  return With([&](const player::CRobot &robot) {
    unsigned n = 0;
    for (int channel = 0; valid && channel < player::ACTS_NUM_CHANNELS; channel++) n += static_cast<unsigned>(robot.vision->NumBlobs[channel]);
    return n;
  });
}

// The image of ACTS, pixels, and the height of the lens above the floor, m.
constexpr double image_width = 160, image_height = 120, lens = 0.45;

// Returns how far the foot of a blob is away, for what stands on the floor and a camera
// that looks ahead; 0: it is not below the horizon.
static double distance(const player::CBlob &b) {
  double focal = image_width / 2 / tan(FieldOfView(0) / 2);
  double below = b.bottom + 1 - image_height / 2, aside = b.x + 0.5 - image_width / 2;
  if (below <= 0) return 0;
  return std::hypot(lens * focal / below, aside * lens / below);
}

player_blobfinder_blob_t Device::Blob(unsigned i) const {
  return With([&](const player::CRobot &robot) {
    player_blobfinder_blob_t out{};
    if (i >= Blobs()) return out;
    unsigned channel = 0;
    for (; i >= static_cast<unsigned>(robot.vision->NumBlobs[channel]); channel++) i -= static_cast<unsigned>(robot.vision->NumBlobs[channel]);
    const player::CBlob &b = robot.vision->Blobs[channel][i];
    double across = client->settings.width / image_width, down = client->settings.height / image_height;
    auto x = [&](double v) { return static_cast<uint32_t>(v * across); };
    auto y = [&](double v) { return static_cast<uint32_t>(v * down); };
    out.id = channel;
    out.color = colour(channel);
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

// Has an order carried out, or none, and returns the state afterwards.
static player::Simulation world(const Client &client, const char *order) {
  std::string host = client.host, port = "8080";
  const std::string &address = client.settings.simulation;
  if (!address.empty()) {
    auto colon = address.rfind(':');
    host = address.substr(0, colon);
    port = address.substr(colon + 1);
  }
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

void SetWorldPose(const Client &client, const std::string &name, player_pose2d_t pose) {
  if (!std::isfinite(pose.px) || !std::isfinite(pose.py) || !std::isfinite(pose.pa)) throw Failure{"the pose of " + name + " is not a number"};
  std::string order = R"({"move":[{"name":")";
  for (char c : name) {
    if (c == '"' || c == '\\') order += '\\';
    order += c;
  }
  std::ostringstream numbers;
  numbers.imbue(std::locale::classic()); // JSON has a point, whatever the program's country has
  numbers << std::fixed << R"(","x":)" << pose.px << R"(,"y":)" << pose.py << R"(,"heading":)" << Degrees(pose.pa) << "}]}";
  world(client, (order + numbers.str()).c_str());
}

}  // namespace playerc
