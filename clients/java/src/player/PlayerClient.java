package player;

import static player.PlayerException.Kind.USAGE;

import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import javax.net.ssl.SSLContext;

/**
 * A connection to a Player server by the names of the manual's appendix C. {@link Robot} is the same with devices as
 * objects, data that never change, and a limit for each wait; a new program begins there.
 *
 * <pre>{@code
 * try (PlayerClient robot = new PlayerClient("localhost", 6665, Duration.ofSeconds(15))) {
 *     robot.setCommandLifetime(Duration.ofMillis(500)); // the wheels stop if this program hangs
 *     robot.request("srpw"); // read the sonars, write the wheels
 *     while (true) {
 *         robot.getData(); // ten times a second
 *         if (robot.sonar[3] < 500) robot.setSpeed(0, 20);
 *         else robot.setSpeed(100, 0);
 *     }
 * }
 * }</pre>
 *
 * <p>All errors are {@link PlayerException}s. Lengths are in mm, angles in degrees, counterclockwise is positive.
 *
 * <p><b>Threads.</b> One thread calls getData. Others may send commands, and wait for the data with {@link #awaitData}.
 * A field changes only when getData or request returns, and the library never modifies its records and arrays, so each is
 * of one moment. A thread that needs several fields of the same round reads them in {@code synchronized (robot)}.
 */
public final class PlayerClient implements AutoCloseable {
    /** Number of sonars, and of ranges in a laser scan. */
    public static final int SONARS = 16, LASER_RANGES = 361;

    /** When the server sends rounds of data. */
    public enum DataMode {
        /** At the frequency of this connection. The default. */
        CONTINUOUS,
        /** One for each {@link #requestData}. */
        REQUESTREPLY
    }

    /** How the robot's microcontroller drives. */
    public enum VelocityMode {
        /** Faster and jerkier. The default. */
        DIRECTWHEELVELOCITY,
        /** Separate control of translation and rotation: smoother and slower. */
        SEPARATETRANSROT
    }

    /** Commands of {@link #setGripper}. GRIPpress and LIFTcarry take an argument, in steps of 20 ms. */
    public static final int GRIPopen = 1, GRIPclose = 2, GRIPstop = 3, LIFTup = 4, LIFTdown = 5, LIFTstop = 6,
            GRIPstore = 7, GRIPdeploy = 8, GRIPhalt = 15, GRIPpress = 16, LIFTcarry = 17;

    /** Odometry. Zero before the first data, as all fields below; {@link #has} reports whether there is data. */
    public volatile Position position = new Position(0, 0, 0, 0, 0, 0, 0, 0);
    /**
     * Ranges of the sonars, mm. 0 is at the front left, then clockwise: 7 front right, 8 rear right, 15 rear left. A
     * range of 0 means that the sonar has not fired yet, or is missing.
     */
    public volatile int[] sonar = new int[SONARS];
    /** A laser scan, mm, every half degree from the right (0, -90 deg) counterclockwise to the left (360, +90 deg). */
    public volatile int[] laser = new int[LASER_RANGES];
    /** Bumpers and battery. */
    public volatile Misc misc = new Misc(0, 0, 0);
    /** Paddles, lift and beams. */
    public volatile Gripper gripper = new Gripper(0, 0);
    /** Direction and zoom of the camera. */
    public volatile CameraFeedback camfeedback = new CameraFeedback(0, 0, 0);
    /** The blobs in the camera image, by colour: 32 channels. */
    public volatile ColorChannel[] channel = ColorChannel.none();
    /** The channels with at least one blob, in entries 0 to {@link #howManyColorsInCameraImage} - 1. */
    public volatile int[] activeChannel = new int[ColorChannel.ACTS_NUM_CHANNELS];
    private volatile int colors; // entries of activeChannel in use
    /** State of a joystick. */
    public volatile Joystick joystick = Joystick.AT_REST;

    /** The joint of {@link #moveJoint} that is all of them (PROTOCOL 5.1). */
    public static final int ALL_JOINTS = 255;

    private final Session.Block[] shown = new Session.Block[128]; // in the fields, by letter
    private final Connection connection;

    /**
     * Connects to the server and waits as long as it takes. The usual port is 6665.
     *
     * @param host name or address of the server's computer
     * @param port of the server
     */
    public PlayerClient(String host, int port) {
        this(host, port, 0);
    }

    /**
     * Connects to the server within the timeout, which then applies to all waits: {@link #setTimeout}.
     *
     * @param host name or address of the server's computer
     * @param port of the server
     * @param timeoutMs ms; 0: there is no limit
     */
    public PlayerClient(String host, int port, int timeoutMs) {
        this(host, port, timeoutMs, null);
    }

    /**
     * Connects to the server within a limit, which then applies to all waits. Zero: they wait for ever.
     *
     * @param host name or address of the server's computer
     * @param port of the server
     * @param timeout zero: there is no limit
     */
    public PlayerClient(String host, int port, Duration timeout) {
        this(host, port, Deadline.milliseconds(timeout));
    }

    /**
     * Connects as above, by TLS. {@link Certificates} makes a context from PEM files.
     *
     * @param host name or address of the server's computer
     * @param port of the server
     * @param timeoutMs ms; 0: there is no limit
     * @param tls null: without TLS
     */
    public PlayerClient(String host, int port, int timeoutMs, SSLContext tls) {
        this(host, port, timeoutMs, tls, host);
    }

    /**
     * Connects as above, to a server whose certificate has another name than host.
     *
     * @param host name or address of the server's computer
     * @param port of the server
     * @param timeoutMs ms; 0: there is no limit
     * @param tls null: without TLS
     * @param serverName the name in the server's certificate
     */
    public PlayerClient(String host, int port, int timeoutMs, SSLContext tls, String serverName) {
        connection = new Connection(new Address(host, port, tls, serverName), checked(timeoutMs), this, this::show);
    }

    /**
     * Limits each later call that waits, in ms. 0 means no limit, the default. After a TIMEOUT error, call again.
     *
     * @param timeoutMs ms; 0: there is no limit
     */
    public void setTimeout(int timeoutMs) {
        connection.setTimeout(checked(timeoutMs));
    }

    /**
     * Limits each later call that waits. Zero means no limit. After a TIMEOUT error, call again.
     *
     * @param timeout zero: there is no limit
     */
    public void setTimeout(Duration timeout) {
        connection.setTimeout(Deadline.milliseconds(timeout));
    }

    private static int checked(int timeoutMs) {
        if (timeoutMs < 0) {
            throw new PlayerException(USAGE, "timeout " + timeoutMs + " ms is negative");
        }
        return timeoutMs;
    }

    /** Closes the connection. The server then stops the wheels if this client had write access to them. */
    @Override
    public void close() {
        connection.close();
    }

    /**
     * Connects again after a CLOSED error, at any time. It tries until the timeout, and restores name, data mode,
     * frequency, command lifetime, freshness mode and the devices. The fields keep their values; {@link #has} is false
     * until new data. A REFUSED error means that the connection stands, but not all devices could be opened again.
     *
     * <p>If the server has listed its devices before, it is asked for them again. A REFUSED error whose reasons have
     * the word moved means that one of their bytes means another device now: no device is open, so open them again by
     * their names.
     */
    public void reconnect() {
        connection.reconnect();
    }

    /**
     * Asks for devices and waits for the server's reply (manual 3.3). The request consists of pairs of a device and an
     * access: "srpw" is sonar read, position write; 'a' is read and write, 'c' closes. Setting up a device can take
     * seconds.
     *
     * <p>A REFUSED error means that the server granted less, which is in force; it has the reasons. A device that is
     * read and then opened with w is granted a. Data that arrives meanwhile is stored, but not returned by getData
     * again.
     *
     * @param pairs of device and access
     * @return the pairs that were granted
     */
    public String request(String pairs) {
        return connection.request(pairs);
    }

    /**
     * {@return the places and the sizes of the parts of the robot, as far as the server knows them} A device that is
     * open is known best. A server without such answers has no parts.
     */
    public List<Part> geometry() {
        return connection.geometry();
    }

    /**
     * {@return the devices of the robot (PROTOCOL 8.9.5)} From then on answers and refusals have those without letters,
     * and {@link #data} has their data. The list is empty if the server is an older one, whose devices all have
     * letters, or if this client may neither read nor write.
     */
    public List<Device> devices() {
        return connection.devices();
    }

    /**
     * Opens a device by its name, for example "laser:1" or "imu", which means imu:0. It asks the server which devices
     * there are unless it knows the name already. Of an older server, it opens devices by their letters.
     *
     * <p>A REFUSED error means that the robot has no such device, or that the server did not grant the access, as of
     * {@link #request}; a USAGE error that name cannot be one.
     *
     * @param name of the device, for example laser:1
     * @param access r, w or a
     * @return the byte of the device, for every method that takes a device
     */
    public char open(String name, char access) {
        return connection.open(Roster.Name.of(name), access);
    }

    /**
     * {@return where the readings of lasers, sonars and rangers look from and to, as far as the server knows it
     * (PROTOCOL 8.9.6)} Open the devices first: a driver may learn it then. An older server knows none.
     */
    public List<Rays> rays() {
        return connection.rays();
    }

    /**
     * {@return the inputs, outputs and joints of the robot (PROTOCOL 8.9.7)} Call {@link #devices}, or open
     * one of them by its name, before: they have no letters. An older server knows none.
     */
    public List<Channel> channels() {
        return connection.channels();
    }

    /**
     * {@return the name of a device for people: its letter, or its name, for example laser:1, if it has no letter}
     *
     * @param device its letter or its byte
     */
    public String nameOf(char device) {
        return connection.nameOf(device);
    }

    /**
     * {@return which colours the channels of vision have, as far as the server knows it (PROTOCOL 8.9.8)} An older
     * server knows none.
     */
    public List<ChannelColor> colors() {
        return connection.colors();
    }

    /**
     * Waits for one whole round: a block of each device that is open for reading, and stores it in the fields. Rounds
     * come at the frequency of this connection, or after {@link #requestData}. After {@link #setFresh} a round contains
     * only new data; {@link #isNew} reports which.
     *
     * <p>After a TIMEOUT error the next call continues the same round. After a PROTOCOL error the block's device has no
     * data and the connection is still usable.
     */
    public void getData() {
        connection.read();
    }

    private void setImage(ColorChannel[] channels) {
        channel = channels;
        int[] active = new int[channels.length];
        int n = 0;
        for (int c = 0; c < channels.length; c++) {
            if (channels[c].noBlobs() > 0) {
                active[n++] = c;
            }
        }
        activeChannel = active;
        colors = n;
    }

    /** {@return the number of channels with at least one blob} */
    public int howManyColorsInCameraImage() {
        return colors;
    }

    /** Takes the data that arrived over into the fields. */
    private void show(Round round) {
        for (char device : new char[] {'p', 's', 'l', 'm', 'g', 'z', 'v', 'j'}) { // others have no fields
            Session.Block block = round.block(device);
            Object value = block == null || block == shown[device] ? null : block.value();
            if (block != null) {
                shown[device] = block;
            }
            if (value instanceof Position p) {
                position = p;
            } else if (value instanceof Misc m) {
                misc = m;
            } else if (value instanceof Gripper g) {
                gripper = g;
            } else if (value instanceof CameraFeedback c) {
                camfeedback = c;
            } else if (value instanceof Joystick j) {
                joystick = j;
            } else if (value instanceof Vision v) {
                setImage(v.channels().toArray(ColorChannel[]::new));
            } else if (value instanceof Ranges r && device == 's') {
                sonar = r.toArray();
            } else if (value instanceof Ranges r) {
                laser = r.toArray();
            }
        }
    }

    /**
     * For other threads than the one that calls getData: waits for a newer round than seen, and returns its number.
     * Start with 0; a slow thread skips rounds. The number counts the rounds that getData has returned.
     *
     * @param seen number of the newest round that the thread has seen
     * @return the number of the newest round
     */
    public long awaitData(long seen) {
        return connection.awaitRound(seen);
    }

    /**
     * {@return whether a device has data: its newest block was neither empty nor wrong}
     *
     * @param device its letter or its byte
     */
    public boolean has(char device) {
        return connection.latest().has(device);
    }

    /**
     * {@return whether the latest round has a block of this device} Without freshness mode it has all.
     *
     * @param device its letter or its byte
     */
    public boolean isNew(char device) {
        return connection.latest().isNew(device);
    }

    /**
     * {@return the data of a device's newest block, as its interface has them: {@link Ranger}, {@link IMU}, {@link
     * GPS}, {@link IO} or {@link Servo}, and for the others what the field of the first one has, for example int[] of
     * 361 ranges for laser:1} It is null if {@link #has} is false, or if the interface is not known here. If the data
     * are of another type, it is a USAGE error.
     *
     * @param <T> of the data
     * @param device its letter or its byte
     * @param type class of the data
     */
    public <T> T data(char device, Class<T> type) {
        Object value = connection.latest().value(device);
        if (value instanceof Ranges ranges && type == int[].class) {
            value = ranges.toArray();
        } else if (value instanceof Vision vision && type == ColorChannel[].class) {
            value = vision.channels().toArray(ColorChannel[]::new);
        }
        if (value != null && !type.isInstance(value)) {
            throw new PlayerException(USAGE, "device " + nameOf(device) + " has " + value.getClass().getSimpleName());
        }
        return type.cast(value);
    }

    /**
     * {@return the payload of a device's newest block as sent, or null: the only access to devices unknown here}
     *
     * @param device its letter or its byte
     */
    public byte[] raw(char device) {
        Session.Block b = connection.latest().block(device);
        return b == null ? null : b.payload().clone();
    }

    /**
     * {@return the age in us of a device's data when the server made the latest round} It is empty if device y is not
     * read or there is no data yet. Ages over 71 minutes are given as 71 minutes.
     *
     * @param device its letter or its byte
     */
    public OptionalLong age(char device) {
        return connection.latest().ageUs(device).map(OptionalLong::of).orElse(OptionalLong.empty());
    }

    /** {@return the time of the latest round, us since the server started} 0 if device y was never read. */
    public long serverTime() {
        return connection.latest().timeUs();
    }

    /**
     * Drives the robot until the next call. The server and the robot limit both speeds.
     *
     * @param translation mm/s, positive is forward
     * @param rotation deg/s, positive is counterclockwise
     */
    public void setSpeed(int translation, int rotation) {
        command('p', Commands.speed(translation, rotation));
    }

    /**
     * Points the camera. The order of the arguments is the manual's.
     *
     * @param pan -100..100 deg, positive is counterclockwise
     * @param zoom 0 wide .. 1023 telephoto
     * @param tilt -25..25 deg, positive is up
     */
    public void setVision(int pan, int zoom, int tilt) {
        command('z', Commands.camera(pan, tilt, zoom));
    }

    /**
     * Points the camera as {@link #setVision} does, by the name and order of the manual's C++: deg, deg, 0..1023.
     *
     * @param pan -100..100 deg, positive is counterclockwise
     * @param tilt -25..25 deg, positive is up
     * @param zoom 0 wide .. 1023 telephoto
     */
    public void setPTZ(int pan, int tilt, int zoom) {
        setVision(pan, zoom, tilt);
    }

    /**
     * Moves the gripper: GRIPopen ... LIFTcarry.
     *
     * @param gripperCommand GRIPopen ... LIFTcarry
     */
    public void setGripper(int gripperCommand) {
        setGripper(gripperCommand, 0);
    }

    /**
     * Moves the gripper with an argument, 0..255.
     *
     * @param gripperCommand GRIPopen ... LIFTcarry
     * @param argument 0..255, of GRIPpress and LIFTcarry in steps of 20 ms
     */
    public void setGripper(int gripperCommand, int argument) {
        command('g', Commands.gripper(gripperCommand, argument));
    }

    /**
     * Sets an output of an io device, which {@link #open} has opened for writing, to a value in the unit of the output
     * ({@link #channels}); a digital one to 0 or 1. The server limits the value, and ignores a channel that is no
     * output.
     *
     * @param device its letter or its byte
     * @param channel its number, from 0
     * @param value in the unit of the output
     */
    public void setOutput(char device, int channel, int value) {
        command(device, Commands.output(channel, value));
    }

    /**
     * Moves a joint of a servo device, which {@link #open} has opened for writing.
     *
     * @param device its letter or its byte
     * @param joint ALL_JOINTS: all of them
     * @param goal in the unit of the joint ({@link #channels})
     * @param speed in that unit each second, 0..4294967295; 0: as its driver moves it
     */
    public void moveJoint(char device, int joint, int goal, long speed) {
        command(device, Commands.joint(joint, goal, speed));
    }

    /**
     * Stops a joint of a servo device where it is. ALL_JOINTS: all of them.
     *
     * @param device its letter or its byte
     * @param joint its number, from 0, or ALL_JOINTS
     */
    public void stopJoint(char device, int joint) {
        moveJoint(device, joint, Payload.UNKNOWN, 0);
    }

    /**
     * Stops all joints of a servo device where they are.
     *
     * @param device its letter or its byte
     */
    public void stopJoints(char device) {
        stopJoint(device, ALL_JOINTS);
    }

    /**
     * Has a goto device, which {@link #open} has opened for writing, drive to a goal. Its {@link GotoData} say how far it
     * has come. A goal that has ended needs another tag to be given again. {@link GoTo#drive(Goal)} waits for the arrival.
     *
     * @param device its byte
     * @param goal   where to
     * @param tag    any number, 0..65535, which the data repeat
     */
    public void setGoal(char device, Goal goal, int tag) {
        command(device, goal.command(tag));
    }

    /**
     * Has a goto device give its goal up, and stop the wheels.
     *
     * @param device its byte
     */
    public void stopGoal(char device) {
        command(device, Goal.stop());
    }

    /**
     * Sends a command of any layout. It does not wait. Without write access it is a USAGE error.
     *
     * @param device its letter or its byte
     * @param payload of any layout, at most 512 bytes
     */
    public void command(char device, byte[] payload) {
        connection.command(device, payload);
    }

    /**
     * Selects when the server sends data. getData still returns rounds that are on their way.
     *
     * @param mode the mode
     */
    public void setDataMode(DataMode mode) {
        connection.setRequestReply(mode == DataMode.REQUESTREPLY);
    }

    /**
     * Sets the frequency of rounds in continuous mode, 1..65535 Hz. The default is 10. The server has a maximum.
     *
     * @param hz rounds a second, 1..65535
     */
    public void setFrequency(int hz) {
        connection.setFrequency(hz);
    }

    /**
     * Sets for how long a command of {@link #setSpeed} is good, in ms, at most 60000: the wheels stop unless it is
     * repeated in time, also when this program hangs. A client with a lifetime yields: its zero speeds stop only what
     * it drives itself. 0: the commands are good until the client leaves (PROTOCOL 5.5). 0.7.4a ignores it.
     *
     * @param ms milliseconds
     */
    public void setCommandLifetime(int ms) {
        connection.setLifetime(ms);
    }

    /**
     * Sets the command lifetime in whole milliseconds, as {@link #setCommandLifetime(int)} does.
     *
     * @param lifetime zero: there is none
     */
    public void setCommandLifetime(Duration lifetime) {
        connection.setLifetime(lifetime);
    }

    /** Asks for one round in request/reply mode. In continuous mode it has no effect. */
    public void requestData() {
        config('y', 'd');
    }

    /**
     * Turns freshness mode on or off: a round is sent only if there is new data, and contains only that. It needs
     * device y open for reading. Servers before this one do not have it.
     *
     * @param on true to turn it on, false to turn it off
     */
    public void setFresh(boolean on) {
        connection.setFresh(on);
    }

    /**
     * Sets the name by which people see this client: at most 64 bytes of printable ASCII. "" removes it.
     *
     * @param name printable ASCII
     */
    public void setName(String name) {
        connection.setName(name);
    }

    /**
     * Stops the robot for all, or releases the stop. While it holds, also when this client has left, the server drops
     * all commands of all clients. It needs no open device, but the right to write; without it the server ignores the
     * call.
     *
     * @param on true: stop; false: release
     */
    public void emergencyStop(boolean on) {
        config('y', 'e', on ? 1 : 0);
    }

    /**
     * Turns the power of the motors on or off. Be careful: the robot may start at once. This and the two calls below
     * affect all clients, and need an open device of the microcontroller: position, sonar, misc or gripper.
     *
     * @param on true to turn it on, false to turn it off
     */
    public void changeMotorState(boolean on) {
        config('p', 'm', on ? 1 : 0);
    }

    /**
     * Selects how the wheels follow setSpeed.
     *
     * @param mode the mode
     */
    public void changeVelocityControl(VelocityMode mode) {
        config('p', 'v', mode == VelocityMode.SEPARATETRANSROT ? 1 : 0);
    }

    /** Sets the odometry to (0, 0, 0). */
    public void resetPosition() {
        config('p', 'R');
    }

    /**
     * Sends a configuration of any layout: a code and its argument, one byte each. It needs no access.
     *
     * @param device its letter or its byte
     * @param payload a code, and its argument
     */
    public void config(char device, int... payload) {
        connection.config(device, payload);
    }
}
