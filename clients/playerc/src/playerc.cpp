// SPDX-License-Identifier: Apache-2.0
//
// The functions of libplayerc.
#include <libplayerc/playerc.h>

#include <algorithm>

#include "core.hpp"

namespace {

using playerc::Failure;

// Programs print it in the call whose arguments make it: it stays where it is.
thread_local char error[1024];

// Runs f and returns 0, or -1 and keeps why it fails.
template <typename F> int attempt(F f) {
  try {
    f();
    return 0;
  } catch (const Failure &failure) {
    snprintf(error, sizeof error, "%s", failure.text.c_str());
  } catch (const std::exception &e) { // such as no memory: programs in C cannot catch it
    snprintf(error, sizeof error, "%s", e.what());
  }
  return -1;
}

// Returns the result of f, or NULL and keeps the reason of its failure.
template <typename F> auto made(F f) -> decltype(f()) {
  decltype(f()) result = nullptr;
  attempt([&] { result = f(); });
  return result;
}

struct Callback {
  playerc_callback_fn_t function;
  void *data;
  bool operator==(const Callback &c) const { return function == c.function && data == c.data; }
};

struct Proxy;

// State belongs to a client of the program. Its devices keep it: programs destroy
// clients and devices in any order.
struct State {
  std::shared_ptr<playerc::Client> client; // while it is connected
  std::chrono::milliseconds patience = playerc::Client::default_patience;
  std::vector<Proxy *> proxies;

  playerc::Client &Connected() const {
    if (!client) throw Failure{"the client is not connected: call playerc_client_connect before"};
    return *client;
  }
};

State &state(playerc_client_t *c) { return **static_cast<std::shared_ptr<State> *>(c->id); }

// Proxy belongs to a device of the program.
struct Proxy {
  playerc_device_t *info = nullptr;
  const std::shared_ptr<State> owner;
  std::unique_ptr<playerc::Device> device; // while it is subscribed
  std::vector<Callback> callbacks;

  explicit Proxy(playerc_client_t *client) : owner(*static_cast<std::shared_ptr<State> *>(client->id)) { owner->proxies.push_back(this); }
  virtual ~Proxy() {
    auto &all = owner->proxies;
    all.erase(std::remove(all.begin(), all.end(), this), all.end());
  }
  Proxy(const Proxy &) = delete;

  virtual void Begin() {}  // it has been subscribed
  virtual void Update() {} // copies new data
};

// Of has the structure that the program sees.
template <typename T> struct Of : Proxy {
  T data{};
  Of(playerc_client_t *client, int index, int code) : Proxy(client) {
    info = &data.info;
    info->id = static_cast<Proxy *>(this);
    info->client = client;
    info->index = index;
    info->code = code;
  }
};

Proxy &proxy(void *device) { return *static_cast<Proxy *>(static_cast<playerc_device_t *>(device)->id); }

// Returns the device of a structure. It has to be subscribed.
playerc::Device &subscribed(void *device) {
  Proxy &p = proxy(device);
  if (!p.device) throw Failure{std::string("the device ") + playerc::FindInterface(p.info->code)->name + " is not subscribed"};
  return *p.device;
}

int unsubscribe(void *device) {
  Proxy &p = proxy(device);
  p.device.reset();
  p.info->subscribed = 0;
  return 0;
}

int subscribe(void *device, int access) {
  if (access == PLAYERC_CLOSE_MODE) return unsubscribe(device);
  Proxy &p = proxy(device);
  return attempt([&] {
    if (p.device) return;
    p.owner->Connected();
    auto d = std::make_unique<playerc::Device>(p.owner->client, *playerc::FindInterface(p.info->code), static_cast<uint32_t>(p.info->index));
    if (p.info->code == PLAYER_SIMULATION_CODE) playerc::WorldTime(*p.owner->client);
    p.device = std::move(d);
    p.Begin();
    p.info->subscribed = PLAYERC_OPEN_MODE;
    snprintf(p.info->drivername, sizeof p.info->drivername, "player");
  });
}

void copy(double to[3], const player_pose3d_t &from) {
  to[0] = from.px;
  to[1] = from.py;
  to[2] = from.pyaw;
}

// ---- Copies of the devices' data ----

struct Position2d : Of<playerc_position2d_t> {
  using Of::Of;
  void Begin() override {
    copy(data.pose, device->MountPose());
    data.size[0] = device->Size().sl;
    data.size[1] = device->Size().sw;
  }
  void Update() override {
    player_pose2d_t pose = device->Pose(), velocity = device->Velocity();
    data.px = pose.px;
    data.py = pose.py;
    data.pa = pose.pa;
    data.vx = velocity.px;
    data.va = velocity.pa;
    data.stall = device->Stalled();
  }
};

// Programs read beyond the count, with constants for other sensors. So there is room for
// this many, from the beginning and at one place; they read the maximum.
constexpr size_t room = 1024;

struct Laser : Of<playerc_laser_t> {
  std::vector<double> ranges, scan;
  std::vector<player_point_2d_t> points;
  std::vector<int> intensity;

  Laser(playerc_client_t *client, int index, int code) : Of(client, index, code) { Grow(room, playerc::laser_max); }
  void Grow(size_t n, double range) {
    ranges.resize(n, range);
    scan.resize(2 * n, range);
    points.resize(n);
    intensity.resize(n);
    data.ranges = ranges.data();
    data.scan = reinterpret_cast<double(*)[2]>(scan.data());
    data.point = points.data();
    data.intensity = intensity.data();
  }
  void Begin() override {
    if (device->Elements() > ranges.size()) Grow(device->Elements(), device->MaxRange());
    std::fill(ranges.begin(), ranges.end(), device->MaxRange());
    std::fill(scan.begin(), scan.end(), device->MaxRange());
    copy(data.pose, device->MountPose());
    data.size[0] = device->Size().sl;
    data.size[1] = device->Size().sw;
    data.scan_start = device->FirstAngle();
    data.scan_res = device->Resolution();
    data.range_res = device->RangeResolution();
    data.max_range = device->MaxRange();
    data.scanning_frequency = 10;
  }
  void Update() override {
    unsigned n = device->Count();
    if (n > ranges.size()) Grow(n, device->MaxRange());
    data.scan_count = static_cast<int>(n);
    for (unsigned i = 0; i < n; i++) {
      double bearing = device->Bearing(i);
      ranges[i] = scan[2 * i] = device->Range(i);
      scan[2 * i + 1] = bearing;
      points[i] = {ranges[i] * cos(bearing), ranges[i] * sin(bearing)};
    }
    data.min_right = device->Shortest(0, device->Middle());
    data.min_left = device->Shortest(device->Middle(), n);
    data.scan_id++;
  }
};

struct Sonar : Of<playerc_sonar_t> {
  std::vector<player_pose3d_t> poses = std::vector<player_pose3d_t>(room);
  std::vector<double> scan = std::vector<double>(room, playerc::sonar_max);

  Sonar(playerc_client_t *client, int index, int code) : Of(client, index, code) {
    data.poses = poses.data();
    data.scan = scan.data();
  }
  void Begin() override {
    data.pose_count = static_cast<int>(device->Elements());
    for (unsigned i = 0; i < device->Elements(); i++) poses[i] = device->ElementPose(i);
  }
  void Update() override {
    unsigned n = device->Count();
    data.scan_count = static_cast<int>(n);
    for (unsigned i = 0; i < n; i++) scan[i] = device->Range(i);
  }
};

struct Ranger : Of<playerc_ranger_t> {
  std::vector<player_pose3d_t> poses = std::vector<player_pose3d_t>(room);
  std::vector<player_bbox3d_t> sizes = std::vector<player_bbox3d_t>(room);
  std::vector<double> ranges, bearings, intensities = std::vector<double>(room);
  std::vector<player_point_3d_t> points;

  Ranger(playerc_client_t *client, int index, int code) : Of(client, index, code) {
    data.element_poses = poses.data();
    data.element_sizes = sizes.data();
    data.intensities = intensities.data();
    Grow(room, playerc::laser_max);
  }
  void Grow(size_t n, double range) {
    ranges.resize(n, range);
    bearings.resize(n);
    points.resize(n);
    data.ranges = ranges.data();
    data.bearings = bearings.data();
    data.points = points.data();
  }
  void Begin() override {
    const playerc::Device &d = *device;
    if (d.Elements() > ranges.size()) Grow(d.Elements(), d.MaxRange());
    std::fill(ranges.begin(), ranges.end(), d.MaxRange());
    data.element_count = d.Sensors();
    if (data.element_count > poses.size()) {
      poses.resize(data.element_count);
      sizes.resize(data.element_count);
      data.element_poses = poses.data();
      data.element_sizes = sizes.data();
    }
    for (unsigned i = 0; i < data.element_count; i++) poses[i] = d.ElementPose(i);
    data.min_angle = d.FirstAngle();
    data.max_angle = d.LastAngle();
    if (d.Scans()) {
      data.device_pose = d.MountPose();
      data.device_size = d.Size();
    }
    data.angular_res = d.Resolution();
    data.min_range = d.MinRange();
    data.max_range = d.MaxRange();
    data.range_res = d.RangeResolution();
    data.frequency = 10;
  }
  void Update() override {
    unsigned n = device->Count();
    if (n > ranges.size()) Grow(n, device->MaxRange());
    data.ranges_count = data.bearings_count = data.points_count = n;
    for (unsigned i = 0; i < n; i++) {
      ranges[i] = device->Range(i);
      bearings[i] = device->Bearing(i);
      points[i] = device->Point(i);
    }
  }
};

struct Bumper : Of<playerc_bumper_t> {
  std::vector<uint8_t> bumpers = std::vector<uint8_t>(room);
  Bumper(playerc_client_t *client, int index, int code) : Of(client, index, code) { data.bumpers = bumpers.data(); }
  void Update() override {
    unsigned n = device->Bumpers();
    data.bumper_count = static_cast<int>(n);
    for (unsigned i = 0; i < n; i++) bumpers[i] = device->Bumped(i);
  }
};

struct Power : Of<playerc_power_t> {
  using Of::Of;
  void Update() override {
    data.valid = device->valid;
    data.charge = device->Volts();
    data.percent = device->Charge();
  }
};

struct Blobfinder : Of<playerc_blobfinder_t> {
  // All that an image can have.
  std::vector<playerc_blobfinder_blob_t> blobs = std::vector<playerc_blobfinder_blob_t>(player::ACTS_NUM_CHANNELS * player::ACTS_MAX_NO_BLOBS);
  Blobfinder(playerc_client_t *client, int index, int code) : Of(client, index, code) { data.blobs = blobs.data(); }
  void Update() override {
    data.width = device->client->settings.width;
    data.height = device->client->settings.height;
    data.blobs_count = device->Blobs();
    for (unsigned i = 0; i < data.blobs_count; i++) blobs[i] = device->Blob(i);
  }
};

struct Gripper : Of<playerc_gripper_t> {
  using Of::Of;
  void Begin() override {
    data.pose = device->MountPose();
    data.inner_size = device->Size();
    data.outer_size = playerc::GripperOuter(data.inner_size);
    data.num_beams = 2;
  }
  void Update() override {
    data.state = static_cast<uint8_t>(device->GripState());
    data.beams = device->Beams();
  }
};

struct Ptz : Of<playerc_ptz_t> {
  using Of::Of;
  void Update() override {
    player_pose2d_t gaze = device->Gaze();
    data.pan = gaze.px;
    data.tilt = gaze.py;
    data.zoom = gaze.pa;
    data.status = 1;
  }
};

struct Fiducial : Of<playerc_fiducial_t> {
  std::vector<player_fiducial_item_t> items = std::vector<player_fiducial_item_t>(room);
  Fiducial(playerc_client_t *client, int index, int code) : Of(client, index, code) { data.fiducials = items.data(); }
  void Update() override {
    size_t n = std::min(device->fiducials.size(), room);
    data.fiducials_count = static_cast<int>(n);
    std::copy_n(device->fiducials.begin(), n, items.begin());
    std::fill(items.begin() + static_cast<ptrdiff_t>(n), items.end(), player_fiducial_item_t());
  }
};

struct Simulation : Of<playerc_simulation_t> {
  using Of::Of;
};

struct Camera : Of<playerc_camera_t> {
  std::vector<uint8_t> image;
  using Of::Of;
  void Show() {
    const playerc::Picture &p = device->picture;
    image = p.bytes;
    data.width = static_cast<int>(p.width);
    data.height = static_cast<int>(p.height);
    data.bpp = 24;
    data.format = PLAYER_CAMERA_FORMAT_RGB888;
    data.fdiv = 1;
    data.compression = p.compressed;
    data.image_count = static_cast<int>(image.size());
    data.image = image.data();
  }
  void Update() override { Show(); }
};

struct Graphics2d : Of<playerc_graphics2d_t> {
  using Of::Of;
};

// Copies a device's data into a structure of the program, but for its head.
template <typename T> void take(T &to, T from) {
  from.info = to.info;
  to = from;
}

struct Imu : Of<playerc_imu_t> {
  using Of::Of;
  void Update() override { take(data, device->Imu()); }
};

struct Gps : Of<playerc_gps_t> {
  using Of::Of;
  void Update() override { take(data, device->Gps()); }
};

struct Dio : Of<playerc_dio_t> {
  using Of::Of;
  void Update() override {
    data.count = static_cast<uint8_t>(std::min(device->Channels('i', true), 32u));
    data.digin = device->Inputs();
  }
};

struct Aio : Of<playerc_aio_t> {
  std::vector<float> voltages = std::vector<float>(PLAYER_MAX_IO);
  Aio(playerc_client_t *client, int index, int code) : Of(client, index, code) { data.voltages = voltages.data(); }
  void Update() override {
    data.voltages_count = static_cast<uint8_t>(std::min<size_t>(device->Channels('i', false), voltages.size()));
    for (unsigned i = 0; i < data.voltages_count; i++) voltages[i] = static_cast<float>(device->Input(i, false));
  }
};

struct Actarray : Of<playerc_actarray_t> {
  std::vector<player_actarray_actuator_t> joints = std::vector<player_actarray_actuator_t>(PLAYER_MAX_JOINTS);
  std::vector<player_actarray_actuatorgeom_t> geometry = std::vector<player_actarray_actuatorgeom_t>(PLAYER_MAX_JOINTS);
  Actarray(playerc_client_t *client, int index, int code) : Of(client, index, code) {
    data.actuators_data = joints.data();
    data.actuators_geom = geometry.data();
  }
  unsigned Number() const { return std::min<unsigned>(device->Joints(), PLAYER_MAX_JOINTS); }
  void Begin() override {
    data.actuators_geom_count = Number();
    for (unsigned i = 0; i < data.actuators_geom_count; i++) geometry[i] = device->JointGeometry(i);
  }
  void Update() override {
    data.actuators_count = Number();
    for (unsigned i = 0; i < data.actuators_count; i++) joints[i] = device->Joint(i);
  }
};

int grip(playerc_gripper_t *device, unsigned char command) {
  return attempt([&] { subscribed(device).Grip(command); });
}

// Calls f for a joint, or for all.
template <typename F> int joints(playerc_actarray_t *device, int joint, F f) {
  return attempt([&] {
    playerc::Device &d = subscribed(device);
    if (joint >= 0) return f(d, static_cast<unsigned>(joint));
    for (unsigned i = 0; i < d.Joints(); i++) f(d, i);
  });
}

} // namespace

// A name that both a program and C++ know.
struct playerc_mclient {
  std::vector<playerc_client_t *> clients;
};

extern "C" {

const char *playerc_error_str(void) { return error; }

// ---- Clients ----

playerc_client_t *playerc_client_create(playerc_mclient_t *mclient, const char *host, int port) {
  return made([&] {
    auto c = std::make_unique<playerc_client_t>();
    auto s = std::make_unique<std::shared_ptr<State>>(std::make_shared<State>());
    c->port = port;
    if (mclient) mclient->clients.push_back(c.get());
    c->host = strdup(host);
    if (!c->host) {
      if (mclient) mclient->clients.pop_back();
      throw std::bad_alloc();
    }
    c->id = s.release();
    return c.release();
  });
}

void playerc_client_destroy(playerc_client_t *c) {
  if (!c) return;
  playerc_client_disconnect(c);
  for (Proxy *p : state(c).proxies) p->info->client = nullptr;
  delete static_cast<std::shared_ptr<State> *>(c->id);
  free(c->host);
  delete c;
}

int playerc_client_connect(playerc_client_t *c) {
  return attempt([&] {
    if (c->port < 1 || c->port > 65535) throw Failure{"port " + std::to_string(c->port) + " is not in 1 to 65535"};
    // The devices of an earlier connection end with it: a device would have no data any
    // more, and a program that subscribes it again would learn that it is.
    if (state(c).client) state(c).client->Close();
    playerc_client_disconnect(c);
    state(c).client = playerc::Client::Connect(c->host, static_cast<uint32_t>(c->port), state(c).patience);
    c->connected = 1;
  });
}

int playerc_client_disconnect(playerc_client_t *c) {
  for (Proxy *p : state(c).proxies) unsubscribe(p->info);
  if (state(c).client) state(c).client->Close();
  state(c).client.reset();
  c->connected = 0;
  return 0;
}

void *playerc_client_read(playerc_client_t *c) {
  std::vector<Callback> calls;
  int failed = attempt([&] {
    playerc::Client &client = state(c).Connected();
    client.Read();
    std::lock_guard<std::recursive_mutex> lock(client.mutex);
    for (Proxy *p : state(c).proxies) {
      if (!p->device || !p->device->fresh) continue;
      p->device->fresh = false;
      p->Update();
      p->info->fresh = 1;
      p->info->lasttime = p->info->datatime;
      p->info->datatime = p->device->time;
      c->datatime = std::max(c->datatime, p->info->datatime);
      calls.insert(calls.end(), p->callbacks.begin(), p->callbacks.end());
    }
  });
  if (failed) {
    if (state(c).client) c->connected = state(c).client->Connected();
    return nullptr;
  }
  for (const Callback &call : calls) call.function(call.data);
  return c->id;
}

int playerc_client_peek(playerc_client_t *c, int timeout) {
  bool ready = false;
  int failed = attempt([&] { ready = state(c).Connected().Peek(std::chrono::milliseconds(timeout)); });
  return failed ? -1 : ready;
}

int playerc_client_datamode(playerc_client_t *, uint8_t) { return 0; }
int playerc_client_requestdata(playerc_client_t *) { return 0; }
int playerc_client_set_replace_rule(playerc_client_t *, int, int, int, int, int) { return 0; }
int playerc_client_set_transport(playerc_client_t *, unsigned int) { return 0; }

void playerc_client_set_request_timeout(playerc_client_t *c, uint32_t seconds) {
  state(c).patience = std::chrono::seconds(seconds);
  if (state(c).client) state(c).client->patience = state(c).patience;
}

int playerc_client_addcallback(playerc_client_t *, playerc_device_t *device, playerc_callback_fn_t callback, void *data) {
  return attempt([&] { proxy(device).callbacks.push_back({callback, data}); });
}

int playerc_client_delcallback(playerc_client_t *, playerc_device_t *device, playerc_callback_fn_t callback, void *data) {
  auto &all = proxy(device).callbacks;
  all.erase(std::remove(all.begin(), all.end(), Callback{callback, data}), all.end());
  return 0;
}

playerc_mclient_t *playerc_mclient_create(void) {
  return made([] { return new playerc_mclient_t; });
}
void playerc_mclient_destroy(playerc_mclient_t *m) { delete m; }

int playerc_mclient_addclient(playerc_mclient_t *m, playerc_client_t *c) {
  return attempt([&] { m->clients.push_back(c); });
}

int playerc_mclient_peek(playerc_mclient_t *m, int timeout) {
  int n = 0;
  for (playerc_client_t *c : m->clients) {
    int ready = playerc_client_peek(c, timeout);
    if (ready < 0) return -1;
    n += ready;
  }
  return n;
}

int playerc_mclient_read(playerc_mclient_t *m, int timeout) {
  int n = 0;
  for (playerc_client_t *c : m->clients) {
    int ready = playerc_client_peek(c, timeout);
    if (ready < 0 || (ready && !playerc_client_read(c))) return -1;
    n += ready;
  }
  return n;
}

// ---- Devices ----

#define DEVICE(Type, name, code)                                                                       \
  playerc_##name##_t *playerc_##name##_create(playerc_client_t *client, int index) {                   \
    return made([&] { return &(new Type(client, index, code))->data; });                               \
  }                                                                                                    \
  void playerc_##name##_destroy(playerc_##name##_t *device) {                                          \
    if (device) delete &proxy(device);                                                                 \
  }                                                                                                    \
  int playerc_##name##_subscribe(playerc_##name##_t *device, int access) { return subscribe(device, access); } \
  int playerc_##name##_unsubscribe(playerc_##name##_t *device) { return unsubscribe(device); }

DEVICE(Position2d, position2d, PLAYER_POSITION2D_CODE)
DEVICE(Laser, laser, PLAYER_LASER_CODE)
DEVICE(Sonar, sonar, PLAYER_SONAR_CODE)
DEVICE(Ranger, ranger, PLAYER_RANGER_CODE)
DEVICE(Bumper, bumper, PLAYER_BUMPER_CODE)
DEVICE(Power, power, PLAYER_POWER_CODE)
DEVICE(Blobfinder, blobfinder, PLAYER_BLOBFINDER_CODE)
DEVICE(Gripper, gripper, PLAYER_GRIPPER_CODE)
DEVICE(Ptz, ptz, PLAYER_PTZ_CODE)
DEVICE(Fiducial, fiducial, PLAYER_FIDUCIAL_CODE)
DEVICE(Simulation, simulation, PLAYER_SIMULATION_CODE)
DEVICE(Camera, camera, PLAYER_CAMERA_CODE)
DEVICE(Graphics2d, graphics2d, PLAYER_GRAPHICS2D_CODE)
DEVICE(Imu, imu, PLAYER_IMU_CODE)
DEVICE(Gps, gps, PLAYER_GPS_CODE)
DEVICE(Dio, dio, PLAYER_DIO_CODE)
DEVICE(Aio, aio, PLAYER_AIO_CODE)
DEVICE(Actarray, actarray, PLAYER_ACTARRAY_CODE)

// Asks for the geometry, which has been there since the device was subscribed.
static int geometry(void *device) {
  return attempt([&] { subscribed(device); });
}

int playerc_position2d_enable(playerc_position2d_t *device, int enable) {
  return attempt([&] { subscribed(device).Send([&](player::CRobot &robot) { return robot.ChangeMotorState(enable != 0); }); });
}
int playerc_position2d_get_geom(playerc_position2d_t *device) { return geometry(device); }
int playerc_position2d_set_cmd_vel(playerc_position2d_t *device, double vx, double, double va, int on) {
  return attempt([&] { subscribed(device).Drive(on ? vx : 0, on ? va : 0); });
}
int playerc_position2d_set_cmd_pose(playerc_position2d_t *device, double gx, double gy, double ga, int on) {
  if (!on) return playerc_position2d_set_cmd_vel(device, 0, 0, 0, 0);
  return attempt([&] { subscribed(device).GoTo({gx, gy, ga}); });
}
int playerc_position2d_set_cmd_car(playerc_position2d_t *device, double vx, double a) {
  return attempt([&] { subscribed(device).Steer(vx, a); });
}
int playerc_position2d_set_cmd_vel_head(playerc_position2d_t *device, double vx, double, double pa, int on) {
  if (!on) return playerc_position2d_set_cmd_vel(device, 0, 0, 0, 0);
  return attempt([&] { subscribed(device).Head(vx, pa); });
}
int playerc_position2d_set_odom(playerc_position2d_t *device, double ox, double oy, double oa) {
  return attempt([&] { subscribed(device).SetPose({ox, oy, oa}); });
}

int playerc_laser_get_geom(playerc_laser_t *device) { return geometry(device); }
int playerc_laser_get_config(playerc_laser_t *device, double *min_angle, double *max_angle, double *resolution, double *range_res, unsigned char *intensity,
                             double *scanning_frequency) {
  *min_angle = device->scan_start;
  *max_angle = -device->scan_start;
  *resolution = device->scan_res;
  *range_res = device->range_res;
  *intensity = 0;
  *scanning_frequency = device->scanning_frequency;
  return geometry(device);
}
int playerc_laser_set_config(playerc_laser_t *device, double, double, double, double, unsigned char, double) { return geometry(device); }

int playerc_sonar_get_geom(playerc_sonar_t *device) { return geometry(device); }

int playerc_ranger_get_geom(playerc_ranger_t *device) { return geometry(device); }
int playerc_ranger_get_config(playerc_ranger_t *device, double *min_angle, double *max_angle, double *angular_res, double *min_range, double *max_range,
                              double *range_res, double *frequency) {
  // Programs pass NULL for values that they do not want.
  auto put = [](double *to, double v) {
    if (to) *to = v;
  };
  put(min_angle, device->min_angle);
  put(max_angle, device->max_angle);
  put(angular_res, device->angular_res);
  put(min_range, device->min_range);
  put(max_range, device->max_range);
  put(range_res, device->range_res);
  put(frequency, device->frequency);
  return geometry(device);
}
int playerc_ranger_set_config(playerc_ranger_t *device, double, double, double, double, double, double, double) { return geometry(device); }
int playerc_ranger_power_config(playerc_ranger_t *device, uint8_t) { return geometry(device); }
int playerc_ranger_intns_config(playerc_ranger_t *device, uint8_t) { return geometry(device); }

int playerc_gripper_open_cmd(playerc_gripper_t *device) { return grip(device, player::GRIPopen); }
int playerc_gripper_close_cmd(playerc_gripper_t *device) { return grip(device, player::GRIPclose); }
int playerc_gripper_stop_cmd(playerc_gripper_t *device) { return grip(device, player::GRIPhalt); }
int playerc_gripper_store_cmd(playerc_gripper_t *device) { return grip(device, player::GRIPstore); }
int playerc_gripper_retrieve_cmd(playerc_gripper_t *device) { return grip(device, player::GRIPdeploy); }
int playerc_gripper_get_geom(playerc_gripper_t *device) { return geometry(device); }
void playerc_gripper_printout(playerc_gripper_t *device, const char *prefix) {
  printf("%s: state %d, beams %u, stored %d\n", prefix, device->state, device->beams, device->stored);
}

int playerc_fiducial_get_geom(playerc_fiducial_t *device) { return geometry(device); }

int playerc_ptz_set(playerc_ptz_t *device, double pan, double tilt, double zoom) {
  return attempt([&] { subscribed(device).Look(pan, tilt, zoom); });
}

int playerc_simulation_set_pose2d(playerc_simulation_t *device, char *name, double x, double y, double a) {
  return attempt([&] { playerc::SetWorldPose(*subscribed(device).client, name, {x, y, a}); });
}
int playerc_simulation_get_pose2d(playerc_simulation_t *device, char *name, double *x, double *y, double *a) {
  return attempt([&] {
    player_pose2d_t pose = playerc::WorldPose(*subscribed(device).client, name);
    *x = pose.px;
    *y = pose.py;
    *a = pose.pa;
  });
}
int playerc_simulation_set_property(playerc_simulation_t *device, char *name, char *property, void *value, size_t size) {
  return attempt([&] { playerc::SetWorldProperty(*subscribed(device).client, name, property, value, size); });
}
int playerc_simulation_get_property(playerc_simulation_t *device, char *name, char *property, void *value, size_t size) {
  return attempt([&] { playerc::WorldProperty(*subscribed(device).client, name, property, value, size); });
}

void playerc_camera_decompress(playerc_camera_t *device) {
  attempt([&] {
    subscribed(device).picture.Decompress();
    static_cast<Camera &>(proxy(device)).Show();
  });
}
void playerc_camera_save(playerc_camera_t *device, const char *filename) {
  attempt([&] { subscribed(device).picture.Write(filename); });
}

int playerc_graphics2d_setcolor(playerc_graphics2d_t *device, player_color_t col) {
  device->color = col;
  return geometry(device);
}
int playerc_graphics2d_draw_points(playerc_graphics2d_t *device, player_point_2d_t *, int) { return geometry(device); }
int playerc_graphics2d_draw_polyline(playerc_graphics2d_t *device, player_point_2d_t *, int) { return geometry(device); }
int playerc_graphics2d_draw_polygon(playerc_graphics2d_t *device, player_point_2d_t *, int, int, player_color_t) { return geometry(device); }
int playerc_graphics2d_clear(playerc_graphics2d_t *device) { return geometry(device); }

int playerc_imu_datatype(playerc_imu_t *device, int) { return geometry(device); }
static int no_reset(playerc_imu_t *device) {
  return attempt([&] {
    subscribed(device);
    throw Failure{"an IMU here has no command that sets its orientation: subtract the first one"};
  });
}
int playerc_imu_reset_orientation(playerc_imu_t *device, int) { return no_reset(device); }
int playerc_imu_reset_euler(playerc_imu_t *device, float, float, float) { return no_reset(device); }

int playerc_dio_set_output(playerc_dio_t *device, uint8_t count, uint32_t bits) {
  return attempt([&] { subscribed(device).Outputs(count, bits); });
}
int playerc_aio_set_output(playerc_aio_t *device, uint8_t id, float volt) {
  return attempt([&] { subscribed(device).Output(id, false, volt); });
}
float playerc_aio_get_data(playerc_aio_t *device, uint32_t index) { return index < device->voltages_count ? device->voltages[index] : 0; }

player_actarray_actuator_t playerc_actarray_get_actuator_data(playerc_actarray_t *device, uint32_t index) {
  return index < device->actuators_count ? device->actuators_data[index] : player_actarray_actuator_t();
}
player_actarray_actuatorgeom_t playerc_actarray_get_actuator_geom(playerc_actarray_t *device, uint32_t index) {
  return index < device->actuators_geom_count ? device->actuators_geom[index] : player_actarray_actuatorgeom_t();
}
int playerc_actarray_get_geom(playerc_actarray_t *device) {
  return attempt([&] {
    subscribed(device);
    proxy(device).Begin();
  });
}
int playerc_actarray_position_cmd(playerc_actarray_t *device, int joint, float position) {
  return joints(device, joint, [&](playerc::Device &d, unsigned i) { d.MoveJoint(i, position); });
}
int playerc_actarray_multi_position_cmd(playerc_actarray_t *device, float *positions, int count) {
  return attempt([&] {
    for (int i = 0; i < count; i++) subscribed(device).MoveJoint(static_cast<unsigned>(i), positions[i]);
  });
}
int playerc_actarray_speed_cmd(playerc_actarray_t *device, int joint, float speed) {
  return joints(device, joint, [&](playerc::Device &d, unsigned i) { d.TurnJoint(i, speed); });
}
int playerc_actarray_multi_speed_cmd(playerc_actarray_t *device, float *speeds, int count) {
  return attempt([&] {
    for (int i = 0; i < count; i++) subscribed(device).TurnJoint(static_cast<unsigned>(i), speeds[i]);
  });
}
int playerc_actarray_home_cmd(playerc_actarray_t *device, int joint) {
  return attempt([&] { subscribed(device).HomeJoints(joint); });
}
int playerc_actarray_speed_config(playerc_actarray_t *device, int joint, float speed) {
  return joints(device, joint, [&](playerc::Device &d, unsigned i) { d.SetJointSpeed(i, speed); });
}
int playerc_actarray_power(playerc_actarray_t *device, uint8_t enable) {
  return attempt([&] {
    subscribed(device).PowerJoints(enable != 0);
    device->motor_state = enable != 0;
  });
}
int playerc_actarray_brakes(playerc_actarray_t *device, uint8_t) { return geometry(device); }

}  // extern "C"
