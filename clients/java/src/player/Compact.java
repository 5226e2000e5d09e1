package player;

import static player.PlayerException.Kind.PROTOCOL;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.stream.Stream;

/** A compact round (PROTOCOL 8.4): the blocks that a block of letter Z stands for. */
final class Compact {
    /** Blobs of a channel, bytes each, and channels of an image. */
    private static final int BLOB = 10, CHANNELS = 32;
    /** Of a number: 64 bits, 7 in each byte. */
    private static final int NUMBER = 10;

    private final ByteBuffer items;
    private final DeviceKind[] kinds;
    private char device;
    private byte[] payload;

    /** Begins with the payload of a block Z. kinds has the kind of each device, or null. */
    Compact(byte[] block, DeviceKind[] kinds) {
        items = ByteBuffer.wrap(block);
        this.kinds = kinds;
    }

    /** Takes the next block, if there is one. An item that is none is a PROTOCOL error, and the last one. */
    boolean next() {
        if (!items.hasRemaining()) {
            return false;
        }
        device = (char) Payload.u8(items);
        long head = number(items);
        if (head >>> 2 > items.remaining() || head < 0) {
            throw wrong();
        }
        byte[] code = new byte[(int) (head >>> 2)];
        items.get(code);
        payload = switch ((int) head & 3) {
            case 0 -> code;
            case 1 -> decode(kinds[device], ByteBuffer.wrap(code));
            case 2 -> selected(ByteBuffer.wrap(code));
            default -> throw wrong();
        };
        return true;
    }

    char device() {
        return device;
    }

    /** Readings that the server did not send (8.4.7) are 0. */
    byte[] payload() {
        return payload;
    }

    /** Returns the error, after which there is nothing more. */
    private PlayerException wrong() {
        items.position(items.limit());
        return new PlayerException(PROTOCOL, "a compact block has an item without a meaning");
    }

    /** Returns the number that begins at the position (8.4.2). */
    private long number(ByteBuffer b) {
        long value = 0;
        for (int i = 0; i < NUMBER && b.hasRemaining(); i++) {
            int next = Payload.u8(b);
            value |= (next & 127L) << 7 * i;
            if (next < 128) {
                return value;
            }
        }
        throw wrong();
    }

    /** Returns a number from 0 to most. */
    private int number(ByteBuffer b, int most) {
        long value = number(b);
        if (value < 0 || value > most) {
            throw wrong();
        }
        return (int) value;
    }

    /** Returns the payload of a code of form 1 (8.4.3). */
    private byte[] decode(DeviceKind kind, ByteBuffer code) {
        if (device == Session.SERVER) {
            return freshness(code);
        }
        if (kind == null) {
            throw wrong();
        }
        return switch (kind) {
            case LASER -> readings(code, PlayerClient.LASER_RANGES).array();
            case SONAR -> readings(code, PlayerClient.SONARS).array();
            case RANGER -> {
                int unit = number(code, 0xFFFF);
                byte[] ranges = readings(code, number(code, Ranger.MAX_READINGS)).array();
                yield ByteBuffer.allocate(2 + ranges.length).putShort((short) unit).put(ranges).array();
            }
            case POSITION -> numbers(code, 4, -4, -4, 2, -2, -2, 2, 1);
            case PTZ -> numbers(code, -2, -2, -2);
            case JOYSTICK -> numbers(code, 4, -2, -2, -2, -2, -2, -2, -2, -2);
            case VISION -> vision(code);
            default -> throw wrong();
        };
    }

    /** Returns a payload of numbers of the given sizes in bytes, negative if they are signed. */
    private byte[] numbers(ByteBuffer code, int... sizes) {
        ByteBuffer b = ByteBuffer.allocate(Arrays.stream(sizes).map(Math::abs).sum());
        for (int size : sizes) {
            long value = number(code);
            if (value >>> 8 * Math.abs(size) != 0) {
                throw wrong();
            }
            value = size < 0 ? value >>> 1 ^ -(value & 1) : value;
            switch (Math.abs(size)) {
                case 1 -> b.put((byte) value);
                case 2 -> b.putShort((short) value);
                default -> b.putInt((int) value);
            }
        }
        if (code.hasRemaining()) {
            throw wrong();
        }
        return b.array();
    }

    private byte[] freshness(ByteBuffer code) {
        ByteBuffer b = ByteBuffer.allocate(8 + 4 * code.remaining()); // an age has at least one byte
        b.putLong(number(code));
        while (code.hasRemaining()) {
            long age = number(code);
            if (age >>> 32 != 0) {
                throw wrong();
            }
            b.putInt((int) (age - 1));
        }
        return Arrays.copyOf(b.array(), b.position());
    }

    private byte[] vision(ByteBuffer code) {
        ByteArrayOutputStream image = new ByteArrayOutputStream();
        int blobs = 0;
        for (int channel = 1; channel <= CHANNELS; channel++) {
            int count = 0;
            if (code.remaining() >= 2 && code.get(code.position()) == channel) {
                code.get();
                count = Payload.u8(code);
            }
            if (count == 255) { // its byte in the header would be 0
                throw wrong();
            }
            image.write(Math.min(1 + blobs, 255));
            image.write(1 + count);
            blobs += count;
        }
        if (code.remaining() != 1 + blobs * BLOB || code.get() != 0) {
            throw wrong();
        }
        image.write(code.array(), code.position(), code.remaining());
        return image.toByteArray();
    }

    /** Returns the whole laser scan of a code of form 2 (8.4.7). */
    private byte[] selected(ByteBuffer code) {
        int first = number(code, 0xFFFF);
        int step = number(code, 0xFFFF);
        int count = number(code, PlayerClient.LASER_RANGES);
        int unit = number(code, 0xFFFF);
        if (step == 0 || count > 0 && first + (count - 1) * step >= PlayerClient.LASER_RANGES) {
            throw wrong();
        }
        ByteBuffer some = readings(code, count);
        ByteBuffer scan = ByteBuffer.allocate(2 * PlayerClient.LASER_RANGES);
        for (int i = 0; i < count; i++) {
            long mm = (long) Short.toUnsignedInt(some.getShort(2 * i)) * unit;
            scan.putShort(2 * (first + i * step), (short) Math.min(mm, 0xFFFF));
        }
        return scan.array();
    }

    /** Returns the payload of count readings of a code (8.4.5). */
    private ByteBuffer readings(ByteBuffer code, int count) {
        Bits bits = new Bits(code);
        boolean straight = bits.plain(1) == 1;
        Chance[] same = chances(18);
        Chance[][] counts = {chances(4), chances(4)};
        Chance[] several = chances(17);
        int last = 0;
        int before = 0;
        int slope = 0;
        int spread = 480;
        ByteBuffer found = ByteBuffer.allocate(2 * count);
        for (int i = 0; i < count; i++) {
            int guess = straight ? 2 * last - before : last + (slope + 128 >> 8);
            guess = Math.max(0, Math.min(guess, 0xFFFF));
            int level = 0;
            if (spread >= 16) {
                int k = 27 - Integer.numberOfLeadingZeros(spread); // 2^k <= spread / 16
                level = Math.min(2 * k + (spread >> k + 3 & 1), 17);
            }
            int difference = bits.get(same[level]) ? 0 : difference(bits, counts[level & 1], several, level >> 1);
            int reading = guess + difference;
            if (reading < 0 || reading > 0xFFFF) {
                throw wrong();
            }
            int size = Math.abs(difference);
            if (size > 400) {
                slope = 0;
                before = reading;
            } else {
                spread += (16 * size - spread) * 3 >> 3;
                slope += 256 * (reading - last) - slope >> 2;
                before = last;
            }
            last = reading;
            found.putShort((short) reading);
        }
        return found;
    }

    /** Returns a difference that is not 0 (8.4.6). */
    private int difference(Bits bits, Chance[] counts, Chance[] several, int low) {
        boolean negative = bits.plain(1) == 1;
        int steps = 0;
        while (steps < 4 && !bits.get(counts[steps])) {
            steps++;
        }
        if (steps == 4) {
            int b = 1;
            while (!bits.get(several[b])) {
                if (++b == 17) {
                    throw wrong();
                }
            }
            steps = 3 + (1 << b - 1) + bits.plain(b - 1);
        }
        int size = (steps << low) + bits.plain(low) + 1;
        return negative ? -size : size;
    }

    private static Chance[] chances(int count) {
        return Stream.generate(Chance::new).limit(count).toArray(Chance[]::new);
    }

    /** The probability that a bit is 1. */
    private static final class Chance {
        private int p = 32768;
        private int n;
    }

    /** The range decoder (8.4.4). */
    private static final class Bits {
        private final ByteBuffer source;
        private long width = 0xFFFFFFFFL;
        private long code;

        Bits(ByteBuffer source) {
            this.source = source;
            for (int i = 0; i < 4; i++) {
                take();
            }
        }

        private void take() {
            code = (code << 8 | (source.hasRemaining() ? Payload.u8(source) : 0)) & 0xFFFFFFFFL;
        }

        private void normalize() {
            while (width < 1 << 24) {
                take();
                width <<= 8;
            }
        }

        boolean get(Chance c) {
            long bound = width * c.p >> 16;
            boolean bit = code < bound;
            long rate = 327680 / (5 * c.n + 8);
            if (bit) {
                width = bound;
                c.p += (int) ((65536 - c.p) * rate >> 16);
            } else {
                code -= bound;
                width -= bound;
                c.p -= (int) (c.p * rate >> 16);
            }
            c.p = Math.max(32, Math.min(c.p, 65504));
            c.n = Math.min(c.n + 1, 40);
            normalize();
            return bit;
        }

        /** Returns a number of k plain bits. */
        int plain(int k) {
            width >>= k;
            long value = Math.min(code / width, (1L << k) - 1);
            code -= value * width;
            normalize();
            return (int) value;
        }
    }
}
