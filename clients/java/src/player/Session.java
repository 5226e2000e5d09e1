package player;

import static player.PlayerException.Kind.PROTOCOL;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * The state of one connection, without the network: it takes the server's bytes in pieces of any size, and knows the
 * newest block of each device, the access and the end of each round. It has at most one message in its buffer.
 */
final class Session {
    /** The event that {@link #next} found. */
    enum Event {
        /** No whole message: append more bytes. */
        NONE,
        /** A block that does not complete a round. */
        BLOCK,
        /** A block that completes a round. */
        ROUND,
        /** A reply to a request: {@link #reply}. */
        REPLY
    }

    /**
     * The newest block of a device.
     *
     * @param payload as sent
     * @param value   the decoded payload; null if it is empty, wrong, or of a device without a decoder
     * @param valid   the payload is not empty and not wrong
     * @param round   number of the round that it is part of; 0 for none
     * @param taken   time of the data, us since the server started; meaningful if aged
     * @param aged    taken is known
     */
    record Block(byte[] payload, Object value, boolean valid, long round, long taken, boolean aged) {}

    private static final int HEADER = 3;
    /** The largest server message: a letter, a u16 and as many bytes. */
    private static final int MAX_MESSAGE = HEADER + 0xFFFF;
    private static final int FIRST_CAPACITY = 4096;
    private static final int LETTERS = 256;
    /** The server itself: its block has the time of a round, and the ages of its data (PROTOCOL 8.1). */
    static final char SERVER = 'y';

    private byte[] buffer = new byte[FIRST_CAPACITY];
    private int begin;
    private int end;

    final Block[] blocks = new Block[LETTERS];
    /** The kind of each device; null: it is not known here. */
    private final DeviceKind[] kinds = new DeviceKind[LETTERS];
    /** The rest of a compact round, or null. */
    private Compact items;
    /** The access by device from the last reply, 0 before. */
    final char[] access = new char[LETTERS];
    /** Devices in the order of their first opening (PROTOCOL 2.8). */
    private final StringBuilder order = new StringBuilder();
    /** Replies still to come. */
    int awaited;
    /** The pairs of the last reply. */
    String reply = "";
    /** The newest answer to a question (PROTOCOL 8.9), of all its messages. */
    String answer = "";
    /** Number of the current round, or of the last one. */
    long round;
    /** Devices open for reading. */
    int readers;
    private int left; // blocks missing from this round
    private Freshness freshness = new Freshness(0, new long[0]);

    Session() {
        list(List.of());
    }

    /** Takes over which devices the robot has. Devices with letters are known without it. */
    void list(List<Device> devices) {
        Arrays.fill(kinds, null);
        devices.forEach(d -> kinds[d.code()] = DeviceKind.of(d.interfaceName()));
        for (DeviceKind kind : DeviceKind.values()) {
            if (kind.letter() != 0) {
                kinds[kind.letter()] = kind;
            }
        }
    }

    /** Returns the array to receive into, with room from {@link #end}. */
    byte[] room() {
        if (begin > 0) {
            System.arraycopy(buffer, begin, buffer, 0, end - begin);
            end -= begin;
            begin = 0;
        }
        if (end == buffer.length) {
            buffer = Arrays.copyOf(buffer, Math.min(2 * end, MAX_MESSAGE));
        }
        return buffer;
    }

    /** Returns the index in {@link #room} of the first free byte. */
    int end() {
        return end;
    }

    /** Appends the n bytes that were received into {@link #room}. */
    void received(int n) {
        end += n;
    }

    /** Reports whether a message has arrived in part. */
    boolean inMessage() {
        return end > begin;
    }

    /**
     * Takes the next message from the buffer. A block that does not match the protocol is a PROTOCOL error; the next
     * call continues after it.
     */
    Event next() {
        if (items != null) {
            if (items.next()) {
                return store(items.device(), items.payload()) ? Event.ROUND : Event.BLOCK;
            }
            items = null;
        }
        if (end - begin < HEADER) {
            return Event.NONE;
        }
        int size = Byte.toUnsignedInt(buffer[begin + 1]) << 8 | Byte.toUnsignedInt(buffer[begin + 2]);
        if (end - begin < HEADER + size) {
            return Event.NONE;
        }
        char letter = (char) Byte.toUnsignedInt(buffer[begin]);
        byte[] payload = Arrays.copyOfRange(buffer, begin + HEADER, begin + HEADER + size);
        begin += HEADER + size;
        if (letter == 'r') {
            reply(payload);
            return Event.REPLY;
        }
        if (letter == 'Y') {
            // People see it on terminals.
            String text = new String(payload, StandardCharsets.ISO_8859_1).replaceAll("[^\\n -~]", "?");
            boolean goesOn = !text.isEmpty() && !answer.isEmpty() && text.charAt(0) == answer.charAt(0);
            answer = goesOn ? answer + text.substring(1) : text;
            return Event.BLOCK;
        }
        if (letter == 'Z') {
            items = new Compact(payload, kinds);
            return Event.BLOCK;
        }
        return store(letter, payload) ? Event.ROUND : Event.BLOCK;
    }

    /** Takes over the granted access. The next block starts a round. */
    private void reply(byte[] payload) {
        awaited = Math.max(0, awaited - 1);
        left = 0;
        reply = new String(payload, StandardCharsets.ISO_8859_1);
        for (int i = 0; i + 1 < reply.length(); i += 2) {
            char device = reply.charAt(i);
            access[device] = reply.charAt(i + 1);
            if ((readable(device) || writable(device)) && order.indexOf(reply.substring(i, i + 1)) < 0) {
                order.append(device);
            }
        }
        readers = 0;
        for (char device = 0; device < LETTERS; device++) {
            if (readable(device)) {
                readers++;
            }
        }
    }

    boolean readable(char device) {
        return access[device] == 'r' || access[device] == 'a';
    }

    boolean writable(char device) {
        return access[device] == 'w' || access[device] == 'a';
    }

    /** Returns the request that opens the open devices again, in the same order of frames. */
    String open() {
        StringBuilder pairs = new StringBuilder();
        for (int i = 0; i < order.length(); i++) {
            char device = order.charAt(i);
            if (readable(device) || writable(device)) {
                pairs.append(device).append(access[device]);
            }
        }
        return pairs.toString();
    }

    /** Stores one block and reports whether it completes a round. */
    private boolean store(char letter, byte[] payload) {
        Object value = null;
        PlayerException wrong = null;
        if (payload.length > 0) {
            try {
                value = letter == SERVER ? Freshness.decode(payload)
                        : kinds[letter] == null ? null : kinds[letter].decode(payload);
            } catch (PlayerException e) {
                wrong = e;
            }
        }
        boolean valid = payload.length > 0 && wrong == null;
        boolean whole = readable(SERVER)
                ? storeAged(letter, payload, value, valid)
                : storePlain(letter, payload, value, valid);
        if (wrong != null) {
            throw wrong;
        }
        return whole;
    }

    /**
     * Without device y a round has as many blocks as devices are read. A second block of one device starts the next
     * round.
     */
    private boolean storePlain(char letter, byte[] payload, Object value, boolean valid) {
        Block last = blocks[letter];
        long number = last == null ? 0 : last.round;
        boolean counts = readable(letter);
        if (counts) {
            if (left == 0 || number == round) {
                round++;
                left = readers;
            }
            number = round;
            left--;
        }
        blocks[letter] = new Block(payload, value, valid, number, 0, false);
        return counts && left == 0;
    }

    /** With device y its block comes first and has an age for each block that follows (PROTOCOL 8.1). */
    private boolean storeAged(char letter, byte[] payload, Object value, boolean valid) {
        if (letter == SERVER) {
            round++;
            left = 0;
            blocks[letter] = new Block(payload, value, valid, valid ? round : 0, 0, false);
            if (!valid) {
                throw new PlayerException(PROTOCOL, "block of device y has " + payload.length + " bytes");
            }
            freshness = (Freshness) value;
            left = freshness.ages().length;
            return left == 0;
        }
        if (left == 0) {
            blocks[letter] = new Block(payload, value, valid, 0, 0, false);
            throw new PlayerException(PROTOCOL,
                    "block of device '" + letter + "' without a block of device y before it");
        }
        long age = freshness.ages()[freshness.ages().length - left];
        boolean aged = age != Freshness.NO_AGE;
        blocks[letter] = new Block(payload, value, valid, round, freshness.time() - age, aged);
        left--;
        return left == 0;
    }

    /** Returns the time of the latest round, us since the server started. */
    long serverTime() {
        return freshness.time();
    }
}
