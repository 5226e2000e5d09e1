// SPDX-License-Identifier: Apache-2.0
//
// The classes of libplayerc++.
#include <libplayerc++/playerc++.h>

#include <thread>

#include "core.hpp"

namespace PlayerCc {

// The implementation of the classes.
struct PlayerClient::Core {
  std::shared_ptr<playerc::Client> client;
  std::thread thread;
};

struct ClientProxy::Device : playerc::Device {
  using playerc::Device::Device;
};

// Calls f, whose failures become errors of a function.
template <typename F> static auto call(const char *function, F f) {
  try {
    return f();
  } catch (const playerc::Failure &failure) {
    throw PlayerError(function, failure.text);
  }
}

// ---- PlayerClient ----

PlayerClient::PlayerClient(const std::string aHostname, uint32_t aPort, int) : mCore(nullptr) {
  mCore = call("PlayerClient::PlayerClient", [&] { return new Core{playerc::Client::Connect(aHostname, aPort), {}}; });
}

PlayerClient::~PlayerClient() {
  StopThread();
  mCore->client->Close();
  delete mCore;
}

bool PlayerClient::Connected() const { return mCore->client->Connected(); }

void PlayerClient::Read() {
  call("PlayerClient::Read", [&] { mCore->client->Read(); });
}

bool PlayerClient::Peek(uint32_t timeout) {
  return call("PlayerClient::Peek", [&] { return mCore->client->Peek(std::chrono::milliseconds(timeout)); });
}

void PlayerClient::ReadIfWaiting() {
  if (Peek(0)) Read();
}

void PlayerClient::StartThread() {
  if (mCore->thread.joinable()) return;
  mCore->client->stopping = false;
  mCore->thread = std::thread([this] {
    try {
      while (!mCore->client->stopping) Read();
    } catch (const PlayerError &e) {
      std::cerr << "playerc++: the reading thread ends: " << e.GetErrorStr() << std::endl;
    } catch (const std::exception &e) {
      std::cerr << "playerc++: the reading thread ends: " << e.what() << std::endl;
    }
  });
}

void PlayerClient::StopThread() {
  if (!mCore->thread.joinable()) return;
  mCore->client->Stop();
  mCore->thread.join();
  mCore->client->stopping = false;
}

void PlayerClient::Run(uint32_t aTimeout) {
  mCore->client->stopping = false;
  while (!mCore->client->stopping) {
    ReadIfWaiting();
    std::this_thread::sleep_for(std::chrono::milliseconds(aTimeout));
  }
  mCore->client->stopping = false;
}

void PlayerClient::Stop() { mCore->client->Stop(); }

void PlayerClient::SetDataMode(uint32_t) {}
void PlayerClient::SetReplaceRule(bool, int, int, int) {}
void PlayerClient::SetRequestTimeout(uint32_t seconds) { mCore->client->patience = std::chrono::seconds(seconds); }
void PlayerClient::SetRetryLimit(int limit) { mCore->client->retries = limit; }
int PlayerClient::GetRetryLimit() const { return mCore->client->retries; }
void PlayerClient::SetRetryTime(double seconds) { mCore->client->retry_pause = seconds; }
double PlayerClient::GetRetryTime() const { return mCore->client->retry_pause; }
void PlayerClient::RequestDeviceList() {}
std::string PlayerClient::GetHostname() const { return mCore->client->host; }
uint32_t PlayerClient::GetPort() const { return mCore->client->port; }

int PlayerClient::LookupCode(std::string aName) const {
  const playerc::Interface *i = playerc::FindInterface(aName);
  return i ? i->code : 0;
}

std::string PlayerClient::LookupName(int aCode) const {
  const playerc::Interface *i = playerc::FindInterface(aCode);
  return i ? i->name : "unknown";
}

// ---- ClientProxy ----

ClientProxy::ClientProxy(PlayerClient *aPc, uint32_t aIndex, int aCode) : mPc(aPc), mDevice(nullptr) {
  const playerc::Interface &i = *playerc::FindInterface(aCode);
  if (!aPc) throw PlayerError(i.name, "a proxy needs a PlayerClient");
  mDevice = call(i.name, [&] { return new Device(aPc->mCore->client, i, aIndex); });
}

ClientProxy::~ClientProxy() { delete mDevice; }

// A thread may read meanwhile.
template <typename F> static auto locked(const playerc::Device &d, F f) {
  std::lock_guard<std::recursive_mutex> lock(d.client->mutex);
  return f();
}

bool ClientProxy::IsValid() const {
  return locked(*mDevice, [&] { return mDevice->valid; });
}
bool ClientProxy::IsFresh() const {
  return locked(*mDevice, [&] { return mDevice->fresh; });
}
void ClientProxy::NotFresh() {
  locked(*mDevice, [&] { return mDevice->fresh = false; });
}
std::string ClientProxy::GetDriverName() const { return "player"; }
double ClientProxy::GetDataTime() const {
  return locked(*mDevice, [&] { return mDevice->time; });
}
double ClientProxy::GetElapsedTime() const {
  return locked(*mDevice, [&] { return mDevice->elapsed; });
}
uint32_t ClientProxy::GetIndex() const { return mDevice->index; }
uint32_t ClientProxy::GetInterface() const { return static_cast<uint32_t>(mDevice->interface.code); }
std::string ClientProxy::GetInterfaceStr() const { return mDevice->interface.name; }
void ClientProxy::SetReplaceRule(bool, int, int) {}

int ClientProxy::Connect(Slot *aSlot) {
  std::shared_ptr<Slot> slot(aSlot);
  std::lock_guard<std::recursive_mutex> lock(mDevice->client->mutex);
  mDevice->slots[++mDevice->next_slot] = [slot] { slot->Call(); };
  return mDevice->next_slot;
}

void ClientProxy::DisconnectReadSignal(connection_t aSubscriber) {
  std::lock_guard<std::recursive_mutex> lock(mDevice->client->mutex);
  mDevice->slots.erase(aSubscriber);
}

// ---- Position2dProxy ----

void Position2dProxy::SetSpeed(double aXSpeed, double aYawSpeed) {
  call("Position2dProxy::SetSpeed", [&] { mDevice->Drive(aXSpeed, aYawSpeed); });
}
void Position2dProxy::SetSpeed(double aXSpeed, double, double aYawSpeed) { SetSpeed(aXSpeed, aYawSpeed); }

void Position2dProxy::GoTo(player_pose2d_t pos, player_pose2d_t vel) {
  call("Position2dProxy::GoTo", [&] { mDevice->GoTo(pos, vel.px, vel.pa); });
}

void Position2dProxy::SetVelHead(double aXSpeed, double aYawHead) {
  call("Position2dProxy::SetVelHead", [&] { mDevice->Head(aXSpeed, aYawHead); });
}

void Position2dProxy::SetCarlike(double aXSpeed, double aDriveAngle) {
  call("Position2dProxy::SetCarlike", [&] { mDevice->Steer(aXSpeed, aDriveAngle); });
}

void Position2dProxy::SetMotorEnable(bool enable) {
  call("Position2dProxy::SetMotorEnable", [&] { mDevice->Send([&](player::CRobot &robot) { return robot.ChangeMotorState(enable); }); });
}

double Position2dProxy::GetXPos() const { return mDevice->Pose().px; }
double Position2dProxy::GetYPos() const { return mDevice->Pose().py; }
double Position2dProxy::GetYaw() const { return mDevice->Pose().pa; }
double Position2dProxy::GetXSpeed() const { return mDevice->Velocity().px; }
double Position2dProxy::GetYawSpeed() const { return mDevice->Velocity().pa; }
bool Position2dProxy::GetStall() const { return mDevice->Stalled(); }

void Position2dProxy::ResetOdometry() {
  call("Position2dProxy::ResetOdometry", [&] {
    mDevice->Send([&](player::CRobot &robot) {
      mDevice->origin = mDevice->target = player_pose2d_t();
      return robot.ResetPosition();
    });
  });
}

void Position2dProxy::SetOdometry(double aX, double aY, double aYaw) { mDevice->SetPose({aX, aY, aYaw}); }

void Position2dProxy::RequestGeom() {}
player_pose3d_t Position2dProxy::GetOffset() const { return mDevice->MountPose(); }
player_bbox3d_t Position2dProxy::GetSize() const { return mDevice->Size(); }

// ---- Ranges ----

uint32_t LaserProxy::GetCount() const { return mDevice->Count(); }
double LaserProxy::GetMaxRange() const { return mDevice->MaxRange(); }
double LaserProxy::GetScanRes() const { return mDevice->Resolution(); }
double LaserProxy::GetRangeRes() const { return mDevice->RangeResolution(); }
double LaserProxy::GetMinAngle() const { return mDevice->FirstAngle(); }
double LaserProxy::GetMaxAngle() const { return mDevice->LastAngle(); }
double LaserProxy::GetRange(uint32_t aIndex) const { return mDevice->Range(aIndex); }
double LaserProxy::GetBearing(uint32_t aIndex) const { return mDevice->Bearing(aIndex); }

player_point_2d_t LaserProxy::GetPoint(uint32_t aIndex) const {
  double range = GetRange(aIndex), bearing = GetBearing(aIndex);
  return {range * std::cos(bearing), range * std::sin(bearing)};
}

double LaserProxy::MinRight() const { return mDevice->Shortest(0, mDevice->Middle()); }
double LaserProxy::MinLeft() const { return mDevice->Shortest(mDevice->Middle(), GetCount()); }
player_pose3d_t LaserProxy::GetPose() const { return mDevice->MountPose(); }
player_bbox3d_t LaserProxy::GetSize() const { return mDevice->Size(); }
player_pose3d_t LaserProxy::GetRobotPose() const { return player_pose3d_t(); }

uint32_t SonarProxy::GetCount() const { return mDevice->Count(); }
double SonarProxy::GetScan(uint32_t aIndex) const { return mDevice->Range(aIndex); }
uint32_t SonarProxy::GetPoseCount() const { return mDevice->Elements(); }
player_pose3d_t SonarProxy::GetPose(uint32_t aIndex) const { return mDevice->ElementPose(aIndex); }

uint32_t IrProxy::GetCount() const { return mDevice->Count(); }
double IrProxy::GetRange(uint32_t aIndex) const { return mDevice->Range(aIndex); }
uint32_t IrProxy::GetPoseCount() const { return mDevice->Elements(); }
player_pose3d_t IrProxy::GetPose(uint32_t aIndex) const { return mDevice->ElementPose(aIndex); }

uint32_t RangerProxy::GetElementCount() const { return mDevice->Sensors(); }
uint32_t RangerProxy::GetRangeCount() const { return mDevice->Count(); }
double RangerProxy::GetRange(uint32_t aIndex) const { return mDevice->Range(aIndex); }
player_point_3d_t RangerProxy::GetPoint(uint32_t aIndex) const { return mDevice->Point(aIndex); }
double RangerProxy::GetMinAngle() const { return mDevice->FirstAngle(); }
double RangerProxy::GetMaxAngle() const { return mDevice->LastAngle(); }
double RangerProxy::GetMinRange() const { return mDevice->MinRange(); }
double RangerProxy::GetRangeRes() const { return mDevice->RangeResolution(); }
double RangerProxy::GetAngularRes() const { return mDevice->Resolution(); }
double RangerProxy::GetMaxRange() const { return mDevice->MaxRange(); }
player_pose3d_t RangerProxy::GetDevicePose() const { return mDevice->Scans() ? mDevice->MountPose() : player_pose3d_t(); }
player_bbox3d_t RangerProxy::GetDeviceSize() const { return mDevice->Scans() ? mDevice->Size() : player_bbox3d_t(); }
player_pose3d_t RangerProxy::GetElementPose(uint32_t aIndex) const { return mDevice->ElementPose(aIndex); }
player_bbox3d_t RangerProxy::GetElementSize(uint32_t) const { return player_bbox3d_t(); }

// ---- Bumpers and battery ----

uint32_t BumperProxy::GetCount() const { return mDevice->Bumpers(); }
bool BumperProxy::IsBumped(uint32_t aIndex) const { return mDevice->Bumped(aIndex); }
bool BumperProxy::IsAnyBumped() const {
  return mDevice->With([&](player::CRobot &robot) {
    const player_misc &misc = mDevice->Newest(*player_get_misc(robot.Client()));
    return mDevice->valid && (misc.front | misc.rear) != 0;
  });
}
player_pose3d_t BumperProxy::GetPose(uint32_t) const { return player_pose3d_t(); }

double PowerProxy::GetCharge() const { return mDevice->Volts(); }
double PowerProxy::GetPercent() const { return mDevice->Charge(); }

// ---- GripperProxy ----

static void grip(playerc::Device &d, const char *function, unsigned char command) {
  call(function, [&] { d.Grip(command); });
}

void GripperProxy::Open() { grip(*mDevice, "GripperProxy::Open", player::GRIPopen); }
void GripperProxy::Close() { grip(*mDevice, "GripperProxy::Close", player::GRIPclose); }
void GripperProxy::Stop() { grip(*mDevice, "GripperProxy::Stop", player::GRIPhalt); }
void GripperProxy::Store() { grip(*mDevice, "GripperProxy::Store", player::GRIPstore); }
void GripperProxy::Retrieve() { grip(*mDevice, "GripperProxy::Retrieve", player::GRIPdeploy); }

uint32_t GripperProxy::GetState() const { return mDevice->GripState(); }
uint32_t GripperProxy::GetBeams() const { return mDevice->Beams(); }
player_pose3d_t GripperProxy::GetPose() const { return mDevice->MountPose(); }
player_bbox3d_t GripperProxy::GetOuterSize() const { return playerc::GripperOuter(mDevice->Size()); }
player_bbox3d_t GripperProxy::GetInnerSize() const { return mDevice->Size(); }

// ---- PtzProxy ----

void PtzProxy::SetCam(double aPan, double aTilt, double aZoom) {
  call("PtzProxy::SetCam", [&] { mDevice->Look(aPan, aTilt, aZoom); });
}
double PtzProxy::GetPan() const { return mDevice->Gaze().px; }
double PtzProxy::GetTilt() const { return mDevice->Gaze().py; }
double PtzProxy::GetZoom() const { return mDevice->Gaze().pa; }

// ---- BlobfinderProxy ----

uint32_t BlobfinderProxy::GetCount() const { return mDevice->Blobs(); }
playerc_blobfinder_blob_t BlobfinderProxy::GetBlob(uint32_t aIndex) const { return mDevice->Blob(aIndex); }
uint32_t BlobfinderProxy::GetWidth() const { return IsValid() ? mDevice->client->settings.width : 0; }
uint32_t BlobfinderProxy::GetHeight() const { return IsValid() ? mDevice->client->settings.height : 0; }

// ---- CameraProxy ----

void CameraProxy::SaveFrame(const std::string aPrefix, uint32_t aWidth) {
  call("CameraProxy::SaveFrame", [&] {
    locked(*mDevice, [&] {
      std::string number = std::to_string(mDevice->saved);
      if (number.size() < aWidth) number.insert(0, std::min<size_t>(aWidth, 32) - number.size(), '0');
      if (!mDevice->absent) mDevice->picture.Save(aPrefix + number);
      mDevice->saved++;
    });
  });
}
void CameraProxy::Decompress() {
  call("CameraProxy::Decompress", [&] { locked(*mDevice, [&] { mDevice->picture.Decompress(); }); });
}
uint32_t CameraProxy::GetDepth() const { return IsValid() ? 24 : 0; }
uint32_t CameraProxy::GetWidth() const {
  return locked(*mDevice, [&] { return mDevice->picture.width; });
}
uint32_t CameraProxy::GetHeight() const {
  return locked(*mDevice, [&] { return mDevice->picture.height; });
}
uint32_t CameraProxy::GetFormat() const { return IsValid() ? +PLAYER_CAMERA_FORMAT_RGB888 : 0; }
uint32_t CameraProxy::GetImageSize() const {
  return locked(*mDevice, [&] { return static_cast<uint32_t>(mDevice->picture.bytes.size()); });
}
void CameraProxy::GetImage(uint8_t *aImage) const {
  locked(*mDevice, [&] { return std::copy(mDevice->picture.bytes.begin(), mDevice->picture.bytes.end(), aImage); });
}
uint32_t CameraProxy::GetCompression() const {
  return locked(*mDevice, [&] { return static_cast<uint32_t>(mDevice->picture.compressed && !mDevice->picture.bytes.empty()); });
}

// ---- Devices without a letter ----

player_pose3d_t ImuProxy::GetPose() const { return mDevice->Imu().pose; }
player_imu_data_calib_t ImuProxy::GetRawValues() const { return mDevice->Imu().calib_data; }
static void no_reset(const char *function) { throw PlayerError(function, "an IMU here has no command that sets its orientation: subtract the first one"); }
void ImuProxy::ResetOrientation(int) { no_reset("ImuProxy::ResetOrientation"); }
void ImuProxy::ResetEuler(float, float, float) { no_reset("ImuProxy::ResetEuler"); }

double GpsProxy::GetLatitude() const { return mDevice->Gps().lat; }
double GpsProxy::GetLongitude() const { return mDevice->Gps().lon; }
double GpsProxy::GetAltitude() const { return mDevice->Gps().alt; }
double GpsProxy::GetSpeed() const { return mDevice->Gps().speed; }
double GpsProxy::GetCourse() const { return mDevice->Gps().course; }
uint32_t GpsProxy::GetSatellites() const { return static_cast<uint32_t>(mDevice->Gps().sat_count); }
uint32_t GpsProxy::GetQuality() const { return static_cast<uint32_t>(mDevice->Gps().quality); }
double GpsProxy::GetUtmEasting() const { return mDevice->Gps().utm_e; }
double GpsProxy::GetUtmNorthing() const { return mDevice->Gps().utm_n; }
double GpsProxy::GetTime() const { return mDevice->Gps().utc_time; }
double GpsProxy::GetErrHorizontal() const { return mDevice->Gps().err_horz; }
double GpsProxy::GetErrVertical() const { return mDevice->Gps().err_vert; }

uint32_t DioProxy::GetCount() const { return mDevice->Channels('i', true); }
uint32_t DioProxy::GetDigin() const { return mDevice->Inputs(); }
bool DioProxy::GetInput(uint32_t aIndex) const { return mDevice->Input(aIndex, true) != 0; }
void DioProxy::SetOutput(uint32_t aCount, uint32_t aDigout) {
  call("DioProxy::SetOutput", [&] { mDevice->Outputs(aCount, aDigout); });
}

uint32_t AioProxy::GetCount() const { return mDevice->Channels('i', false); }
double AioProxy::GetVoltage(uint32_t aIndex) const { return mDevice->Input(aIndex, false); }
void AioProxy::SetVoltage(uint32_t aIndex, double aVoltage) {
  call("AioProxy::SetVoltage", [&] { mDevice->Output(aIndex, false, aVoltage); });
}

void ActArrayProxy::SetPowerConfig(bool aVal) {
  call("ActArrayProxy::SetPowerConfig", [&] { mDevice->PowerJoints(aVal); });
}
void ActArrayProxy::SetSpeedConfig(uint32_t aJoint, float aSpeed) {
  call("ActArrayProxy::SetSpeedConfig", [&] { mDevice->SetJointSpeed(aJoint, aSpeed); });
}
void ActArrayProxy::MoveTo(uint32_t aJoint, float aPos) {
  call("ActArrayProxy::MoveTo", [&] { mDevice->MoveJoint(aJoint, aPos); });
}
void ActArrayProxy::MoveToMulti(std::vector<float> aPos) {
  for (size_t i = 0; i < aPos.size(); i++) MoveTo(static_cast<uint32_t>(i), aPos[i]);
}
void ActArrayProxy::MoveAtSpeed(uint32_t aJoint, float aSpeed) {
  call("ActArrayProxy::MoveAtSpeed", [&] { mDevice->TurnJoint(aJoint, aSpeed); });
}
void ActArrayProxy::MoveAtSpeedMulti(std::vector<float> aSpeed) {
  for (size_t i = 0; i < aSpeed.size(); i++) MoveAtSpeed(static_cast<uint32_t>(i), aSpeed[i]);
}
void ActArrayProxy::MoveHome(int aJoint) {
  call("ActArrayProxy::MoveHome", [&] { mDevice->HomeJoints(aJoint); });
}
static void no_current(const char *function) { throw PlayerError(function, "a joint here has a position and a speed, and no current"); }
void ActArrayProxy::SetActuatorCurrent(uint32_t, float) { no_current("ActArrayProxy::SetActuatorCurrent"); }
void ActArrayProxy::SetActuatorCurrentMulti(std::vector<float>) { no_current("ActArrayProxy::SetActuatorCurrentMulti"); }
uint32_t ActArrayProxy::GetCount() const { return mDevice->Joints(); }
player_actarray_actuator_t ActArrayProxy::GetActuatorData(uint32_t aJoint) const { return mDevice->Joint(aJoint); }
player_actarray_actuatorgeom_t ActArrayProxy::GetActuatorGeom(uint32_t aJoint) const { return mDevice->JointGeometry(aJoint); }

// ---- SimulationProxy ----

SimulationProxy::SimulationProxy(PlayerClient *aPc, uint32_t aIndex) : ClientProxy(aPc, aIndex, PLAYER_SIMULATION_CODE) {
  call("SimulationProxy::SimulationProxy", [&] { playerc::WorldTime(*mDevice->client); });
}

void SimulationProxy::SetPose2d(const char *identifier, double x, double y, double a) {
  call("SimulationProxy::SetPose2d", [&] { playerc::SetWorldPose(*mDevice->client, identifier, {x, y, a}); });
}

void SimulationProxy::GetPose2d(const char *identifier, double &x, double &y, double &a) {
  player_pose2d_t pose = call("SimulationProxy::GetPose2d", [&] { return playerc::WorldPose(*mDevice->client, identifier); });
  x = pose.px;
  y = pose.py;
  a = pose.pa;
}

void SimulationProxy::SetPose3d(const char *identifier, double x, double y, double, double, double, double yaw) { SetPose2d(identifier, x, y, yaw); }

void SimulationProxy::GetPose3d(const char *identifier, double &x, double &y, double &z, double &roll, double &pitch, double &yaw, double &time) {
  GetPose2d(identifier, x, y, yaw);
  z = roll = pitch = 0;
  call("SimulationProxy::GetPose3d", [&] { time = playerc::WorldTime(*mDevice->client); });
}

void SimulationProxy::GetProperty(const char *identifier, const char *name, void *value, size_t value_len) {
  call("SimulationProxy::GetProperty", [&] { playerc::WorldProperty(*mDevice->client, identifier, name, value, value_len); });
}
void SimulationProxy::SetProperty(const char *identifier, const char *name, void *value, size_t value_len) {
  call("SimulationProxy::SetProperty", [&] { playerc::SetWorldProperty(*mDevice->client, identifier, name, value, value_len); });
}

uint32_t FiducialProxy::GetCount() const {
  return locked(*mDevice, [&] { return static_cast<uint32_t>(mDevice->fiducials.size()); });
}
player_fiducial_item_t FiducialProxy::GetFiducialItem(uint32_t aIndex) const {
  return locked(*mDevice, [&] { return aIndex < mDevice->fiducials.size() ? mDevice->fiducials[aIndex] : player_fiducial_item_t(); });
}

// ---- Printing ----

std::ostream &operator<<(std::ostream &os, const PlayerClient &c) {
  return os << c.GetHostname() << ":" << c.GetPort() << (c.Connected() ? " connected" : " not connected");
}

std::ostream &operator<<(std::ostream &os, const ClientProxy &p) {
  return os << "#" << p.GetInterfaceStr() << " (" << p.GetIndex() << ")" << (p.IsValid() ? "" : ": no data yet") << std::endl;
}

static std::ostream &title(std::ostream &os, const ClientProxy &p) { return os << p; }

// Prints readings in a line.
template <typename P> static std::ostream &readings(std::ostream &os, const P &p, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) os << (i ? " " : "") << p[i];
  return os << std::endl;
}

std::ostream &operator<<(std::ostream &os, const Position2dProxy &p) {
  return title(os, p) << "xpos\typos\tyaw\tspeed\tyawspeed\tstall" << std::endl
                      << p.GetXPos() << '\t' << p.GetYPos() << '\t' << p.GetYaw() << '\t' << p.GetXSpeed() << '\t' << p.GetYawSpeed() << '\t' << p.GetStall()
                      << std::endl;
}

std::ostream &operator<<(std::ostream &os, const LaserProxy &p) {
  title(os, p) << p.GetCount() << " readings from " << p.GetMinAngle() << " to " << p.GetMaxAngle() << ", at most " << p.GetMaxRange() << std::endl;
  return readings(os, p, p.GetCount());
}

std::ostream &operator<<(std::ostream &os, const SonarProxy &p) { return readings(title(os, p), p, p.GetCount()); }
std::ostream &operator<<(std::ostream &os, const IrProxy &p) { return readings(title(os, p), p, p.GetCount()); }
std::ostream &operator<<(std::ostream &os, const RangerProxy &p) { return readings(title(os, p), p, p.GetRangeCount()); }
std::ostream &operator<<(std::ostream &os, const BumperProxy &p) { return readings(title(os, p), p, p.GetCount()); }
std::ostream &operator<<(std::ostream &os, const PowerProxy &p) { return title(os, p) << p.GetCharge() << " V, " << p.GetPercent() << " %" << std::endl; }

std::ostream &operator<<(std::ostream &os, const GripperProxy &p) {
  static const char *const states[] = {"unknown", "open", "closed", "moving", "error"};
  return title(os, p) << states[p.GetState()] << ", beams " << p.GetBeams() << std::endl;
}

std::ostream &operator<<(std::ostream &os, const PtzProxy &p) {
  return title(os, p) << "pan\ttilt\tzoom" << std::endl << p.GetPan() << '\t' << p.GetTilt() << '\t' << p.GetZoom() << std::endl;
}

std::ostream &operator<<(std::ostream &os, const BlobfinderProxy &p) {
  title(os, p) << "id\tcolor\tarea\tx\ty\tleft\tright\ttop\tbottom\trange" << std::endl;
  for (uint32_t i = 0; i < p.GetCount(); i++) {
    playerc_blobfinder_blob_t b = p[i];
    os << b.id << "\t0x" << std::hex << b.color << std::dec << '\t' << b.area << '\t' << b.x << '\t' << b.y << '\t' << b.left << '\t' << b.right << '\t' << b.top
       << '\t' << b.bottom << '\t' << b.range << std::endl;
  }
  return os;
}

std::ostream &operator<<(std::ostream &os, const ImuProxy &p) {
  player_pose3d_t pose = p.GetPose();
  player_imu_data_calib_t v = p.GetRawValues();
  return title(os, p) << "roll\tpitch\tyaw\taccel\tgyro" << std::endl
                      << pose.proll << '\t' << pose.ppitch << '\t' << pose.pyaw << '\t' << v.accel_x << ' ' << v.accel_y << ' ' << v.accel_z << '\t' << v.gyro_x << ' '
                      << v.gyro_y << ' ' << v.gyro_z << std::endl;
}

std::ostream &operator<<(std::ostream &os, const GpsProxy &p) {
  std::streamsize digits = os.precision(10); // a centimetre
  title(os, p) << "latitude\tlongitude\taltitude\tquality" << std::endl
               << p.GetLatitude() << '\t' << p.GetLongitude() << '\t' << p.GetAltitude() << '\t' << p.GetQuality() << std::endl;
  os.precision(digits);
  return os;
}

std::ostream &operator<<(std::ostream &os, const DioProxy &p) { return readings(title(os, p), p, p.GetCount()); }
std::ostream &operator<<(std::ostream &os, const AioProxy &p) { return readings(title(os, p), p, p.GetCount()); }

std::ostream &operator<<(std::ostream &os, const ActArrayProxy &p) {
  title(os, p) << "position\tstate" << std::endl;
  for (uint32_t i = 0; i < p.GetCount(); i++) os << p.GetActuatorData(i).position << '\t' << int(p.GetActuatorData(i).state) << std::endl;
  return os;
}

std::ostream &operator<<(std::ostream &os, const player_point_2d_t &c) { return os << c.px << "," << c.py; }
std::ostream &operator<<(std::ostream &os, const player_pose2d_t &c) { return os << c.px << "," << c.py << "," << c.pa; }
std::ostream &operator<<(std::ostream &os, const player_pose3d_t &c) {
  return os << c.px << "," << c.py << "," << c.pz << "," << c.proll << "," << c.ppitch << "," << c.pyaw;
}
std::ostream &operator<<(std::ostream &os, const player_bbox3d_t &c) { return os << c.sw << "," << c.sl << "," << c.sh; }

}  // namespace PlayerCc
