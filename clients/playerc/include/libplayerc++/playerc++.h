// SPDX-License-Identifier: Apache-2.0
//
// playerc++.h lets C++ programs for Player 2 and 3 use this server: they compile and
// run unchanged. It has the names, types and units of libplayerc++, in C++98.
//
// Lengths are in metres, angles in radians, speeds in m/s and rad/s. x is forward, y
// to the left, angles increase counterclockwise. README.md says what is served, and
// the settings that are read from the environment.
//
// A method that does not succeed throws PlayerError, whose text has the remedy.
#ifndef PLAYERCC_H
#define PLAYERCC_H

#include <libplayerc++/playererror.h>
#include <libplayerc/playerc.h>

// Programs count on these.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <list>
#include <string>
#include <vector>

namespace PlayerCc {

const std::string PLAYER_HOSTNAME("localhost");
const int PLAYER_PORTNUM = 6665;

inline double rtod(double r) { return r * 180.0 / M_PI; }
inline double dtor(double d) { return d * M_PI / 180.0; }
inline double normalize(double z) { return std::atan2(std::sin(z), std::cos(z)); }  // to (-pi, pi]
template <typename T> inline T limit(T a, T low, T high) { return a < low ? low : a > high ? high : a; }
using std::max;
using std::min;

class PlayerClient {
  friend class ClientProxy;
  friend class SimulationProxy;
  struct Core;
  Core *mCore;
  PlayerClient(const PlayerClient &);
  PlayerClient &operator=(const PlayerClient &);

public:
  enum { TRANSPORT_TCP = PLAYERC_TRANSPORT_TCP, TRANSPORT_UDP = PLAYERC_TRANSPORT_UDP };

  // Connects at once. transport has no effect: it is TCP.
  PlayerClient(const std::string aHostname = PLAYER_HOSTNAME, uint32_t aPort = PLAYER_PORTNUM, int transport = PLAYERC_TRANSPORT_TCP);
  ~PlayerClient();

  bool Connected() const;

  // Waits for the next round of data, ten times a second. A program that is slower
  // gets the newest round at once.
  void Read();
  void ReadIfWaiting();
  bool Peek(uint32_t timeout = 0);  // ms; true: Read does not wait

  // Reads in a thread, or here until Stop is called, and calls what ConnectReadSignal stored.
  void StartThread();
  void StopThread();
  void Run(uint32_t aTimeout = 10);  // ms between reads
  void Stop();

  // Both modes are the same here: the server keeps no old data.
  void SetDataMode(uint32_t aMode);
  void SetReplaceRule(bool aReplace, int aType = -1, int aSubtype = -1, int aInterf = -1);

  void SetRequestTimeout(uint32_t seconds);
  // How often Read connects again when the connection is lost, -1: for ever, and the
  // time between two attempts in seconds. The default is 0: it throws.
  void SetRetryLimit(int limit);
  int GetRetryLimit() const;
  void SetRetryTime(double seconds);
  double GetRetryTime() const;

  void RequestDeviceList();  // no effect
  std::string GetHostname() const;
  uint32_t GetPort() const;
  int LookupCode(std::string aName) const;  // of an interface; 0: unknown
  std::string LookupName(int aCode) const;
};

std::ostream &operator<<(std::ostream &os, const PlayerClient &c);

// ClientProxy is the base of all proxies.
class ClientProxy {
  ClientProxy(const ClientProxy &);
  ClientProxy &operator=(const ClientProxy &);

protected:
  struct Device;
  class Slot {
  public:
    virtual ~Slot() {}
    virtual void Call() = 0;
  };
  template <typename F> class SlotOf : public Slot {
    F mFunction;

  public:
    explicit SlotOf(F aFunction) : mFunction(aFunction) {}
    void Call() { mFunction(); }
  };

  PlayerClient *mPc;
  Device *mDevice;

  ClientProxy(PlayerClient *aPc, uint32_t aIndex, int aCode);
  int Connect(Slot *aSlot);

public:
  typedef int connection_t;

  virtual ~ClientProxy();

  bool IsValid() const;  // there is data
  bool IsFresh() const;  // the data is new since NotFresh
  void NotFresh();
  bool Fresh() { return IsFresh(); }
  std::string GetDriverName() const;
  double GetDataTime() const;     // s since the server started
  double GetElapsedTime() const;  // s between the last two data
  PlayerClient *GetPlayerClient() const { return mPc; }
  PlayerClient *GetClient() const { return mPc; }
  uint32_t GetIndex() const;
  uint32_t GetInterface() const;
  std::string GetInterfaceStr() const;
  void SetReplaceRule(bool aReplace, int aType = -1, int aSubtype = -1);  // no effect

  // Calls aSubscriber after each Read with new data of this device.
  template <typename F> connection_t ConnectReadSignal(F aSubscriber) { return Connect(new SlotOf<F>(aSubscriber)); }
  void DisconnectReadSignal(connection_t aSubscriber);
};

// ---- Wheels ----

class Position2dProxy : public ClientProxy {
public:
  Position2dProxy(PlayerClient *aPc, uint32_t aIndex = 0) : ClientProxy(aPc, aIndex, PLAYER_POSITION2D_CODE) {}

  // A command is sent at once, in whole mm/s and deg/s: a speed that is not zero does not become zero.
  void SetSpeed(double aXSpeed, double aYawSpeed);
  void SetSpeed(double aXSpeed, double aYSpeed, double aYawSpeed);  // aYSpeed has no effect
  void SetSpeed(player_pose2d_t vel) { SetSpeed(vel.px, vel.py, vel.pa); }
  // Drives to a pose of the odometry around obstacles, at most with the speeds in vel,
  // while the program reads or sleeps, until it is there or SetSpeed is called. It reads
  // the laser of the robot, or the sonars.
  void GoTo(player_pose2d_t pos, player_pose2d_t vel = player_pose2d_t());
  void GoTo(double aX, double aY, double aYaw) {
    player_pose2d_t pos = {aX, aY, aYaw};
    GoTo(pos);
  }
  void SetVelHead(double aXSpeed, double aYawHead);            // turns toward a heading
  void SetCarlike(double aXSpeed, double aDriveAngle);         // steers as a car of 0.32 m
  void SetMotorEnable(bool enable);

  // Of the odometry, in steps of 1 mm and 1 degree. Yaw is in (-pi, pi].
  double GetXPos() const;
  double GetYPos() const;
  double GetYaw() const;
  double GetXSpeed() const;
  double GetYSpeed() const { return 0; }
  double GetYawSpeed() const;
  bool GetStall() const;

  void ResetOdometry();                                   // for all clients
  void SetOdometry(double aX, double aY, double aYaw);    // for this client

  void RequestGeom();
  player_pose3d_t GetOffset() const;
  player_pose3d_t GetPose() const { return GetOffset(); }
  player_bbox3d_t GetSize() const;
};

// ---- Ranges: an index outside of the count reads the maximum ----

class LaserProxy : public ClientProxy {
public:
  LaserProxy(PlayerClient *aPc, uint32_t aIndex = 0) : ClientProxy(aPc, aIndex, PLAYER_LASER_CODE) {}

  uint32_t GetCount() const;
  double GetMaxRange() const;  // also what a reading without an echo is
  double GetScanRes() const;
  double GetRangeRes() const;
  double GetScanningFrequency() const { return 10; }
  double GetMinAngle() const;
  double GetMaxAngle() const;
  double GetConfMinAngle() const { return GetMinAngle(); }
  double GetConfMaxAngle() const { return GetMaxAngle(); }
  bool IntensityOn() const { return false; }
  int GetID() const { return 0; }
  double GetRange(uint32_t aIndex) const;
  double GetBearing(uint32_t aIndex) const;
  player_point_2d_t GetPoint(uint32_t aIndex) const;
  int GetIntensity(uint32_t) const { return 0; }
  double operator[](uint32_t aIndex) const { return GetRange(aIndex); }
  double MinLeft() const;   // the shortest reading of the left half
  double MinRight() const;  // of the right half, with the middle
  double GetMinLeft() const { return MinLeft(); }
  double GetMinRight() const { return MinRight(); }

  // The configuration of the laser stays as it is.
  void Configure(double, double, uint32_t, uint32_t, bool, double) {}
  void RequestConfigure() {}
  void RequestID() {}
  void RequestGeom() {}
  player_pose3d_t GetPose() const;
  player_bbox3d_t GetSize() const;
  player_pose3d_t GetRobotPose() const;
};

class SonarProxy : public ClientProxy {
public:
  SonarProxy(PlayerClient *aPc, uint32_t aIndex = 0) : ClientProxy(aPc, aIndex, PLAYER_SONAR_CODE) {}

  uint32_t GetCount() const;
  double GetScan(uint32_t aIndex) const;
  double operator[](uint32_t aIndex) const { return GetScan(aIndex); }
  uint32_t GetPoseCount() const;
  player_pose3d_t GetPose(uint32_t aIndex) const;
  void RequestGeom() {}
};

class IrProxy : public ClientProxy {
public:
  IrProxy(PlayerClient *aPc, uint32_t aIndex = 0) : ClientProxy(aPc, aIndex, PLAYER_IR_CODE) {}

  uint32_t GetCount() const;
  double GetRange(uint32_t aIndex) const;
  double GetVoltage(uint32_t) const { return 0; }
  double operator[](uint32_t aIndex) const { return GetRange(aIndex); }
  uint32_t GetPoseCount() const;
  player_pose3d_t GetPose(uint32_t aIndex) const;
  void RequestGeom() {}
};

class RangerProxy : public ClientProxy {
public:
  RangerProxy(PlayerClient *aPc, uint32_t aIndex = 0) : ClientProxy(aPc, aIndex, PLAYER_RANGER_CODE) {}

  // Sensors, and readings: of a device that has several sensors one for each, of another one
  // a scan.
  uint32_t GetElementCount() const;
  uint32_t GetRangeCount() const;
  double GetRange(uint32_t aIndex) const;
  double operator[](uint32_t aIndex) const { return GetRange(aIndex); }
  uint32_t GetPointCount() const { return GetRangeCount(); }
  player_point_3d_t GetPoint(uint32_t aIndex) const;
  uint32_t GetIntensityCount() const { return 0; }
  double GetIntensity(uint32_t) const { return 0; }
  double GetMinAngle() const;
  double GetMaxAngle() const;
  double GetAngularRes() const;
  double GetMinRange() const;
  double GetMaxRange() const;
  double GetRangeRes() const;
  double GetFrequency() const { return 10; }
  player_pose3d_t GetDevicePose() const;
  player_bbox3d_t GetDeviceSize() const;
  player_pose3d_t GetElementPose(uint32_t aIndex) const;
  player_bbox3d_t GetElementSize(uint32_t aIndex) const;

  // The configuration of the sensor stays as it is.
  void SetPower(bool) {}
  void SetIntensityData(bool) {}
  void Configure(double, double, double, double, double, double, double) {}
  void RequestConfigure() {}
  void RequestGeom() {}
};

class BumperProxy : public ClientProxy {
public:
  BumperProxy(PlayerClient *aPc, uint32_t aIndex = 0) : ClientProxy(aPc, aIndex, PLAYER_BUMPER_CODE) {}

  uint32_t GetCount() const;
  bool IsBumped(uint32_t aIndex) const;
  bool IsAnyBumped() const;
  bool operator[](uint32_t aIndex) const { return IsBumped(aIndex); }
  uint32_t GetPoseCount() const { return GetCount(); }
  player_pose3d_t GetPose(uint32_t aIndex) const;
  void RequestBumperConfig() {}
};

// ---- Other devices of the robot ----

class PowerProxy : public ClientProxy {
public:
  PowerProxy(PlayerClient *aPc, uint32_t aIndex = 0) : ClientProxy(aPc, aIndex, PLAYER_POWER_CODE) {}

  double GetCharge() const;   // V
  double GetPercent() const;  // of 11.0 to 12.6 V
  double GetJoules() const { return 0; }
  double GetWatts() const { return 0; }
  bool GetCharging() const { return false; }
  void SetChargingPolicy(bool, bool) {}
};

class GripperProxy : public ClientProxy {
public:
  GripperProxy(PlayerClient *aPc, uint32_t aIndex = 0) : ClientProxy(aPc, aIndex, PLAYER_GRIPPER_CODE) {}

  void Open();
  void Close();
  void Stop();
  void Store();
  void Retrieve();
  uint32_t GetState() const;     // PLAYER_GRIPPER_STATE_OPEN ...
  uint32_t GetBeams() const;     // bit 0: the outer beam is broken, bit 1: the inner
  uint32_t GetNumBeams() const { return 2; }
  uint32_t GetCapacity() const { return 0; }
  uint32_t GetStored() const { return 0; }
  void RequestGeometry() {}
  player_pose3d_t GetPose() const;
  player_bbox3d_t GetOuterSize() const;
  player_bbox3d_t GetInnerSize() const;
};

class PtzProxy : public ClientProxy {
public:
  PtzProxy(PlayerClient *aPc, uint32_t aIndex = 0) : ClientProxy(aPc, aIndex, PLAYER_PTZ_CODE) {}

  // Radians. The zoom is the field of view: 0.85 is wide, 0.077 telephoto, and 0 leaves it.
  void SetCam(double aPan, double aTilt, double aZoom);
  void SetSpeed(double = 0, double = 0, double = 0) {}  // the head's own
  void SelectControlMode(uint32_t) {}
  double GetPan() const;
  double GetTilt() const;
  double GetZoom() const;
  int GetStatus() { return 1; }
};

class BlobfinderProxy : public ClientProxy {
public:
  BlobfinderProxy(PlayerClient *aPc, uint32_t aIndex = 0) : ClientProxy(aPc, aIndex, PLAYER_BLOBFINDER_CODE) {}

  uint32_t GetCount() const;
  playerc_blobfinder_blob_t GetBlob(uint32_t aIndex) const;  // outside of the count: zeros
  playerc_blobfinder_blob_t operator[](uint32_t aIndex) const { return GetBlob(aIndex); }
  uint32_t GetWidth() const;
  uint32_t GetHeight() const;
};

// ---- Devices that Player 0.7.4a does not have: the server has them by the same names ----

// An inertial measurement unit: m/s^2 ahead, to the left and up, rad/s. A value that it does not
// measure is not a number.
class ImuProxy : public ClientProxy {
public:
  ImuProxy(PlayerClient *aPc, uint32_t aIndex = 0) : ClientProxy(aPc, aIndex, PLAYER_IMU_CODE) {}

  player_pose3d_t GetPose() const;  // its angles
  float GetXAccel() { return GetRawValues().accel_x; }
  float GetYAccel() { return GetRawValues().accel_y; }
  float GetZAccel() { return GetRawValues().accel_z; }
  float GetXGyro() { return GetRawValues().gyro_x; }
  float GetYGyro() { return GetRawValues().gyro_y; }
  float GetZGyro() { return GetRawValues().gyro_z; }
  float GetXMagn() { return GetRawValues().magn_x; }
  float GetYMagn() { return GetRawValues().magn_y; }
  float GetZMagn() { return GetRawValues().magn_z; }
  player_imu_data_calib_t GetRawValues() const;
  void SetDatatype(int) {}  // all data is there
  // These throw: the hardware has no such command.
  void ResetOrientation(int aValue);
  void ResetEuler(float aRoll, float aPitch, float aYaw);
};

// A receiver of satellites: degrees and metres, see playerc_gps_t.
class GpsProxy : public ClientProxy {
public:
  GpsProxy(PlayerClient *aPc, uint32_t aIndex = 0) : ClientProxy(aPc, aIndex, PLAYER_GPS_CODE) {}

  double GetLatitude() const;
  double GetLongitude() const;
  double GetAltitude() const;
  double GetSpeed() const;
  double GetCourse() const;
  uint32_t GetSatellites() const;
  uint32_t GetQuality() const;
  double GetHdop() const { return 0; }
  double GetVdop() const { return 0; }
  double GetUtmEasting() const;
  double GetUtmNorthing() const;
  double GetTime() const;
  double GetErrHorizontal() const;
  double GetErrVertical() const;
};

// Digital inputs and outputs of an io device.
class DioProxy : public ClientProxy {
public:
  DioProxy(PlayerClient *aPc, uint32_t aIndex = 0) : ClientProxy(aPc, aIndex, PLAYER_DIO_CODE) {}

  uint32_t GetCount() const;   // of inputs
  uint32_t GetDigin() const;   // bit n: input n
  bool GetInput(uint32_t aIndex) const;
  uint32_t operator[](uint32_t aIndex) const { return GetInput(aIndex); }
  void SetOutput(uint32_t aCount, uint32_t aDigout);  // the first outputs: bit n is output n
};

// Other inputs and outputs of an io device: V, or their unit if it is none of voltage.
class AioProxy : public ClientProxy {
public:
  AioProxy(PlayerClient *aPc, uint32_t aIndex = 0) : ClientProxy(aPc, aIndex, PLAYER_AIO_CODE) {}

  uint32_t GetCount() const;  // of inputs
  double GetVoltage(uint32_t aIndex) const;
  double operator[](uint32_t aIndex) const { return GetVoltage(aIndex); }
  void SetVoltage(uint32_t aIndex, double aVoltage);
};

// The joints of a servo device, rad or m.
class ActArrayProxy : public ClientProxy {
public:
  ActArrayProxy(PlayerClient *aPc, uint32_t aIndex = 0) : ClientProxy(aPc, aIndex, PLAYER_ACTARRAY_CODE) {}

  void RequestGeometry(void) {}
  void SetPowerConfig(bool aVal);
  void SetBrakesConfig(bool) {}                          // no effect
  void SetSpeedConfig(uint32_t aJoint, float aSpeed);    // of MoveTo
  void SetAccelerationConfig(uint32_t, float) {}         // no effect
  void MoveTo(uint32_t aJoint, float aPos);
  void MoveToMulti(std::vector<float> aPos);
  void MoveAtSpeed(uint32_t aJoint, float aSpeed);       // to its limit; 0: stops
  void MoveAtSpeedMulti(std::vector<float> aSpeed);
  void MoveHome(int aJoint);                             // -1: all; throws for a single one
  // These throw: the server has no such command.
  void SetActuatorCurrent(uint32_t aJoint, float aCurrent);
  void SetActuatorCurrentMulti(std::vector<float> aCurrent);
  uint32_t GetCount(void) const;
  player_actarray_actuator_t GetActuatorData(uint32_t aJoint) const;
  player_actarray_actuatorgeom_t GetActuatorGeom(uint32_t aJoint) const;
  player_actarray_actuator_t operator[](uint32_t aJoint) { return GetActuatorData(aJoint); }
  player_point_3d_t GetBasePos(void) const { return player_point_3d_t(); }
  player_orientation_3d_t GetBaseOrientation(void) const { return player_orientation_3d_t(); }
};

// ---- The simulation, by the dashboard's address ----

class SimulationProxy : public ClientProxy {
public:
  SimulationProxy(PlayerClient *aPc, uint32_t aIndex = 0);

  // The poses of robots and of things that can move, in the frame of the world.
  void SetPose2d(const char *identifier, double x, double y, double a);
  void GetPose2d(const char *identifier, double &x, double &y, double &a);
  void SetPose3d(const char *identifier, double x, double y, double z, double roll, double pitch, double yaw);
  void GetPose3d(const char *identifier, double &x, double &y, double &z, double &roll, double &pitch, double &yaw, double &time);
  // The property "color" of a robot or a thing, four floats from 0 to 1: red, green, blue, and
  // one that has no effect. For others they throw: these are in the world file.
  void GetProperty(const char *identifier, const char *name, void *value, size_t value_len);
  void SetProperty(const char *identifier, const char *name, void *value, size_t value_len);
};

// Fiducials that the finder of a simulated robot sees, by the same address.
class FiducialProxy : public ClientProxy {
public:
  FiducialProxy(PlayerClient *aPc, uint32_t aIndex = 0) : ClientProxy(aPc, aIndex, PLAYER_FIDUCIAL_CODE) {}

  uint32_t GetCount() const;
  player_fiducial_item_t GetFiducialItem(uint32_t aIndex) const;  // outside of the count: zeros; the yaw is not known
  void RequestGeometry() {}
};

// Pictures of a camera of the robot, by the dashboard's address: real ones (docs/CAMERAS.md), and
// those on simulated robots. Each Read has the newest one.
class CameraProxy : public ClientProxy {
public:
  CameraProxy(PlayerClient *aPc, uint32_t aIndex = 0) : ClientProxy(aPc, aIndex, PLAYER_CAMERA_CODE) {}

  // Writes aPrefix, a number of aWidth digits, and .jpg or after Decompress .ppm.
  void SaveFrame(const std::string aPrefix, uint32_t aWidth = 4);
  void Decompress();            // from JPEG to RGB
  uint32_t GetDepth() const;    // bits of a pixel
  uint32_t GetWidth() const;    // pixels
  uint32_t GetHeight() const;
  uint32_t GetFormat() const;   // PLAYER_CAMERA_FORMAT_RGB888
  uint32_t GetImageSize() const;        // bytes
  void GetImage(uint8_t *aImage) const;  // copies as many
  uint32_t GetCompression() const;      // PLAYER_CAMERA_COMPRESS_JPEG, or _RAW after Decompress
};

// ---- Functions for drawing, which do nothing here ----

class Graphics2dProxy : public ClientProxy {
public:
  Graphics2dProxy(PlayerClient *aPc, uint32_t aIndex = 0) : ClientProxy(aPc, aIndex, PLAYER_GRAPHICS2D_CODE) {}

  void Color(player_color_t) {}
  void Color(uint8_t, uint8_t, uint8_t, uint8_t) {}
  void Clear() {}
  void DrawPoints(player_point_2d_t *, int) {}
  void DrawPolyline(player_point_2d_t *, int) {}
  void DrawPolygon(player_point_2d_t *, int, bool, player_color_t) {}
};

// ---- Proxies that this server does not have: the constructors throw ----

class LocalizeProxy : public ClientProxy {
public:
  LocalizeProxy(PlayerClient *aPc, uint32_t aIndex = 0) : ClientProxy(aPc, aIndex, PLAYER_LOCALIZE_CODE) {}

  uint32_t GetHypothCount() const { return 0; }
  player_localize_hypoth_t GetHypoth(uint32_t) const { return player_localize_hypoth_t(); }
  void SetPose(double *, double *) {}
};

class PlannerProxy : public ClientProxy {
public:
  PlannerProxy(PlayerClient *aPc, uint32_t aIndex = 0) : ClientProxy(aPc, aIndex, PLAYER_PLANNER_CODE) {}

  void SetGoalPose(double, double, double) {}
  void RequestWaypoints() {}
  void SetEnable(bool) {}
  uint32_t GetPathValid() const { return 0; }
  uint32_t GetPathDone() const { return 0; }
  uint32_t GetWaypointCount() const { return 0; }
};

class SpeechProxy : public ClientProxy {
public:
  SpeechProxy(PlayerClient *aPc, uint32_t aIndex = 0) : ClientProxy(aPc, aIndex, PLAYER_SPEECH_CODE) {}

  void Say(std::string) {}
};

std::ostream &operator<<(std::ostream &os, const ClientProxy &p);
std::ostream &operator<<(std::ostream &os, const Position2dProxy &p);
std::ostream &operator<<(std::ostream &os, const LaserProxy &p);
std::ostream &operator<<(std::ostream &os, const SonarProxy &p);
std::ostream &operator<<(std::ostream &os, const IrProxy &p);
std::ostream &operator<<(std::ostream &os, const RangerProxy &p);
std::ostream &operator<<(std::ostream &os, const BumperProxy &p);
std::ostream &operator<<(std::ostream &os, const PowerProxy &p);
std::ostream &operator<<(std::ostream &os, const GripperProxy &p);
std::ostream &operator<<(std::ostream &os, const PtzProxy &p);
std::ostream &operator<<(std::ostream &os, const BlobfinderProxy &p);

std::ostream &operator<<(std::ostream &os, const ImuProxy &p);
std::ostream &operator<<(std::ostream &os, const GpsProxy &p);
std::ostream &operator<<(std::ostream &os, const DioProxy &p);
std::ostream &operator<<(std::ostream &os, const AioProxy &p);
std::ostream &operator<<(std::ostream &os, const ActArrayProxy &p);

std::ostream &operator<<(std::ostream &os, const player_point_2d_t &c);
std::ostream &operator<<(std::ostream &os, const player_pose2d_t &c);
std::ostream &operator<<(std::ostream &os, const player_pose3d_t &c);
std::ostream &operator<<(std::ostream &os, const player_bbox3d_t &c);

}  // namespace PlayerCc

#endif
