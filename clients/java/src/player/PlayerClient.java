package player;

import static player.PlayerException.Kind.CLOSED;
import static player.PlayerException.Kind.PROTOCOL;
import static player.PlayerException.Kind.REFUSED;
import static player.PlayerException.Kind.TIMEOUT;
import static player.PlayerException.Kind.USAGE;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/**
 * A connection to a Player server: appendix C of the manual.
 *
 * <pre>{@code
 * try (PlayerClient robot = new PlayerClient("localhost", 6665)) {
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
 * A field changes only when getData or request returns, and its records and arrays are never modified, so each is of
 * one moment. A thread that needs several fields of the same round reads them in {@code synchronized (robot)}.
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
    public volatile Position position;
    /**
     * Ranges of the sonars, mm. 0 is at the front left, then clockwise: 7 front right, 8 rear right, 15 rear left. A
     * range of 0 means that the sonar has not fired yet, or is missing.
     */
    public volatile int[] sonar;
    /** A laser scan, mm, every half degree from the right (0, -90 deg) counterclockwise to the left (360, +90 deg). */
    public volatile int[] laser;
    /** Bumpers and battery. */
    public volatile Misc misc;
    /** Paddles, lift and beams. */
    public volatile Gripper gripper;
    /** Direction and zoom of the camera. */
    public volatile CameraFeedback camfeedback;
    /** The blobs in the camera image, by colour: 32 channels. */
    public volatile ColorChannel[] channel;
    /** The channels with at least one blob, in entries 0 to {@link #howManyColorsInCameraImage} - 1. */
    public volatile int[] activeChannel;
    private volatile int colors; // entries of activeChannel in use
    /** State of a joystick. */
    public volatile Joystick joystick;

    /** The joint of {@link #moveJoint} that is all of them (PROTOCOL 5.1). */
    public static final int ALL_JOINTS = 255;

    /** The name of a device: an interface, and perhaps an index. */
    private static final Pattern ADDRESS = Pattern.compile("([^:]+)(?::([0-9]{1,9}))?");

    /** Size limit of a message to the server, bytes of payload (PROTOCOL 1.5). */
    private static final int MAX_PAYLOAD = 512;
    /** Size limit of a client's name, bytes (PROTOCOL 8.3). */
    private static final int MAX_NAME = 64;
    /** Pause between attempts of {@link #reconnect}, ms: the server may be starting. */
    private static final int PAUSE = 100;
    /** For the reason of a server that has closed the connection, ms: it has come, or never will. */
    private static final int ALERT = 500;
    /** For what is sent, ms. A network that takes nothing for so long is lost; the server stops the wheels before. */
    private static final int SENDING = 5000;

    /** Closes the lines that do not take what is sent within {@link #SENDING}: Java's writes have no limit. */
    private static final ScheduledThreadPoolExecutor SEND_LIMIT = new ScheduledThreadPoolExecutor(1, task -> {
        Thread thread = new Thread(task, "player-send-limit");
        thread.setDaemon(true);
        return thread;
    });

    static {
        SEND_LIMIT.setRemoveOnCancelPolicy(true);
    }

    private final String host;
    private final int port;
    private final SSLContext tls; // null: without TLS
    private final String serverName;
    private volatile int timeout; // ms; 0: none

    /** Held by the thread that reads from the socket and changes session. */
    private final Object reading = new Object();
    private Session session = new Session();
    /** What {@link #reconnect} requests. */
    private String wanted = "";
    /** The devices of the robot; null: the server has not listed them. */
    private volatile List<Device> listed;
    /** Names by bytes that were listed, also before the server was started anew. */
    private Map<Character, String> seen = new TreeMap<>();

    /** Held by the thread that writes to the socket. */
    private final Object writing = new Object();
    private volatile Socket socket;
    private volatile Line line; // below it

    /** What other threads know of session. Replaced under this object's monitor. */
    private volatile Snapshot snapshot;
    private long rounds; // completed
    private volatile PlayerException lost; // why the connection is lost, or null

    private volatile int frequency; // Hz; 0: the server's default
    private volatile int lifetime; // of commands, ms; 0: none
    private volatile DataMode mode = DataMode.CONTINUOUS;
    private volatile boolean fresh;
    private volatile String name = "";

    /** An unchanging view of a session. */
    private record Snapshot(Session.Block[] blocks, char[] access, long round, long time) {
        Session.Block block(char device) {
            return device < blocks.length ? blocks[device] : null;
        }

        boolean can(char device, char what) {
            return device < access.length && (access[device] == what || access[device] == 'a');
        }
    }

    /** Connects to the server and waits as long as it takes. The usual port is 6665. */
    public PlayerClient(String host, int port) {
        this(host, port, 0);
    }

    /** Connects to the server within the timeout, which then applies to all waits: {@link #setTimeout}. */
    public PlayerClient(String host, int port, int timeoutMs) {
        this(host, port, timeoutMs, null);
    }

    /** Connects as above, by TLS. {@link Certificates} makes a context from PEM files. */
    public PlayerClient(String host, int port, int timeoutMs, SSLContext tls) {
        this(host, port, timeoutMs, tls, host);
    }

    /** Connects as above, to a server whose certificate has another name than host. */
    public PlayerClient(String host, int port, int timeoutMs, SSLContext tls, String serverName) {
        this.host = host;
        this.port = port;
        this.tls = tls;
        this.serverName = serverName;
        setTimeout(timeoutMs);
        reset();
        connect(new Deadline(timeout));
    }

    /** Limits each later call that waits, in ms. 0 means no limit, the default. After a TIMEOUT error, call again. */
    public void setTimeout(int timeoutMs) {
        if (timeoutMs < 0) {
            throw new PlayerException(USAGE, "timeout " + timeoutMs + " ms is negative");
        }
        timeout = timeoutMs;
    }

    /** A point in time until which a call may wait. */
    private static final class Deadline {
        private final int timeoutMs;
        private final long end;

        Deadline(int timeoutMs) {
            this.timeoutMs = timeoutMs;
            end = System.nanoTime() + timeoutMs * 1_000_000L;
        }

        /** Reports whether no more than some ms are left. */
        boolean isWithin(int ms) {
            return timeoutMs != 0 && end - System.nanoTime() <= ms * 1_000_000L;
        }

        /** Returns the ms left, rounded up; 0 means no limit. */
        int left() {
            if (timeoutMs == 0) {
                return 0;
            }
            long ns = end - System.nanoTime();
            if (ns <= 0) {
                throw new PlayerException(TIMEOUT, "no answer from the server within " + timeoutMs + " ms");
            }
            return (int) ((ns + 999_999) / 1_000_000);
        }
    }

    private void connect(Deadline deadline) {
        Line made = null;
        try {
            made = reach(deadline);
            Socket s = tls == null ? made : overTls(made, deadline);
            line = made;
            socket = s;
        } catch (SocketTimeoutException e) {
            throw new PlayerException(TIMEOUT, "no connection to " + host + ":" + port + " in time", e);
        } catch (IOException | IllegalArgumentException e) {
            throw new PlayerException(CLOSED, "no connection to " + host + ":" + port + ": " + e.getMessage(), e);
        } finally {
            if (made != null && made != line) {
                closeQuietly(made);
            }
        }
    }

    /** Connects to the first address of the host that answers. Each gets an equal part of the time that is left. */
    private Line reach(Deadline deadline) throws IOException {
        InetAddress[] addresses = InetAddress.getAllByName(host);
        for (int i = 0;; i++) {
            int others = addresses.length - i - 1;
            Line made = new Line();
            try {
                made.setTcpNoDelay(true); // a command must not wait for the next one
                made.connect(new InetSocketAddress(addresses[i], port), deadline.left() == 0 ? 0 : Math.max(1, deadline.left() / (others + 1)));
                return made;
            } catch (IOException | RuntimeException e) {
                closeQuietly(made);
                if (others == 0 || e instanceof RuntimeException) {
                    throw e;
                }
            }
        }
    }

    /** Begins TLS on a connection, after the server has shown a certificate of the name that this client expects. */
    private Socket overTls(Socket plain, Deadline deadline) throws IOException {
        SSLSocket s = (SSLSocket) tls.getSocketFactory().createSocket(plain, serverName, port, true);
        SSLParameters parameters = s.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS"); // compare names; without it Java does not
        s.setSSLParameters(parameters);
        s.setSoTimeout(deadline.left());
        s.startHandshake();
        return s;
    }

    /**
     * A connection. A write that fails is reported by the read after it: the server's reason, such as a certificate
     * that has expired, may have come before.
     */
    private static final class Line extends Socket {
        private volatile boolean broken;

        @Override
        public OutputStream getOutputStream() throws IOException {
            OutputStream network = super.getOutputStream();
            return new OutputStream() {
                @Override
                public void write(int b) throws IOException {
                    write(new byte[] {(byte) b}, 0, 1);
                }

                @Override
                public void write(byte[] b, int from, int n) throws IOException {
                    try {
                        network.write(b, from, n);
                    } catch (SocketException e) {
                        broken = true;
                    }
                }
            };
        }
    }

    /** Closes a connection. TLS says so to the other side, which may take nothing any more. */
    private static void closeQuietly(Socket s, Line below) {
        ScheduledFuture<?> late = limit(below);
        closeQuietly(s);
        late.cancel(false);
    }

    /** Closes a line unless the result is cancelled within {@link #SENDING}. */
    private static ScheduledFuture<?> limit(Line line) {
        return SEND_LIMIT.schedule(() -> closeQuietly(line), SENDING, TimeUnit.MILLISECONDS);
    }

    private static void closeQuietly(Socket s) {
        try {
            s.close();
        } catch (IOException e) {
            // The descriptor is released in any case, and the server notices.
        }
    }

    /** Closes the connection. The server then stops the wheels if this client had write access to them. */
    @Override
    public void close() {
        closeQuietly(socket, line);
        fail(new PlayerException(CLOSED, "the connection is closed"));
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
        synchronized (reading) {
            Deadline deadline = new Deadline(timeout);
            PlayerException why = null; // of the last attempt that the timeout has not cut short
            while (true) {
                try {
                    resume(deadline);
                    return;
                } catch (PlayerException e) {
                    if (e.kind == REFUSED) {
                        throw e;
                    }
                    if (why == null || e.kind != TIMEOUT) {
                        why = e;
                    }
                    if (e.kind != CLOSED || deadline.isWithin(PAUSE)) {
                        throw fail(why);
                    }
                }
                try {
                    Thread.sleep(PAUSE);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new PlayerException(CLOSED, "interrupted while connecting", e);
                }
            }
        }
    }

    /** Makes one attempt to connect again. */
    private void resume(Deadline deadline) {
        PlayerException restoring = new PlayerException(CLOSED, "the connection is being restored");
        closeQuietly(socket, line);
        synchronized (this) {
            lost = restoring;
            synchronized (writing) { // a command goes out before, or finds that its device is not open
                session = new Session();
                session.list(Objects.requireNonNullElse(listed, List.of()));
                publish(false);
            }
        }
        connect(deadline);
        if (!name.isEmpty()) {
            setName(name);
        }
        if (frequency != 0) {
            setFrequency(frequency);
        }
        if (lifetime != 0) {
            setCommandLifetime(lifetime);
        }
        if (mode != DataMode.CONTINUOUS) {
            setDataMode(mode);
        }
        String before = wanted;
        try {
            PlayerException moved = listed == null ? null : moved(list(deadline));
            if (moved != null) {
                before = "";
                throw moved;
            }
            if (!before.isEmpty()) {
                ask(before, deadline);
            }
        } catch (PlayerException e) {
            if (e.kind == REFUSED) {
                resumeFresh();
            }
            throw e;
        } finally {
            wanted = before; // what was not granted now is asked for again next time
            synchronized (this) {
                if (lost == restoring) { // and not lost again
                    lost = null;
                }
            }
        }
        resumeFresh();
    }

    /**
     * Returns the error if a byte means another device than it has meant since the devices were opened, or null. A device
     * may have been away meanwhile.
     */
    private PlayerException moved(List<Device> now) {
        String text = "the server was started anew with other devices: open them again by their names";
        Map<Character, PlayerException.Reason> reasons = new TreeMap<>();
        for (Device is : now) {
            if (!is.name().equals(seen.get(is.code()))) {
                reasons.put(is.code(), new PlayerException.Reason("moved", text));
            }
        }
        if (reasons.isEmpty()) {
            return null;
        }
        seen = new TreeMap<>();
        now.forEach(d -> seen.put(d.code(), d.name()));
        return new PlayerException(text, "", reasons);
    }

    private void resumeFresh() {
        if (fresh && session.readable('y')) {
            config('y', 'n', 1);
        }
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
     * @return the pairs that were granted
     */
    public String request(String pairs) {
        synchronized (reading) {
            return ask(pairs, new Deadline(timeout));
        }
    }

    /**
     * Returns where the parts of the robot are, and what they cover, as far as the server knows it. A device that is
     * open is known best. A server without such answers has no parts.
     */
    public List<Part> geometry() {
        synchronized (reading) {
            question('g', new Deadline(timeout));
            return Part.of(session.answer, this::codeOf);
        }
    }

    /**
     * Returns the devices of the robot (PROTOCOL 8.9.5). From then on answers and refusals have those without letters,
     * and {@link #data} has their data. The list is empty if the server is an older one, whose devices all have
     * letters, or if this client may neither read nor write.
     */
    public List<Device> devices() {
        synchronized (reading) {
            return list(new Deadline(timeout));
        }
    }

    /**
     * Opens a device by its name, for example "laser:1" or "imu", which means imu:0. It asks the server which devices
     * there are unless it knows the name already. Of an older server, it opens devices by their letters.
     *
     * <p>A REFUSED error means that the robot has no such device, or that the server did not grant the access, as of
     * {@link #request}; a USAGE error that name cannot be one.
     *
     * @param access r, w or a
     * @return the byte of the device, for every method that takes a device
     */
    public char open(String name, char access) {
        Matcher m = ADDRESS.matcher(name);
        if (!m.matches()) {
            throw new PlayerException(USAGE,
                    "\"" + name + "\" is no device: write an interface, and perhaps an index as in laser:1");
        }
        String address = m.group(1) + ":" + (m.group(2) == null ? 0 : Integer.parseInt(m.group(2)));
        synchronized (reading) {
            Deadline deadline = new Deadline(timeout);
            Character code = listedAs(address);
            if (code == null) {
                list(deadline);
                boolean older = !session.answer.startsWith("d");
                char letter = address.endsWith(":0") ? Session.letter(m.group(1)) : 0;
                code = older && letter != 0 ? Character.valueOf(letter) : listedAs(address);
                if (code == null) {
                    throw new PlayerException("no such device: " + address + ": "
                            + (older ? "this server has only the devices of 0.7.4a"
                                    : "the robot has " + listed.stream().map(Device::name).toList()), "", Map.of());
                }
            }
            ask(new String(new char[] {code, access}), deadline);
            return code;
        }
    }

    /**
     * Returns where the readings of lasers, sonars and rangers look from and to, as far as the server knows it
     * (PROTOCOL 8.9.6). Open the devices first: a driver may learn it then. An older server knows none.
     */
    public List<Rays> rays() {
        synchronized (reading) {
            question('r', new Deadline(timeout));
            return Rays.of(session.answer, this::codeOf);
        }
    }

    /**
     * Returns what the inputs, outputs and joints of the robot are (PROTOCOL 8.9.7). Call {@link #devices}, or open one
     * of them by its name, before: they have no letters. An older server knows none.
     */
    public List<Channel> channels() {
        synchronized (reading) {
            question('i', new Deadline(timeout));
            return Channel.of(session.answer, this::codeOf);
        }
    }

    /** Returns the name of a device for people: its letter, or its name, for example laser:1, if it has no letter. */
    public String nameOf(char device) {
        for (Device d : Objects.requireNonNullElse(listed, List.<Device>of())) {
            if (d.code() == device && Session.letter(d.interfaceName()) != device) {
                return d.name();
            }
        }
        boolean lettered = device >= 'A' && device <= 'Z' || device >= 'a' && device <= 'z';
        return lettered ? String.valueOf(device) : seen.getOrDefault(device, String.valueOf(device)); // removed by a reload
    }

    /** Asks for the devices, and remembers them. */
    private List<Device> list(Deadline deadline) {
        question('d', deadline);
        if (!session.answer.startsWith("d")) {
            return List.of();
        }
        listed = Device.of(session.answer);
        listed.forEach(d -> seen.putIfAbsent(d.code(), d.name()));
        session.list(listed);
        return listed;
    }

    /** Returns the byte of a device that the server has listed, by its name with an index; null: it has not. */
    private Character listedAs(String address) {
        return Objects.requireNonNullElse(listed, List.<Device>of()).stream().filter(d -> d.name().equals(address))
                .findFirst().map(Device::code).orElse(null);
    }

    /** Returns the byte of a device by its name in an answer; null: it is not known. */
    private Character codeOf(String key) {
        Character listed = key.length() == 1 ? Character.valueOf(key.charAt(0)) : listedAs(key);
        if (listed != null) {
            return listed;
        }
        return seen.entrySet().stream().filter(e -> e.getValue().equals(key)).findFirst() // removed by a reload
                .map(Map.Entry::getKey).orElse(null);
    }

    /** Returns pairs for people: devices without letters by their names. */
    private String shown(String pairs) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i + 1 < pairs.length(); i += 2) {
            String device = nameOf(pairs.charAt(i));
            text.append(device.length() == 1 ? device : (i == 0 ? "" : " ") + device + " ").append(pairs.charAt(i + 1));
        }
        return text.toString();
    }

    private String ask(String pairs, Deadline deadline) {
        if (pairs.length() % 2 != 0) {
            throw new PlayerException(USAGE,
                    "request \"" + pairs + "\" does not consist of pairs of device and access");
        }
        String reply = roundTrip(pairs, deadline);
        boolean refused = false;
        boolean failed = false;
        boolean same = pairs.length() == reply.length();
        for (int i = 0; same && i < pairs.length(); i += 2) {
            char asked = pairs.charAt(i + 1);
            char granted = reply.charAt(i + 1);
            same = pairs.charAt(i) == reply.charAt(i);
            refused |= granted != asked && !(granted == 'a' && (asked == 'r' || asked == 'w'));
            failed |= granted == 'e' && asked != 'e';
        }
        if (!same) {
            throw new PlayerException(PROTOCOL,
                    "the reply \"" + reply.replaceAll("[^ -~]", "?") + "\" does not answer the request \"" + pairs + "\"");
        }
        Map<Character, PlayerException.Reason> reasons = failed ? explain(reply, deadline) : Map.of();
        if (refused) {
            StringBuilder text = new StringBuilder();
            text.append("asked for \"").append(shown(pairs)).append("\", granted \"").append(shown(reply)).append('"');
            reasons.forEach((device, reason) ->
                    text.append("; device ").append(nameOf(device)).append(": ").append(reason.text()));
            if (failed && reasons.isEmpty()) {
                text.append("; the server's log has the reason");
            }
            throw new PlayerException(text.toString(), reply, reasons);
        }
        return reply;
    }

    /**
     * Asks the server why devices are e in a reply (PROTOCOL 8.9). Every server replies to the empty request, and the
     * answer comes before. Whatever goes wrong, the refusal stands.
     */
    private Map<Character, PlayerException.Reason> explain(String reply, Deadline deadline) {
        try {
            question('e', deadline);
        } catch (PlayerException e) {
            // There are no reasons then.
        }
        Map<Character, PlayerException.Reason> reasons = new TreeMap<>();
        for (String line : session.answer.split("\n")) {
            String[] words = line.split(" ", 3);
            Character device = codeOf(words[0]);
            if (words.length < 3 || device == null || words[1].isEmpty()) {
                continue;
            }
            for (int i = 0; i + 1 < reply.length(); i += 2) {
                if (reply.charAt(i) == device && reply.charAt(i + 1) == 'e') {
                    reasons.putIfAbsent(device, new PlayerException.Reason(words[1], words[2]));
                }
            }
        }
        return reasons;
    }

    /** Asks a question. The answer is in the session then: every server replies to the empty request behind it. */
    private void question(char question, Deadline deadline) {
        session.answer = "";
        send('x', 'y', new byte[] {'q', (byte) question});
        roundTrip("", deadline);
    }

    /** Sends a request and returns its reply. */
    private String roundTrip(String pairs, Deadline deadline) {
        send('d', 'r', pairs.getBytes(StandardCharsets.ISO_8859_1));
        session.awaited++;
        try {
            while (session.awaited > 0) {
                try {
                    receive(deadline);
                } catch (PlayerException e) {
                    if (e.kind != PROTOCOL) { // a wrong block; the device has no data
                        throw e;
                    }
                }
            }
        } finally {
            publish(false);
        }
        return session.reply;
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
        synchronized (reading) {
            Deadline deadline = new Deadline(timeout);
            boolean whole = false;
            try {
                do {
                    if (session.awaited == 0 && session.readers == 0) {
                        throw new PlayerException(USAGE, "no device is open for reading: request one first");
                    }
                    if (session.awaited == 0 && fresh && !session.readable('y')) {
                        throw new PlayerException(USAGE, "freshness mode needs device y: request \"yr\" first");
                    }
                    whole = receive(deadline) == Session.Event.ROUND;
                } while (!whole);
            } finally {
                publish(whole);
            }
        }
    }

    /** Waits for one message and stores it. */
    private Session.Event receive(Deadline deadline) {
        while (true) {
            Session.Event event = session.next();
            if (event == Session.Event.REPLY) {
                wanted = session.open();
            }
            if (event != Session.Event.NONE) {
                return event;
            }
            byte[] room = session.room();
            int n;
            try {
                socket.setSoTimeout(deadline.left());
                n = socket.getInputStream().read(room, session.end(), room.length - session.end());
            } catch (SocketTimeoutException e) {
                continue; // left() reports it
            } catch (IOException e) {
                throw fail(new PlayerException(CLOSED, "connection lost: " + e.getMessage(), e));
            }
            if (n < 0) {
                throw fail(new PlayerException(CLOSED, "the server closed the connection"
                        + (session.inMessage() ? " in the middle of a message" : "")));
            }
            session.received(n);
        }
    }

    private void reset() {
        position = new Position(0, 0, 0, 0, 0, 0, 0, 0);
        sonar = new int[SONARS];
        laser = new int[LASER_RANGES];
        misc = new Misc(0, 0, 0);
        gripper = new Gripper(0, 0);
        camfeedback = new CameraFeedback(0, 0, 0);
        setImage(ColorChannel.none());
        joystick = Joystick.AT_REST;
        publish(false);
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

    /** Returns the number of channels with at least one blob. */
    public int howManyColorsInCameraImage() {
        return colors;
    }

    /** Makes what arrived visible, at once, and wakes the threads that wait for a whole round. */
    private synchronized void publish(boolean whole) {
        snapshot = new Snapshot(session.blocks.clone(), session.access.clone(), session.round, session.serverTime());
        for (char device : new char[] {'p', 's', 'l', 'm', 'g', 'z', 'v', 'j'}) { // others have no fields
            Session.Block block = snapshot.blocks[device];
            if (block == null) {
                continue;
            }
            Object value = block.value();
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
            } else if (value instanceof ColorChannel[] channels && channels != channel) {
                setImage(channels);
            } else if (value instanceof int[] ranges) {
                if (ranges.length == SONARS) {
                    sonar = ranges;
                } else {
                    laser = ranges;
                }
            }
        }
        if (whole) {
            rounds++;
            notifyAll();
        }
    }

    private synchronized PlayerException fail(PlayerException e) {
        lost = e;
        notifyAll();
        return e;
    }

    /**
     * For other threads than the one that calls getData: waits for a newer round than seen, and returns its number.
     * Start with 0; a slow thread skips rounds. The number counts the rounds that getData has returned.
     */
    public synchronized long awaitData(long seen) {
        Deadline deadline = new Deadline(timeout);
        while (rounds <= seen) {
            if (lost != null) {
                throw new PlayerException(CLOSED, lost.getMessage(), lost);
            }
            try {
                wait(deadline.left());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new PlayerException(CLOSED, "interrupted while waiting for data", e);
            }
        }
        return rounds;
    }

    /** Reports whether a device has data: its newest block was neither empty nor wrong. */
    public boolean has(char device) {
        Session.Block b = snapshot.block(device);
        return b != null && b.valid();
    }

    /** Reports whether the latest round has a block of this device. Without freshness mode it has all. */
    public boolean isNew(char device) {
        Snapshot now = snapshot;
        Session.Block b = now.block(device);
        return b != null && now.round > 0 && b.round() == now.round;
    }

    /**
     * Returns the data of a device's newest block, as its interface has them: {@link Ranger}, {@link IMU}, {@link GPS},
     * {@link IO} or {@link Servo}, and for the others what the field of the first one has, for example int[] of 361
     * ranges for laser:1. It is null if {@link #has} is false, or if the interface is not known here. If the data are
     * of another type, it is a USAGE error.
     */
    public <T> T data(char device, Class<T> type) {
        Session.Block b = snapshot.block(device);
        Object value = b == null ? null : b.value();
        if (value != null && !type.isInstance(value)) {
            throw new PlayerException(USAGE, "device " + nameOf(device) + " has " + value.getClass().getSimpleName());
        }
        return type.cast(value);
    }

    /** Returns the payload of a device's newest block as sent, or null: the only access to devices unknown here. */
    public byte[] raw(char device) {
        Session.Block b = snapshot.block(device);
        return b == null ? null : b.payload().clone();
    }

    /**
     * Returns the age in us of a device's data when the server made the latest round. It is empty if device y is not
     * read or there is no data yet. Ages over 71 minutes are given as 71 minutes.
     */
    public OptionalLong age(char device) {
        Snapshot now = snapshot;
        Session.Block b = now.block(device);
        boolean known = b != null && b.aged() && now.can('y', 'r');
        return known ? OptionalLong.of(now.time - b.taken()) : OptionalLong.empty();
    }

    /** Returns the time of the latest round, us since the server started. 0 if device y was never read. */
    public long serverTime() {
        return snapshot.time;
    }

    /**
     * Drives the robot until the next call. The server and the robot limit both speeds.
     *
     * @param translation mm/s, positive is forward
     * @param rotation    deg/s, positive is counterclockwise
     */
    public void setSpeed(int translation, int rotation) {
        command('p', shorts(translation, rotation));
    }

    /**
     * Points the camera. The order of the arguments is the manual's.
     *
     * @param pan  -100..100 deg, positive is counterclockwise
     * @param zoom 0 wide .. 1023 telephoto
     * @param tilt -25..25 deg, positive is up
     */
    public void setVision(int pan, int zoom, int tilt) {
        command('z', shorts(pan, tilt, zoom));
    }

    /** Points the camera as {@link #setVision} does, by the name and order of the manual's C++: deg, deg, 0..1023. */
    public void setPTZ(int pan, int tilt, int zoom) {
        setVision(pan, zoom, tilt);
    }

    /** Moves the gripper: GRIPopen ... LIFTcarry. */
    public void setGripper(int gripperCommand) {
        setGripper(gripperCommand, 0);
    }

    /** Moves the gripper with an argument, 0..255. */
    public void setGripper(int gripperCommand, int argument) {
        if ((gripperCommand & ~0xFF) != 0 || (argument & ~0xFF) != 0) {
            throw new PlayerException(USAGE, "gripper command " + gripperCommand + " " + argument + ": both are bytes");
        }
        command('g', new byte[] {(byte) gripperCommand, (byte) argument});
    }

    /**
     * Sets an output of an io device, which {@link #open} has opened for writing, to a value in the unit of the output
     * ({@link #channels}); a digital one to 0 or 1. The server limits the value, and ignores a channel that is no
     * output.
     */
    public void setOutput(char device, int channel, int value) {
        command(device, ByteBuffer.allocate(5).put(aByte(channel)).putInt(value).array());
    }

    /**
     * Moves a joint of a servo device, which {@link #open} has opened for writing.
     *
     * @param joint ALL_JOINTS: all of them
     * @param goal  in the unit of the joint ({@link #channels})
     * @param speed in that unit each second, 0..4294967295; 0: as its driver moves it
     */
    public void moveJoint(char device, int joint, int goal, long speed) {
        if (speed >>> 32 != 0) {
            throw new PlayerException(USAGE, "a speed of " + speed + " is not in 0..4294967295");
        }
        command(device, ByteBuffer.allocate(9).put(aByte(joint)).putInt(goal).putInt((int) speed).array());
    }

    /** Stops a joint of a servo device where it is. ALL_JOINTS: all of them. */
    public void stopJoint(char device, int joint) {
        moveJoint(device, joint, Payload.UNKNOWN, 0);
    }

    /** Stops all joints of a servo device where they are. */
    public void stopJoints(char device) {
        stopJoint(device, ALL_JOINTS);
    }

    private static byte aByte(int number) {
        if ((number & ~0xFF) != 0) {
            throw new PlayerException(USAGE, "channel or joint " + number + " is not a byte");
        }
        return (byte) number;
    }

    /** Sends a command of any layout. It does not wait. Without write access it is a USAGE error. */
    public void command(char device, byte[] payload) {
        send('c', device, payload);
    }

    private void checkWritable(char device) {
        PlayerException why = lost;
        if (snapshot.can(device, 'w')) {
            return;
        }
        if (why != null) {
            throw new PlayerException(CLOSED, why.getMessage(), why);
        }
        throw new PlayerException(USAGE,
                "no write access to device '" + nameOf(device) + "': request \"" + nameOf(device) + "w\" first");
    }

    /** Selects when the server sends data. getData still returns rounds that are on their way. */
    public void setDataMode(DataMode mode) {
        config('y', 'r', mode == DataMode.REQUESTREPLY ? 1 : 0);
        this.mode = mode;
    }

    /** Sets the frequency of rounds in continuous mode, 1..65535 Hz. The default is 10. The server has a maximum. */
    public void setFrequency(int hz) {
        if (hz < 1 || hz > 0xFFFF) {
            throw new PlayerException(USAGE, "frequency " + hz + " Hz is not in 1..65535");
        }
        config('y', 'f', hz >> 8, hz);
        frequency = hz;
    }

    /**
     * Sets for how long a command of {@link #setSpeed} is good, in ms, at most 60000: the wheels stop unless it is
     * repeated in time, also when this program hangs. A client with a lifetime yields: its zero speeds stop only what
     * it drives itself. 0: the commands are good until the client leaves (PROTOCOL 5.5). 0.7.4a ignores it.
     */
    public void setCommandLifetime(int ms) {
        if (ms < 0 || ms > 60_000) {
            throw new PlayerException(USAGE, "a lifetime of " + ms + " ms is not in 0..60000");
        }
        config('y', 'l', ms >> 8, ms);
        lifetime = ms;
    }

    /** Asks for one round in request/reply mode. In continuous mode it has no effect. */
    public void requestData() {
        config('y', 'd');
    }

    /**
     * Turns freshness mode on or off: a round is sent only if there is new data, and contains only that. It needs
     * device y open for reading. Servers before this one do not have it.
     */
    public void setFresh(boolean on) {
        if (on && !snapshot.can('y', 'r')) {
            throw new PlayerException(USAGE, "freshness mode needs device y: request \"yr\" first");
        }
        config('y', 'n', on ? 1 : 0);
        fresh = on;
    }

    /** Sets the name by which people see this client: at most 64 bytes of printable ASCII. "" removes it. */
    public void setName(String name) {
        if (name.length() > MAX_NAME || !name.chars().allMatch(c -> c >= ' ' && c <= '~')) {
            throw new PlayerException(USAGE, "a name has at most " + MAX_NAME + " bytes of printable ASCII");
        }
        send('x', 'y', ("w" + name).getBytes(StandardCharsets.US_ASCII));
        this.name = name;
    }

    /**
     * Stops the robot for all, or releases the stop. While it holds, also when this client has left,
     * the server drops all commands of all clients. It needs no open device, but the right to write; without it the
     * server ignores the call.
     */
    public void emergencyStop(boolean on) {
        config('y', 'e', on ? 1 : 0);
    }

    /**
     * Turns the power of the motors on or off. Be careful: the robot may start at once. This and the two calls below
     * affect all clients, and need an open device of the microcontroller: position, sonar, misc or gripper.
     */
    public void changeMotorState(boolean on) {
        config('p', 'm', on ? 1 : 0);
    }

    /** Selects how the wheels follow setSpeed. */
    public void changeVelocityControl(VelocityMode mode) {
        config('p', 'v', mode == VelocityMode.SEPARATETRANSROT ? 1 : 0);
    }

    /** Sets the odometry to (0, 0, 0). */
    public void resetPosition() {
        config('p', 'R');
    }

    /** Sends a configuration of any layout: a code and its argument, one byte each. It needs no access. */
    public void config(char device, int... payload) {
        byte[] bytes = new byte[payload.length];
        for (int i = 0; i < payload.length; i++) {
            bytes[i] = (byte) payload[i];
        }
        send('x', device, bytes);
    }

    /** Encodes values as 16 bits, limited to their range so that a speed never changes sign. */
    private static byte[] shorts(int... values) {
        ByteBuffer b = ByteBuffer.allocate(2 * values.length);
        for (int v : values) {
            b.putShort((short) Math.max(Short.MIN_VALUE, Math.min(v, Short.MAX_VALUE)));
        }
        return b.array();
    }

    private void send(char kind, char device, byte[] payload) {
        if (payload.length > MAX_PAYLOAD || device > 0xFF) {
            throw new PlayerException(USAGE, "message of " + payload.length + " bytes for device '" + device
                    + "': a server takes " + MAX_PAYLOAD + " bytes and a letter of 8 bits");
        }
        ByteBuffer b = ByteBuffer.allocate(4 + payload.length);
        b.put((byte) kind).put((byte) device).putShort((short) payload.length).put(payload);
        try {
            synchronized (writing) {
                if (kind == 'c') {
                    checkWritable(device);
                }
                write(b.array());
            }
        } catch (IOException e) { // not while writing is held: fail needs the monitor, whose owner may wait for it
            throw fail(new PlayerException(CLOSED, "connection lost: " + e.getMessage(), e));
        }
    }

    private void write(byte[] message) throws IOException {
        ScheduledFuture<?> late = limit(line);
        try {
            socket.getOutputStream().write(message);
        } finally {
            if (!late.cancel(false)) {
                throw new IOException("the network takes nothing");
            }
        }
        if (line.broken) {
            socket.setSoTimeout(ALERT);
            int n = socket.getInputStream().read(); // throws the reason
            throw new IOException(n < 0 ? "the server closed it" : "the server takes nothing");
        }
    }
}
