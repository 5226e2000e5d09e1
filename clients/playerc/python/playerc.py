# SPDX-License-Identifier: Apache-2.0
"""Lets Python programs for Player 2 and 3 use this server: the names, types and units of
the binding of libplayerc, on the C library in the same folder. It is Python 2.7 and 3.

    client = playerc_client(None, "localhost", 6665)
    if client.connect() != 0:
        raise Exception(playerc_error_str())
    wheels = playerc_position2d(client, 0)
    if wheels.subscribe(PLAYERC_OPEN_MODE) != 0:
        raise Exception(playerc_error_str())
    wheels.set_cmd_vel(0.1, 0, 0, 1)
    while client.read() is not None:
        print(wheels.px, wheels.py, wheels.pa)

Lengths are in metres, angles in radians. Methods return 0, or -1 and playerc_error_str
says why.
"""
import ctypes
import math
import os

_library = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "_playerc.so"))

PLAYER_OPEN_MODE = PLAYERC_OPEN_MODE = 1
PLAYER_CLOSE_MODE = PLAYERC_CLOSE_MODE = 2
PLAYER_DATAMODE_PUSH = PLAYERC_DATAMODE_PUSH = 1
PLAYER_DATAMODE_PULL = PLAYERC_DATAMODE_PULL = 2
PLAYERC_TRANSPORT_TCP, PLAYERC_TRANSPORT_UDP = 1, 2
PLAYER_MSGTYPE_DATA = 1
PLAYER_ACTARRAY_ACTSTATE_IDLE, PLAYER_ACTARRAY_ACTSTATE_MOVING, PLAYER_ACTARRAY_ACTSTATE_BRAKED, PLAYER_ACTARRAY_ACTSTATE_STALLED = 1, 2, 3, 4
PLAYER_ACTARRAY_TYPE_LINEAR, PLAYER_ACTARRAY_TYPE_ROTARY = 1, 2
PLAYER_CAMERA_FORMAT_MONO8, PLAYER_CAMERA_FORMAT_RGB888 = 1, 5
PLAYER_CAMERA_COMPRESS_RAW, PLAYER_CAMERA_COMPRESS_JPEG = 0, 1
PLAYER_GRIPPER_STATE_OPEN, PLAYER_GRIPPER_STATE_CLOSED, PLAYER_GRIPPER_STATE_MOVING, PLAYER_GRIPPER_STATE_ERROR = 1, 2, 3, 4


def RTOD(r):
    return r * 180 / math.pi


def DTOR(d):
    return d * math.pi / 180


def NORMALIZE(z):
    return math.atan2(math.sin(z), math.cos(z))


def playerc_error_str():
    """A sentence about the last call that did not succeed."""
    return _text(_library.playerc_error_str())


_library.playerc_error_str.restype = ctypes.c_char_p


def _text(b):
    return b if isinstance(b, str) else b.decode("utf-8", "replace")


def _bytes(s):
    return s if isinstance(s, bytes) else s.encode("utf-8")


def _chars(s):
    return ctypes.c_char_p(_bytes(s))


# ---- Structures of playerc.h, field by field ----

_double, _int, _uint, _float = ctypes.c_double, ctypes.c_int, ctypes.c_uint32, ctypes.c_float


class _Fields(object):
    """The members of all structures: programs of Python 2 also call __getattr__ and print them."""

    def __getattr__(self, name):
        return object.__getattribute__(self, name)

    def __str__(self):
        return " ".join("%s=%s" % (f[0], getattr(self, f[0])) for f in self._fields_)


def _structure(name, *fields):
    return type(name, (_Fields, ctypes.Structure), {"_fields_": list(fields)})


def _doubles(names):
    return [(n, _double) for n in names.split()]


def _floats(names):
    return [(n, _float) for n in names.split()]


player_point_2d_t = _structure("player_point_2d_t", *_doubles("px py"))
player_point_3d_t = _structure("player_point_3d_t", *_doubles("px py pz"))
player_pose2d_t = _structure("player_pose2d_t", *_doubles("px py pa"))
player_pose3d_t = _structure("player_pose3d_t", *_doubles("px py pz proll ppitch pyaw"))
player_bbox3d_t = _structure("player_bbox3d_t", *_doubles("sw sl sh"))
player_color_t = _structure("player_color_t", *[(n, ctypes.c_uint8) for n in "alpha red green blue".split()])
playerc_blobfinder_blob_t = player_blobfinder_blob_t = _structure(
    "playerc_blobfinder_blob_t", *([(n, _uint) for n in "id color area x y left right top bottom".split()] + _floats("range"))
)
player_orientation_3d_t = _structure("player_orientation_3d_t", *_doubles("proll ppitch pyaw"))
player_actarray_actuator_t = _structure(
    "player_actarray_actuator_t", *(_floats("position speed acceleration current") + [("state", ctypes.c_uint8)])
)
player_actarray_actuatorgeom_t = _structure(
    "player_actarray_actuatorgeom_t",
    *(
        [("type", ctypes.c_uint8), ("length", _float), ("orientation", player_orientation_3d_t), ("axis", player_point_3d_t)]
        + _floats("min centre max home config_speed")
        + [("hasbrakes", ctypes.c_uint8)]
    )
)
player_imu_data_calib_t = _structure(
    "player_imu_data_calib_t", *_floats("accel_x accel_y accel_z gyro_x gyro_y gyro_z magn_x magn_y magn_z")
)
player_bbox2d_t = _structure("player_bbox2d_t", *_doubles("sw sl"))
player_fiducial_item_t = _structure("player_fiducial_item_t", ("id", ctypes.c_int32), ("pose", player_pose3d_t), ("upose", player_pose3d_t))
player_fiducial_geom_t = _structure("player_fiducial_geom_t", ("pose", player_pose3d_t), ("size", player_bbox3d_t), ("fiducial_size", player_bbox2d_t))
_client = _structure("_client", ("id", ctypes.c_void_p), ("host", ctypes.c_char_p), ("port", _int), ("connected", _int), ("datatime", _double))
_info = _structure(
    "_info",
    ("id", ctypes.c_void_p),
    ("client", ctypes.POINTER(_client)),
    ("code", _int),
    ("index", _int),
    ("drivername", ctypes.c_char * 64),
    ("subscribed", _int),
    ("datatime", _double),
    ("lasttime", _double),
    ("fresh", _int),
)
_doublep = ctypes.POINTER(_double)

_library.playerc_client_read.restype = ctypes.c_void_p


class _Owner(object):
    """Owns a structure of the C library, until it is destroyed."""

    _name = ""
    _own = None  # its address

    def _create(self, structure, *arguments):
        create = getattr(_library, "playerc_%s_create" % self._name)
        create.restype = ctypes.c_void_p
        self._own = create(*arguments)
        if not self._own:
            raise MemoryError(playerc_error_str())
        self._memory = ctypes.cast(self._own, ctypes.POINTER(structure)).contents

    def __del__(self):
        self.destroy()

    def destroy(self):
        if self._own:
            getattr(_library, "playerc_%s_destroy" % self._name)(ctypes.c_void_p(self._own))
        self._own = None

    def _structure(self):
        if not self._own:
            raise ValueError("the %s is destroyed" % self._name)
        return self._memory

    def _call(self, name, *arguments):
        self._structure()
        return getattr(_library, "playerc_%s_%s" % (self._name, name))(ctypes.c_void_p(self._own), *arguments)


def _argument(kind, value):
    """Returns an argument for the C library: d is a double, f a float, i a whole number, c a colour."""
    return value if kind == "c" else _double(value) if kind == "d" else _float(value) if kind == "f" else _int(int(value))


def _copy(value):
    """Returns a value that does not change with the next round, and outlives its device."""
    return type(value).from_buffer_copy(value) if isinstance(value, (ctypes.Structure, ctypes.Array)) else value


class playerc_client(_Owner):
    _name = "client"

    def __init__(self, mclient, host, port):
        self._create(_client, None, _chars(host), _int(port))

    def connect(self):
        return self._call("connect")

    def disconnect(self):
        return self._call("disconnect")

    def read(self):
        """Waits for the next round of data, ten times a second. None: it failed."""
        return self._call("read")

    def peek(self, timeout=0):
        return self._call("peek", _int(timeout))

    def datamode(self, mode):
        return 0

    def requestdata(self):
        return 0

    def set_replace_rule(self, *arguments):
        return 0

    def set_transport(self, transport):
        return 0

    def set_request_timeout(self, seconds):
        self._call("set_request_timeout", _uint(int(seconds)))

    host = property(lambda self: _text(self._structure().host))
    port = property(lambda self: self._structure().port)
    connected = property(lambda self: self._structure().connected)
    datatime = property(lambda self: self._structure().datatime)


class _Device(_Owner):
    """The members of all devices. A field of the structure is an attribute; an array has as
    many elements as the field says that _counts names."""

    _fields = []
    _counts = {}
    _methods = {}  # the kinds of their arguments, see _argument

    def __init__(self, client, index=0):
        client._structure()
        self._client = client  # lives as long as its devices
        structure = _structure("_" + self._name, *([("info", _info)] + self._fields))
        self._create(structure, ctypes.c_void_p(client._own), _int(index))

    def element(self, name, i, otherwise=None):
        """Returns one element of an array, without a copy of all, or otherwise outside of its count."""
        s = self._structure()
        return _copy(getattr(s, name)[i]) if 0 <= i < getattr(s, self._counts[name]) else otherwise

    def subscribe(self, access=PLAYERC_OPEN_MODE):
        return self._call("subscribe", _int(access))

    def unsubscribe(self):
        return self._call("unsubscribe")

    def __getattr__(self, name):
        if name in type(self)._methods:
            kinds = type(self)._methods[name]

            def call(*arguments):
                if len(arguments) != len(kinds):
                    raise TypeError("%s takes %d arguments" % (name, len(kinds)))
                return self._call(name, *[_argument(kind, a) for kind, a in zip(kinds, arguments)])

            return call
        if name != "info" and name not in [f[0] for f in type(self)._fields]:
            raise AttributeError("%s has no %s" % (type(self).__name__, name))
        structure = self._structure()
        value = getattr(structure, name)
        if name in type(self)._counts:
            return [_copy(v) for v in value[: getattr(structure, type(self)._counts[name])]]
        if isinstance(value, ctypes.Array):
            return list(value)
        return value if name == "info" else _copy(value)

    def __str__(self):
        names = [f[0] for f in self._fields]
        return "%s: %s" % (self._name, " ".join("%s=%s" % (n, getattr(self, n)) for n in names))


class playerc_position2d(_Device):
    _name = "position2d"
    _fields = [("pose", _double * 3), ("size", _double * 2)] + _doubles("px py pa vx vy va") + [("stall", _int)]
    _methods = {"enable": "i", "get_geom": "", "set_cmd_vel": "dddi", "set_cmd_pose": "dddi", "set_cmd_car": "dd", "set_cmd_vel_head": "dddi", "set_odom": "ddd"}


class playerc_laser(_Device):
    _name = "laser"
    _fields = (
        [("pose", _double * 3), ("size", _double * 2), ("robot_pose", _double * 3), ("intensity_on", _int), ("scan_count", _int)]
        + _doubles("scan_start scan_res range_res max_range scanning_frequency")
        + [
            ("ranges", _doublep),
            ("scan", ctypes.POINTER(_double * 2)),
            ("point", ctypes.POINTER(player_point_2d_t)),
            ("intensity", ctypes.POINTER(_int)),
            ("scan_id", _int),
            ("laser_id", _int),
        ]
        + _doubles("min_right min_left")
    )
    _counts = {"ranges": "scan_count", "scan": "scan_count", "point": "scan_count", "intensity": "scan_count"}
    _methods = {"get_geom": ""}


class playerc_sonar(_Device):
    _name = "sonar"
    _fields = [("pose_count", _int), ("poses", ctypes.POINTER(player_pose3d_t)), ("scan_count", _int), ("scan", _doublep)]
    _counts = {"poses": "pose_count", "scan": "scan_count"}
    _methods = {"get_geom": ""}


class playerc_ranger(_Device):
    _name = "ranger"
    _fields = (
        [("element_count", _uint)]
        + _doubles("min_angle max_angle angular_res min_range max_range range_res frequency")
        + [
            ("device_pose", player_pose3d_t),
            ("device_size", player_bbox3d_t),
            ("element_poses", ctypes.POINTER(player_pose3d_t)),
            ("element_sizes", ctypes.POINTER(player_bbox3d_t)),
            ("ranges_count", _uint),
            ("ranges", _doublep),
            ("intensities_count", _uint),
            ("intensities", _doublep),
            ("bearings_count", _uint),
            ("bearings", _doublep),
            ("points_count", _uint),
            ("points", ctypes.POINTER(player_point_3d_t)),
        ]
    )
    _counts = {
        "element_poses": "element_count",
        "element_sizes": "element_count",
        "ranges": "ranges_count",
        "intensities": "intensities_count",
        "bearings": "bearings_count",
        "points": "points_count",
    }
    _methods = {"get_geom": "", "power_config": "i", "intns_config": "i", "set_config": "ddddddd"}

    def get_config(self):
        return self._call("get_config", *[None] * 7)


class playerc_bumper(_Device):
    _name = "bumper"
    _fields = [("bumper_count", _int), ("bumpers", ctypes.POINTER(ctypes.c_uint8))]
    _counts = {"bumpers": "bumper_count"}


class playerc_power(_Device):
    _name = "power"
    _fields = [("valid", _int)] + _doubles("charge percent joules watts") + [("charging", _int)]


class playerc_blobfinder(_Device):
    _name = "blobfinder"
    _fields = [("width", _uint), ("height", _uint), ("blobs_count", _uint), ("blobs", ctypes.POINTER(playerc_blobfinder_blob_t))]
    _counts = {"blobs": "blobs_count"}


class playerc_gripper(_Device):
    _name = "gripper"
    _fields = [
        ("pose", player_pose3d_t),
        ("outer_size", player_bbox3d_t),
        ("inner_size", player_bbox3d_t),
        ("num_beams", ctypes.c_uint8),
        ("capacity", ctypes.c_uint8),
        ("state", ctypes.c_uint8),
        ("beams", _uint),
        ("stored", ctypes.c_uint8),
    ]
    _methods = {"open_cmd": "", "close_cmd": "", "stop_cmd": "", "store_cmd": "", "retrieve_cmd": "", "get_geom": ""}


class playerc_ptz(_Device):
    _name = "ptz"
    _fields = _doubles("pan tilt zoom") + [("status", _int)]
    _methods = {"set": "ddd"}


class playerc_fiducial(_Device):
    _name = "fiducial"
    _fields = [("fiducial_geom", player_fiducial_geom_t), ("fiducials_count", _int), ("fiducials", ctypes.POINTER(player_fiducial_item_t))]
    _counts = {"fiducials": "fiducials_count"}
    _methods = {"get_geom": ""}


class playerc_imu(_Device):
    _name = "imu"
    _fields = [("pose", player_pose3d_t), ("vel", player_pose3d_t), ("acc", player_pose3d_t), ("calib_data", player_imu_data_calib_t)] + _floats("q0 q1 q2 q3")
    _methods = {"datatype": "i", "reset_orientation": "i", "reset_euler": "fff"}


class playerc_gps(_Device):
    _name = "gps"
    _fields = _doubles("utc_time lat lon alt speed course utm_e utm_n hdop vdop err_horz err_vert") + [("quality", _int), ("sat_count", _int)]


class playerc_dio(_Device):
    _name = "dio"
    _fields = [("count", ctypes.c_uint8), ("digin", _uint)]
    _methods = {"set_output": "ii"}


class playerc_aio(_Device):
    _name = "aio"
    _fields = [("voltages_count", ctypes.c_uint8), ("voltages", ctypes.POINTER(_float))]
    _counts = {"voltages": "voltages_count"}
    _methods = {"set_output": "if"}

    def get_data(self, index):
        """Outside of the count: 0."""
        return self.element("voltages", index, 0.0)


class playerc_actarray(_Device):
    _name = "actarray"
    _fields = [
        ("actuators_count", _uint),
        ("actuators_data", ctypes.POINTER(player_actarray_actuator_t)),
        ("actuators_geom_count", _uint),
        ("actuators_geom", ctypes.POINTER(player_actarray_actuatorgeom_t)),
        ("motor_state", ctypes.c_uint8),
        ("base_pos", player_point_3d_t),
        ("base_orientation", player_orientation_3d_t),
    ]
    _counts = {"actuators_data": "actuators_count", "actuators_geom": "actuators_geom_count"}
    _methods = {
        "get_geom": "",
        "position_cmd": "if",
        "speed_cmd": "if",
        "home_cmd": "i",
        "speed_config": "if",
        "power": "i",
        "brakes": "i",
    }

    def get_actuator_data(self, index):
        """Outside of the count: zeros."""
        return self.element("actuators_data", index, player_actarray_actuator_t())

    def get_actuator_geom(self, index):
        """Outside of the count: zeros."""
        return self.element("actuators_geom", index, player_actarray_actuatorgeom_t())

    def multi_position_cmd(self, positions):
        return self._call("multi_position_cmd", (_float * len(positions))(*positions), _int(len(positions)))

    def multi_speed_cmd(self, speeds):
        return self._call("multi_speed_cmd", (_float * len(speeds))(*speeds), _int(len(speeds)))


class playerc_camera(_Device):
    """Pictures: JPEG, or after decompress red, green and blue of each pixel."""

    _name = "camera"
    _fields = [(n, _int) for n in "width height bpp format fdiv compression image_count".split()] + [("image", ctypes.POINTER(ctypes.c_uint8))]

    def decompress(self):
        getattr(_library, "playerc_camera_decompress").restype = None
        self._call("decompress")

    def save(self, filename):
        getattr(_library, "playerc_camera_save").restype = None
        self._call("save", _chars(filename))

    def __getattr__(self, name):
        if name == "image":
            s = self._structure()
            return ctypes.string_at(s.image, s.image_count) if s.image_count else b""
        return _Device.__getattr__(self, name)


class playerc_graphics2d(_Device):
    """Draws nothing."""

    _name = "graphics2d"
    _fields = [("color", player_color_t)]
    _methods = {"setcolor": "c", "clear": ""}

    def draw_points(self, points, count=0):
        return 0

    draw_polyline = draw_points

    def draw_polygon(self, points, count=0, filled=0, fill_color=None):
        return 0


class playerc_simulation(_Device):
    _name = "simulation"

    def set_pose2d(self, name, x, y, a):
        return self._call("set_pose2d", _chars(name), _double(x), _double(y), _double(a))

    def get_pose2d(self, name):
        """Returns 0 or -1, x, y and heading."""
        x, y, a = _double(), _double(), _double()
        result = self._call("get_pose2d", _chars(name), ctypes.byref(x), ctypes.byref(y), ctypes.byref(a))
        return result, x.value, y.value, a.value

    def set_property(self, name, property, value, value_len=0):
        """The property "color": red, green, blue and one that has no effect, from 0 to 1."""
        floats = (_float * len(value))(*value)
        return self._call("set_property", _chars(name), _chars(property), ctypes.byref(floats), ctypes.c_size_t(ctypes.sizeof(floats)))

    def get_property(self, name, property):
        """Returns 0 or -1, and a list of four numbers."""
        floats = (_float * 4)()
        result = self._call("get_property", _chars(name), _chars(property), ctypes.byref(floats), ctypes.c_size_t(ctypes.sizeof(floats)))
        return result, list(floats)
