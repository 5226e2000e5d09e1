package player;

import static player.PlayerException.Kind.CLOSED;
import static player.PlayerException.Kind.PROTOCOL;
import static player.PlayerException.Kind.REFUSED;
import static player.PlayerException.Kind.TIMEOUT;
import static player.PlayerException.Kind.USAGE;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * One connection to a server, with all that it restores after a loss: the part common to {@link Robot} and
 * {@link PlayerClient}.
 *
 * <p>One thread reads rounds, requests and asks. Others may send commands, and wait for rounds.
 */
final class Connection implements AutoCloseable {
    /** Size limit of a message to the server, bytes of payload (PROTOCOL 1.5). */
    private static final int MAX_PAYLOAD = 512;
    /** Size limit of a client's name, bytes (PROTOCOL 8.3). */
    private static final int MAX_NAME = 64;
    /** The longest lifetime of a command, ms: a longer one would not stop a robot in time. */
    private static final int MAX_LIFETIME = 60_000;
    /** Pause between attempts of {@link #reconnect}, ms: the server may be starting. */
    private static final int PAUSE = 100;
    /** The settings that {@link #reconnect} restores before it requests devices, by code, in this order. */
    private static final char[] RESTORED = {'w', 'f', 'l', 'r'};

    private final Address address;
    private volatile int timeout; // ms; 0: none

    /** Held by the thread that reads from the line and changes session. */
    private final Object reading = new Object();
    private Session session = new Session();
    /** The devices that {@link #reconnect} requests. */
    private String wanted = "";
    private final Roster roster = new Roster();

    /** Held by the thread that writes to the line. */
    private final Object writing = new Object();
    private volatile Line line;

    /** Held while what other threads see changes: latest, rounds and lost. */
    private final Object monitor;
    private final Consumer<Round> changed; // called for each new value of latest, under monitor
    private volatile Round latest;
    private long rounds; // completed
    private volatile PlayerException lost; // why the connection is lost, or null

    /** Of this connection, by code. */
    private final Map<Character, byte[]> settings = new ConcurrentHashMap<>();
    private volatile boolean fresh;

    /** Connects within a limit, ms, also the limit of later calls until {@link #setTimeout}; 0: there is none. */
    Connection(Address address, int timeoutMs, Object monitor, Consumer<Round> changed) {
        this.address = address;
        this.monitor = monitor;
        this.changed = changed;
        timeout = timeoutMs;
        latest = new Round(session);
        line = Line.connect(address, new Deadline(timeout));
    }

    void setTimeout(int ms) {
        timeout = ms;
    }

    /** Returns the data that has arrived. */
    Round latest() {
        return latest;
    }

    /** Closes the connection. The server then stops the wheels if this client had write access to them. */
    @Override
    public void close() {
        line.close();
        fail(new PlayerException(CLOSED, "the connection is closed"));
    }

    private PlayerException fail(PlayerException e) {
        synchronized (monitor) {
            lost = e;
            monitor.notifyAll();
        }
        return e;
    }

    // Connecting again.

    /** Connects again, and restores the settings and the devices: {@link PlayerClient#reconnect}. */
    void reconnect() {
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
        line.close();
        synchronized (monitor) {
            lost = restoring;
            synchronized (writing) { // a command goes out before, or finds that its device is not open
                session = new Session();
                session.list(roster.listed());
                publish(false);
            }
        }
        line = Line.connect(address, deadline);
        for (char code : RESTORED) {
            byte[] setting = settings.get(code);
            if (setting != null) {
                send('x', 'y', setting);
            }
        }
        String before = wanted;
        try {
            PlayerException moved = roster.known() ? roster.moved(list(deadline)) : null;
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
            wanted = before; // an access that was not granted now is requested again next time
            synchronized (monitor) {
                if (lost == restoring) { // and not lost again
                    lost = null;
                }
            }
        }
        resumeFresh();
    }

    private void resumeFresh() {
        if (fresh && session.readable('y')) {
            config('y', 'n', 1);
        }
    }

    // Devices.

    /** Asks for devices, and waits for the server's reply: {@link PlayerClient#request}. */
    String request(String pairs) {
        synchronized (reading) {
            return ask(pairs, new Deadline(timeout));
        }
    }

    /** Opens a device by its name, and returns its byte: {@link PlayerClient#open}. */
    char open(Roster.Name name, char access) {
        synchronized (reading) {
            Deadline deadline = new Deadline(timeout);
            Character code = roster.byteOf(name);
            if (code == null) {
                list(deadline);
                boolean older = !session.answer.startsWith("d");
                code = older && name.letter() != 0 ? Character.valueOf(name.letter()) : roster.byteOf(name);
                if (code == null) {
                    throw new PlayerException("no such device: " + name + ": "
                            + (older ? "this server has only the devices of 0.7.4a"
                                    : "the robot has " + roster.listed().stream().map(Device::name).toList()),
                            "", Map.of());
                }
            }
            ask(new String(new char[] {code, access}), deadline);
            return code;
        }
    }

    List<Device> devices() {
        synchronized (reading) {
            return list(new Deadline(timeout));
        }
    }

    List<Part> geometry() {
        return Part.of(question('g'), roster::byteOf);
    }

    List<Rays> rays() {
        return Rays.of(question('r'), roster::byteOf);
    }

    List<Channel> channels() {
        return Channel.of(question('i'), roster::byteOf);
    }

    List<ChannelColor> colors() {
        return ChannelColor.of(question('v'), roster::byteOf);
    }

    String nameOf(char device) {
        return roster.nameOf(device);
    }

    /** Asks for the devices, and remembers them. */
    private List<Device> list(Deadline deadline) {
        question('d', deadline);
        if (!session.answer.startsWith("d")) {
            return List.of();
        }
        List<Device> devices = Device.of(session.answer);
        roster.take(devices);
        session.list(devices);
        return devices;
    }

    /** Reports whether the server's newest reply lets this client do something with a device: r or w. */
    boolean can(char device, char what) {
        return latest.can(device, what);
    }

    private String ask(String pairs, Deadline deadline) {
        if (pairs.length() % 2 != 0) {
            throw new PlayerException(USAGE,
                    "request \"" + pairs + "\" does not consist of pairs of device and access");
        }
        if (pairs.chars().anyMatch(c -> c > 0xFF)) {
            throw new PlayerException(USAGE,
                    "request \"" + pairs + "\" has a character beyond U+00FF: devices and access are one byte each");
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
            text.append("asked for \"").append(roster.shown(pairs)).append("\", granted \"").append(roster.shown(reply))
                    .append('"');
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
            Character device = roster.byteOf(words[0]);
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

    /** Asks a question, and returns the answer; "": there is none. */
    private String question(char question) {
        synchronized (reading) {
            question(question, new Deadline(timeout));
            return session.answer;
        }
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

    // Data.

    /** Waits for one whole round: {@link PlayerClient#getData}. */
    Round read() {
        return read(deadline());
    }

    /** Returns the end of a call that begins now. */
    Deadline deadline() {
        return new Deadline(timeout);
    }

    /** Waits for one whole round until a deadline. */
    Round read(Deadline deadline) {
        synchronized (reading) {
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
            return latest;
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
                n = line.read(room, session.end(), deadline.left());
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

    /** Makes what arrived visible, at once, and wakes the threads that wait for a whole round. */
    private void publish(boolean whole) {
        synchronized (monitor) {
            latest = new Round(session);
            changed.accept(latest);
            if (whole) {
                rounds++;
                monitor.notifyAll();
            }
        }
    }

    /** Waits for a newer round than seen, which another thread reads, and returns its number. */
    long awaitRound(long seen) {
        Deadline deadline = new Deadline(timeout);
        synchronized (monitor) {
            while (rounds <= seen) {
                if (lost != null) {
                    throw new PlayerException(CLOSED, lost.getMessage(), lost);
                }
                try {
                    monitor.wait(deadline.left());
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new PlayerException(CLOSED, "interrupted while waiting for data", e);
                }
            }
            return rounds;
        }
    }

    // Commands and settings. None waits, unless the network's buffers are full.

    void command(char device, byte[] payload) {
        send('c', device, payload);
    }

    private void checkWritable(char device) {
        PlayerException why = lost;
        if (latest.can(device, 'w')) {
            return;
        }
        if (why != null) {
            throw new PlayerException(CLOSED, why.getMessage(), why);
        }
        throw new PlayerException(USAGE,
                "no write access to device '" + nameOf(device) + "': request \"" + nameOf(device) + "w\" first");
    }

    void setRequestReply(boolean on) {
        set('r', on ? 1 : 0);
    }

    /** Reports whether rounds come only for requests. */
    boolean requestReply() {
        byte[] setting = settings.get('r');
        return setting != null && setting[1] != 0;
    }

    void setFrequency(int hz) {
        if (hz < 1 || hz > 0xFFFF) {
            throw new PlayerException(USAGE, "frequency " + hz + " Hz is not in 1..65535");
        }
        set('f', hz >> 8, hz);
    }

    void setLifetime(int ms) {
        if (ms < 0 || ms > MAX_LIFETIME) {
            throw new PlayerException(USAGE, "a lifetime of " + ms + " ms is not in 0.." + MAX_LIFETIME);
        }
        set('l', ms >> 8, ms);
    }

    /** Sets the lifetime of commands in whole milliseconds: less than one would mean none. */
    void setLifetime(Duration lifetime) {
        if (!lifetime.isZero() && lifetime.toMillis() == 0) {
            throw new PlayerException(USAGE, "a lifetime of " + lifetime + " is shorter than a millisecond");
        }
        setLifetime((int) Math.max(-1, Math.min(lifetime.toMillis(), Integer.MAX_VALUE)));
    }

    void setFresh(boolean on) {
        if (on && !latest.can('y', 'r')) {
            throw new PlayerException(USAGE, "freshness mode needs device y: request \"yr\" first");
        }
        config('y', 'n', on ? 1 : 0);
        fresh = on;
    }

    void setName(String name) {
        if (name.length() > MAX_NAME || !name.chars().allMatch(c -> c >= ' ' && c <= '~')) {
            throw new PlayerException(USAGE, "a name has at most " + MAX_NAME + " bytes of printable ASCII");
        }
        set('w', name.chars().toArray());
    }

    /** Sends a setting of this connection, and keeps it for {@link #reconnect}. */
    private void set(char code, int... arguments) {
        byte[] setting = new byte[1 + arguments.length];
        setting[0] = (byte) code;
        for (int i = 0; i < arguments.length; i++) {
            setting[1 + i] = (byte) arguments[i];
        }
        send('x', 'y', setting);
        settings.put(code, setting);
    }

    void config(char device, int... payload) {
        byte[] bytes = new byte[payload.length];
        for (int i = 0; i < payload.length; i++) {
            bytes[i] = (byte) payload[i];
        }
        send('x', device, bytes);
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
                line.write(b.array());
            }
        } catch (IOException e) { // not while writing is held: fail needs the monitor, whose owner may wait for it
            throw fail(new PlayerException(CLOSED, "connection lost: " + e.getMessage(), e));
        }
    }
}
