package player;

import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The kinds of devices: the interfaces of the protocol. A robot may have several of a kind, or none. */
public enum DeviceKind {
    /** Wheels, and their odometry: {@link Position}. */
    POSITION('p', Position::decode),
    /** A ring of sonars: {@link Ranges} with 16 distances. */
    SONAR('s', payload -> Ranges.decode("sonar", payload, PlayerClient.SONARS)),
    /** A laser scanner: {@link Ranges} with 361 distances. */
    LASER('l', payload -> Ranges.decode("laser", payload, PlayerClient.LASER_RANGES)),
    /** Bumpers and battery: {@link Misc}. */
    MISC('m', Misc::decode),
    /** A gripper with a lift: {@link Gripper}. */
    GRIPPER('g', Gripper::decode),
    /** The head of a camera, which pans, tilts and zooms: {@link CameraFeedback}. */
    PTZ('z', CameraFeedback::decode),
    /** Patches of colour in the camera's image: {@link Vision}. */
    VISION('v', Vision::decode),
    /** A joystick: {@link Joystick}. */
    JOYSTICK('j', Joystick::decode),
    /** A range sensor with any number of readings: {@link Ranger}. */
    RANGER('\0', Ranger::decode),
    /** An inertial measurement unit: {@link player.IMU}. */
    IMU('\0', player.IMU::decode),
    /** A satellite receiver: {@link player.GPS}. */
    GPS('\0', player.GPS::decode),
    /** Inputs and outputs: {@link player.IO}. */
    IO('\0', player.IO::decode),
    /** Joints: {@link Servo}. */
    SERVO('\0', Servo::decode),
    /** A driver that drives to goals around obstacles: {@link GotoData}. */
    GOTO('\0', GotoData::decode);

    private static final Map<String, DeviceKind> NAMES = Arrays.stream(values())
            .collect(Collectors.toMap(DeviceKind::interfaceName, Function.identity()));

    private final char letter;
    private final Function<byte[], Object> decoder;

    DeviceKind(char letter, Function<byte[], Object> decoder) {
        this.letter = letter;
        this.decoder = decoder;
    }

    /** Returns the kind of an interface's name; null: it is not known here. */
    static DeviceKind of(String interfaceName) {
        return NAMES.get(interfaceName);
    }

    /** {@return the name of the interface in the protocol, for example laser} */
    public String interfaceName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the letter of the first device of this kind in the protocol; 0: it has none. */
    char letter() {
        return letter;
    }

    /** Decodes a payload that is not empty. If it does not match the protocol, it is a PROTOCOL error. */
    Object decode(byte[] payload) {
        return decoder.apply(payload);
    }
}
