package player;

import java.time.Duration;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;

/**
 * A robot: a connection to its Player server, and its devices as objects.
 *
 * <pre>{@code
 * try (Robot robot = Robot.connect("localhost")) {
 *     robot.setCommandLifetime(Duration.ofMillis(500)); // the wheels stop if this program hangs
 *     Sensor<Ranges> sonar = robot.sonar().open();
 *     Wheels wheels = robot.wheels().open();
 *     while (true) {
 *         int ahead = sonar.read().mm(3); // ten times a second
 *         wheels.drive(ahead < 500 ? 0 : 100, ahead < 500 ? 20 : 0); // mm/s, deg/s
 *     }
 * }
 * }</pre>
 *
 * <p>Lengths are in mm, angles in degrees, x is ahead, y to the left, and counterclockwise is positive, unless a name
 * says otherwise. All errors are {@link PlayerException}s. No call waits longer than the limit of
 * {@link Builder#timeout}, except {@link GoTo#drive(Goal)}.
 *
 * <p><b>Threads.</b> One thread reads: {@link #read}, {@link Sensor#read}, {@link #rounds}, or the thread of {@link
 * #listen}. It, or others while it does not read, open devices and ask. All may send commands and look at {@link
 * #latest}, which never changes.
 *
 * <p>{@link PlayerClient} is the same connection by the names of the Player manual.
 */
public final class Robot implements AutoCloseable {
    /** The usual port of a server. */
    public static final int PORT = 6665;

    /** The limit of calls that wait, unless another one is set: the setup of most devices takes a few seconds. */
    public static final Duration TIMEOUT = Duration.ofSeconds(15);

    private final Connection connection;
    private final Map<Roster.Name, Sensor<?>> sensors = new ConcurrentHashMap<>();

    private Robot(Builder b) {
        connection = new Connection(new Address(b.host, b.port, b.tls, b.serverName == null ? b.host : b.serverName),
                Deadline.milliseconds(b.timeout), new Object(), round -> {});
    }

    /**
     * Connects to a robot's server on the usual port.
     *
     * @param host name or address of the server's computer
     * @return the connection
     */
    public static Robot connect(String host) {
        return at(host, PORT).connect();
    }

    /**
     * Connects to a robot's server.
     *
     * @param host name or address of the server's computer
     * @param port of the server
     * @return the connection
     */
    public static Robot connect(String host, int port) {
        return at(host, port).connect();
    }

    /**
     * Begins to describe a connection: {@link Builder#connect} makes it.
     *
     * @param host name or address of the server's computer
     * @param port of the server
     * @return its description
     */
    public static Builder at(String host, int port) {
        return new Builder(host, port);
    }

    /** Describes a connection. */
    public static final class Builder {
        private final String host;
        private final int port;
        private Duration timeout = TIMEOUT;
        private SSLContext tls;
        private String serverName;

        private Builder(String host, int port) {
            this.host = host;
            this.port = port;
        }

        /**
         * Limits connecting, and each later call that waits. The default is {@link #TIMEOUT}. Looking up the name of
         * the host has the limits of the system instead.
         *
         * @param limit zero: they wait for ever
         * @return this
         */
        public Builder timeout(Duration limit) {
            timeout = limit;
            return this;
        }

        /**
         * Connects by TLS. {@link Certificates} makes a context from PEM files.
         *
         * @param context which certificates are trusted and shown
         * @return this
         */
        public Builder tls(SSLContext context) {
            tls = context;
            return this;
        }

        /**
         * Expects a name in the server's certificate. The default is the host.
         *
         * @param name in the server's certificate
         * @return this
         */
        public Builder serverName(String name) {
            serverName = name;
            return this;
        }

        /**
         * Connects.
         *
         * @return the connection
         */
        public Robot connect() {
            return new Robot(this);
        }
    }

    /** Closes the connection. The server then stops the wheels if this client drives them. */
    @Override
    public void close() {
        connection.close();
    }

    /**
     * Limits each later call that waits. Zero: they wait for ever. After a TIMEOUT error, call again.
     *
     * @param limit zero: there is none
     */
    public void setTimeout(Duration limit) {
        connection.setTimeout(Deadline.milliseconds(limit));
    }

    /**
     * Connects again after a CLOSED error, at any time. It tries until the limit, and restores name, frequency, command
     * lifetime, data mode, freshness mode and the devices. A REFUSED error means that the connection stands, but not
     * all devices could be opened again; if its reasons have the word moved, none is open: open them again.
     */
    public void reconnect() {
        connection.reconnect();
    }

    // Devices.

    /** {@return the wheels} */
    public Wheels wheels() {
        return (Wheels) device(DeviceKind.POSITION, 0);
    }

    /** {@return the first ring of sonars} */
    public Sensor<Ranges> sonar() {
        return sensor(DeviceKind.SONAR, 0);
    }

    /** {@return the first laser} */
    public Sensor<Ranges> laser() {
        return sensor(DeviceKind.LASER, 0);
    }

    /** {@return bumpers and battery} */
    public Sensor<Misc> misc() {
        return sensor(DeviceKind.MISC, 0);
    }

    /** {@return the gripper} */
    public Grip gripper() {
        return (Grip) device(DeviceKind.GRIPPER, 0);
    }

    /** {@return the head of the first camera} */
    public Camera camera() {
        return (Camera) device(DeviceKind.PTZ, 0);
    }

    /** {@return the patches of colour that the first camera sees} */
    public Sensor<Vision> vision() {
        return sensor(DeviceKind.VISION, 0);
    }

    /** {@return the joystick} */
    public Sensor<Joystick> joystick() {
        return sensor(DeviceKind.JOYSTICK, 0);
    }

    /** {@return the first range sensor with any number of readings} */
    public Sensor<Ranger> ranger() {
        return sensor(DeviceKind.RANGER, 0);
    }

    /** {@return the first inertial measurement unit} */
    public Sensor<IMU> imu() {
        return sensor(DeviceKind.IMU, 0);
    }

    /** {@return the first satellite receiver} */
    public Sensor<GPS> gps() {
        return sensor(DeviceKind.GPS, 0);
    }

    /** {@return the first device of inputs and outputs} */
    public Outputs io() {
        return (Outputs) device(DeviceKind.IO, 0);
    }

    /** {@return the first device of joints} */
    public Joints joints() {
        return (Joints) device(DeviceKind.SERVO, 0);
    }

    /** {@return the driver of the server that drives to goals} */
    public GoTo goTo() {
        return (GoTo) device(DeviceKind.GOTO, 0);
    }

    /**
     * {@return all lasers, in the order of their indices: {@code lasers().get(1)} is laser:1} It asks the server, as
     * {@link #devices} does.
     */
    public List<Sensor<Ranges>> lasers() {
        return all(DeviceKind.LASER).map(d -> this.<Ranges>sensor(DeviceKind.LASER, d.index())).toList();
    }

    /** {@return all rings of sonars} It asks the server. */
    public List<Sensor<Ranges>> sonars() {
        return all(DeviceKind.SONAR).map(d -> this.<Ranges>sensor(DeviceKind.SONAR, d.index())).toList();
    }

    /** {@return all range sensors with any number of readings} It asks the server. */
    public List<Sensor<Ranger>> rangers() {
        return all(DeviceKind.RANGER).map(d -> this.<Ranger>sensor(DeviceKind.RANGER, d.index())).toList();
    }

    /** {@return all inertial measurement units} It asks the server. */
    public List<Sensor<IMU>> imus() {
        return all(DeviceKind.IMU).map(d -> this.<IMU>sensor(DeviceKind.IMU, d.index())).toList();
    }

    /** {@return all devices of inputs and outputs} It asks the server. */
    public List<Outputs> ios() {
        return all(DeviceKind.IO).map(d -> (Outputs) device(DeviceKind.IO, d.index())).toList();
    }

    /** {@return all devices of joints} It asks the server. */
    public List<Joints> allJoints() {
        return all(DeviceKind.SERVO).map(d -> (Joints) device(DeviceKind.SERVO, d.index())).toList();
    }

    /**
     * {@return any device, by its kind and its index within the kind, from 0} The classes of those that take
     * commands are those of the methods above, for example {@link Wheels} of {@link DeviceKind#POSITION}. It does not
     * ask the server.
     *
     * @param kind of the device
     * @param index among the devices of the kind, from 0
     */
    public Sensor<?> device(DeviceKind kind, int index) {
        return sensors.computeIfAbsent(new Roster.Name(kind.interfaceName(), index), name -> switch (kind) {
            case POSITION -> new Wheels(connection, name);
            case SONAR, LASER -> new Sensor<>(connection, name, Ranges.class);
            case MISC -> new Sensor<>(connection, name, Misc.class);
            case GRIPPER -> new Grip(connection, name);
            case PTZ -> new Camera(connection, name);
            case VISION -> new Sensor<>(connection, name, Vision.class);
            case JOYSTICK -> new Sensor<>(connection, name, Joystick.class);
            case RANGER -> new Sensor<>(connection, name, Ranger.class);
            case IMU -> new Sensor<>(connection, name, IMU.class);
            case GPS -> new Sensor<>(connection, name, GPS.class);
            case IO -> new Outputs(connection, name);
            case SERVO -> new Joints(connection, name);
            case GOTO -> new GoTo(connection, name);
        });
    }

    @SuppressWarnings("unchecked") // the switch above decides the type by the kind
    private <T> Sensor<T> sensor(DeviceKind kind, int index) {
        return (Sensor<T>) device(kind, index);
    }

    private Stream<Device> all(DeviceKind kind) {
        return devices().stream().filter(d -> d.interfaceName().equals(kind.interfaceName()))
                .sorted(Comparator.comparingInt(Device::index));
    }

    /**
     * Asks which devices the robot has (PROTOCOL 8.9.5). The list is empty if the server is an older one, or if this
     * client may neither read nor write.
     *
     * @return its devices
     */
    public List<Device> devices() {
        return connection.devices();
    }

    /**
     * Asks for the places and the sizes of the parts of the robot. A device that is open is known best.
     *
     * @return the parts
     */
    public List<Part> geometry() {
        return connection.geometry();
    }

    /**
     * Asks where the readings of lasers, sonars and rangers look from and to. Open the devices first.
     *
     * @return the rays
     */
    public List<Rays> rays() {
        return connection.rays();
    }

    /**
     * Asks for the inputs, outputs and joints of the robot. Call {@link #devices}, or open one of them, before.
     *
     * @return the channels
     */
    public List<Channel> channels() {
        return connection.channels();
    }

    /**
     * Asks which colours the channels of vision have, as far as the server knows it.
     *
     * @return the colours
     */
    public List<ChannelColor> colors() {
        return connection.colors();
    }

    /**
     * {@return the name of a device in the answers above, or in a {@link PlayerException}: its letter, or its name}
     *
     * @param device its letter or its byte
     */
    public String nameOf(char device) {
        return connection.nameOf(device);
    }

    // Data.

    /**
     * Waits for one whole round: data of each device that is open for reading. Rounds come at the frequency of this
     * connection, by default ten times a second, or after {@link #requestData}.
     *
     * <p>After a TIMEOUT error the next call continues the same round. After a PROTOCOL error one device has no data
     * and the connection is still usable.
     *
     * @return the round
     */
    public Round read() {
        return connection.read();
    }

    /** {@return the data that has arrived} It does not wait. */
    public Round latest() {
        return connection.latest();
    }

    /** {@return the rounds for a for loop, which ends only by break or by an exception: each step is {@link #read}} */
    public Iterable<Round> rounds() {
        return () -> new Iterator<>() {
            @Override
            public boolean hasNext() {
                return true;
            }

            @Override
            public Round next() {
                return read();
            }
        };
    }

    /**
     * Starts a thread that reads rounds and calls each with them, until the result is cancelled, or anything fails: the
     * result then completes with the exception. Open the devices before. The thread does not keep the program alive.
     *
     * @param each the callback
     * @return the end
     */
    public CompletableFuture<Void> listen(Consumer<? super Round> each) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                while (!end.isDone()) {
                    each.accept(read());
                }
            } catch (RuntimeException | Error e) {
                end.completeExceptionally(e);
            }
        }, "player-rounds");
        thread.setDaemon(true);
        thread.start();
        return end;
    }

    /**
     * Sets the frequency of rounds, 1..65535 Hz. The default is 10. The server has a maximum.
     *
     * @param hz rounds a second, 1..65535
     */
    public void setFrequency(int hz) {
        connection.setFrequency(hz);
    }

    /**
     * Has rounds come only for {@link #requestData}. Rounds that are on their way still arrive.
     *
     * @param on whether it is to be so
     */
    public void setRequestReply(boolean on) {
        connection.setRequestReply(on);
    }

    /** Asks for one round in request/reply mode. */
    public void requestData() {
        connection.config('y', 'd');
    }

    /** Has each round say how old its data are: {@link Sensor#age}. Servers before this one do not know it. */
    public void readAges() {
        connection.request("yr");
    }

    /**
     * Has a round sent only if there are new data, with only them. It reads ages from then on.
     *
     * @param on whether it is to be so
     */
    public void setFresh(boolean on) {
        if (on && !connection.can('y', 'r')) {
            readAges();
        }
        connection.setFresh(on);
    }

    // Safety, and people.

    /**
     * Sets for how long a command to the wheels is good, at most a minute, in whole milliseconds: they stop unless it
     * is repeated in time, also when this program hangs. A client with a lifetime yields: its stops stop only what it
     * drives itself. Zero: commands are good until the client leaves (PROTOCOL 5.5). 0.7.4a ignores it.
     *
     * @param lifetime zero: there is none
     */
    public void setCommandLifetime(Duration lifetime) {
        connection.setLifetime(lifetime);
    }

    /**
     * Stops the robot for all, or releases the stop. While it holds, also when this client has left, the server drops
     * all commands of all clients. It needs the right to write; without it the server ignores the call.
     *
     * @param on true: stop; false: release
     */
    public void emergencyStop(boolean on) {
        connection.config('y', 'e', on ? 1 : 0);
    }

    /**
     * Sets the name by which people see this client: at most 64 bytes of printable ASCII. "" removes it.
     *
     * @param name printable ASCII
     */
    public void setName(String name) {
        connection.setName(name);
    }
}
