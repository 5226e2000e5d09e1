# SPDX-License-Identifier: Apache-2.0
"""The names of libplayerc++ in Python, for programs that import playercpp: see playerc.py
and playerc++.h. Python 2.7 and 3."""
import math

import playerc
from playerc import PLAYER_DATAMODE_PULL, PLAYER_DATAMODE_PUSH, PLAYER_GRIPPER_STATE_CLOSED, PLAYER_GRIPPER_STATE_ERROR  # noqa: F401
from playerc import PLAYER_GRIPPER_STATE_MOVING, PLAYER_GRIPPER_STATE_OPEN, PLAYER_MSGTYPE_DATA  # noqa: F401
from playerc import PLAYER_ACTARRAY_ACTSTATE_IDLE, PLAYER_ACTARRAY_ACTSTATE_MOVING, PLAYER_ACTARRAY_ACTSTATE_STALLED  # noqa: F401
from playerc import PLAYER_ACTARRAY_TYPE_LINEAR, PLAYER_ACTARRAY_TYPE_ROTARY  # noqa: F401
from playerc import player_color_t, player_fiducial_item_t, player_point_2d_t, player_point_3d_t, player_pose2d_t, player_pose3d_t  # noqa: F401

PLAYER_HOSTNAME, PLAYER_PORTNUM = "localhost", 6665


class PlayerError(Exception):
    pass


def rtod(r):
    return r * 180 / math.pi


def dtor(d):
    return d * math.pi / 180


def normalize(z):
    return math.atan2(math.sin(z), math.cos(z))


def limit(a, low, high):
    return low if a < low else high if a > high else a


def _check(result):
    if result is None or (isinstance(result, int) and result < 0):
        raise PlayerError(playerc.playerc_error_str())
    return result


def _field(name):
    return lambda self: getattr(self._d, name)


def _command(name):
    def call(self, *arguments):
        _check(getattr(self._d, name)(*arguments))

    return call


def _nothing(self, *arguments):
    pass


class PlayerClient(object):
    def __init__(self, host=PLAYER_HOSTNAME, port=PLAYER_PORTNUM, transport=1):
        self._c = playerc.playerc_client(None, host, port)
        _check(self._c.connect())

    def Read(self):
        _check(self._c.read())

    def Peek(self, timeout=0):
        return _check(self._c.peek(timeout)) > 0

    def ReadIfWaiting(self):
        if self.Peek():
            self.Read()

    def SetDataMode(self, mode):
        pass

    def SetReplaceRule(self, *arguments):
        pass

    def Connected(self):
        return self._c.connected != 0

    def GetHostname(self):
        return self._c.host

    def GetPort(self):
        return self._c.port


class _Proxy(object):
    _device = None

    def __init__(self, client, index=0):
        self._d = self._device(client._c, index)
        _check(self._d.subscribe(playerc.PLAYERC_OPEN_MODE))

    def IsValid(self):
        return self._d.info.datatime > 0

    def IsFresh(self):
        return self._d.info.fresh != 0

    def NotFresh(self):
        self._d.info.fresh = 0

    RequestGeom = _nothing
    RequestConfigure = _nothing

    def __str__(self):
        return str(self._d)


class Position2dProxy(_Proxy):
    _device = playerc.playerc_position2d

    def SetSpeed(self, x, *rest):
        """x, yaw or x, y, yaw or a player_pose2d_t."""
        yaw = rest[-1] if rest else x.pa
        _check(self._d.set_cmd_vel(x if rest else x.px, 0, yaw, 1))

    def GoTo(self, x, *rest):
        """x, y, yaw or a player_pose2d_t."""
        _check(self._d.set_cmd_pose(*((x,) + rest if len(rest) == 2 else (x.px, x.py, x.pa)) + (1,)))

    SetMotorEnable = _command("enable")
    SetOdometry = _command("set_odom")

    def ResetOdometry(self):
        self.SetOdometry(0, 0, 0)

    SetCarlike = _command("set_cmd_car")
    GetXPos = _field("px")
    GetYPos = _field("py")
    GetYaw = _field("pa")
    GetXSpeed = _field("vx")
    GetYSpeed = _field("vy")
    GetYawSpeed = _field("va")

    def GetStall(self):
        return self._d.stall != 0


class _Ranges(_Proxy):
    def __getitem__(self, i):
        return self.GetRange(i)

    def __len__(self):
        return self.GetCount()


class LaserProxy(_Ranges):
    _device = playerc.playerc_laser

    GetCount = _field("scan_count")
    GetMaxRange = _field("max_range")

    def GetRange(self, i):
        return self._d.element("ranges", i, self._d.max_range)

    def GetBearing(self, i):
        return self._d.scan_start + i * self._d.scan_res

    def GetPoint(self, i):
        r, b = self.GetRange(i), self.GetBearing(i)
        return player_point_2d_t(r * math.cos(b), r * math.sin(b))

    GetScanRes = _field("scan_res")
    GetMinAngle = _field("scan_start")

    def GetMaxAngle(self):
        return -self._d.scan_start

    MinLeft = _field("min_left")
    MinRight = _field("min_right")
    GetMinLeft, GetMinRight = MinLeft, MinRight


class SonarProxy(_Ranges):
    _device = playerc.playerc_sonar

    GetCount = _field("scan_count")

    def GetScan(self, i):
        return self._d.element("scan", i, 5.0)  # a sonar without an echo, m

    GetRange = GetScan
    GetPoseCount = _field("pose_count")

    def GetPose(self, i):
        return self._d.poses[i]


class RangerProxy(_Ranges):
    _device = playerc.playerc_ranger

    GetRangeCount = _field("ranges_count")
    GetCount = GetRangeCount
    GetElementCount = _field("element_count")

    def GetRange(self, i):
        return self._d.element("ranges", i, self._d.max_range)

    GetMinAngle = _field("min_angle")
    GetMaxAngle = _field("max_angle")
    GetAngularRes = _field("angular_res")
    GetMinRange = _field("min_range")
    GetMaxRange = _field("max_range")
    GetRangeRes = _field("range_res")
    GetFrequency = _field("frequency")
    GetDevicePose = _field("device_pose")
    Configure = _nothing
    SetPower = _nothing

    def GetPoint(self, i):
        return self._d.element("points", i, player_point_3d_t())

    def GetElementPose(self, i):
        return self._d.element_poses[i]


class BumperProxy(_Proxy):
    _device = playerc.playerc_bumper

    GetCount = _field("bumper_count")

    def IsBumped(self, i):
        return self._d.element("bumpers", i, 0) != 0

    def IsAnyBumped(self):
        return any(self._d.bumpers)

    def __getitem__(self, i):
        return self.IsBumped(i)


class PowerProxy(_Proxy):
    _device = playerc.playerc_power

    GetCharge = _field("charge")
    GetPercent = _field("percent")


class GripperProxy(_Proxy):
    _device = playerc.playerc_gripper

    Open = _command("open_cmd")
    Close = _command("close_cmd")
    Stop = _command("stop_cmd")
    Store = _command("store_cmd")
    Retrieve = _command("retrieve_cmd")
    GetState = _field("state")
    GetBeams = _field("beams")


class PtzProxy(_Proxy):
    _device = playerc.playerc_ptz

    SetCam = _command("set")
    GetPan = _field("pan")
    GetTilt = _field("tilt")
    GetZoom = _field("zoom")


class BlobfinderProxy(_Proxy):
    _device = playerc.playerc_blobfinder

    GetCount = _field("blobs_count")

    def GetBlob(self, i):
        """Outside of the count: zeros."""
        return self._d.element("blobs", i, playerc.playerc_blobfinder_blob_t())

    def __getitem__(self, i):
        return self._d.blobs[i]

    def __len__(self):
        return self.GetCount()

    GetWidth = _field("width")
    GetHeight = _field("height")


class FiducialProxy(_Proxy):
    _device = playerc.playerc_fiducial

    GetCount = _field("fiducials_count")

    def GetFiducialItem(self, i):
        """Outside of the count: zeros."""
        return self._d.element("fiducials", i, playerc.player_fiducial_item_t())

    RequestGeometry = _nothing


class ImuProxy(_Proxy):
    _device = playerc.playerc_imu

    GetPose = _field("pose")
    GetRawValues = _field("calib_data")

    def GetXAccel(self):
        return self.GetRawValues().accel_x

    def GetYAccel(self):
        return self.GetRawValues().accel_y

    def GetZAccel(self):
        return self.GetRawValues().accel_z

    def GetXGyro(self):
        return self.GetRawValues().gyro_x

    def GetYGyro(self):
        return self.GetRawValues().gyro_y

    def GetZGyro(self):
        return self.GetRawValues().gyro_z


class GpsProxy(_Proxy):
    _device = playerc.playerc_gps

    GetLatitude = _field("lat")
    GetLongitude = _field("lon")
    GetAltitude = _field("alt")
    GetSpeed = _field("speed")
    GetCourse = _field("course")
    GetSatellites = _field("sat_count")
    GetQuality = _field("quality")
    GetUtmEasting = _field("utm_e")
    GetUtmNorthing = _field("utm_n")
    GetTime = _field("utc_time")
    GetErrHorizontal = _field("err_horz")
    GetErrVertical = _field("err_vert")


class DioProxy(_Proxy):
    _device = playerc.playerc_dio

    GetCount = _field("count")
    GetDigin = _field("digin")
    SetOutput = _command("set_output")

    def GetInput(self, i):
        return self._d.digin >> i & 1 != 0

    def __getitem__(self, i):
        return self.GetInput(i)


class AioProxy(_Proxy):
    _device = playerc.playerc_aio

    GetCount = _field("voltages_count")
    SetVoltage = _command("set_output")

    def GetVoltage(self, i):
        return self._d.get_data(i)

    def __getitem__(self, i):
        return self.GetVoltage(i)


class ActArrayProxy(_Proxy):
    _device = playerc.playerc_actarray

    RequestGeometry = _command("get_geom")
    SetPowerConfig = _command("power")
    SetBrakesConfig = _command("brakes")
    SetSpeedConfig = _command("speed_config")
    MoveTo = _command("position_cmd")
    MoveToMulti = _command("multi_position_cmd")
    MoveAtSpeed = _command("speed_cmd")
    MoveAtSpeedMulti = _command("multi_speed_cmd")
    MoveHome = _command("home_cmd")
    GetCount = _field("actuators_geom_count")

    def GetActuatorData(self, i):
        return self._d.get_actuator_data(i)

    def GetActuatorGeom(self, i):
        return self._d.get_actuator_geom(i)

    def __getitem__(self, i):
        return self.GetActuatorData(i)


class CameraProxy(_Proxy):
    _device = playerc.playerc_camera
    _saved = 0

    GetDepth = _field("bpp")
    GetWidth = _field("width")
    GetHeight = _field("height")
    GetFormat = _field("format")
    GetImageSize = _field("image_count")
    GetImage = _field("image")
    GetCompression = _field("compression")

    def Decompress(self):
        self._d.decompress()

    def SaveFrame(self, prefix, width=4):
        """Writes prefix, a number of width digits, and .jpg or after Decompress .ppm."""
        self._d.save("%s%0*d%s" % (prefix, width, self._saved, ".jpg" if self._d.compression else ".ppm"))
        self._saved += 1


class Graphics2dProxy(_Proxy):
    """Draws nothing."""

    _device = playerc.playerc_graphics2d

    Color = _nothing
    Clear = _nothing
    DrawPoints = _nothing
    DrawPolyline = _nothing
    DrawPolygon = _nothing


class SimulationProxy(_Proxy):
    _device = playerc.playerc_simulation

    SetPose2d = _command("set_pose2d")

    def GetPose2d(self, name):
        """Returns x, y and heading."""
        pose = self._d.get_pose2d(name)
        _check(pose[0])
        return pose[1:]

    SetProperty = _command("set_property")

    def GetProperty(self, name, property):
        """The property "color": a list of four numbers from 0 to 1."""
        result, value = self._d.get_property(name, property)
        _check(result)
        return value
