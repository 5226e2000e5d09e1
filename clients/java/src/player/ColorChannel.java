package player;

import static player.PlayerException.Kind.PROTOCOL;

import java.util.Arrays;
import java.util.List;

/**
 * The blobs of one colour in the camera image (PROTOCOL 7.7).
 *
 * @param blobs the largest first, at most ACTS_MAX_NO_BLOBS
 */
public record ColorChannel(List<ColorBlob> blobs) {
    /** Channels of an image. */
    public static final int ACTS_NUM_CHANNELS = 32;
    /** The most blobs of one channel. */
    public static final int ACTS_MAX_NO_BLOBS = 10;

    private static final ColorChannel EMPTY = new ColorChannel(List.of());

    private static final int HEADER = 2 * ACTS_NUM_CHANNELS;
    private static final int BLOB = 10; // bytes
    private static final int MAX_PIXEL = 254; // a byte that stores the value plus one

    /** {@return the number of blobs} */
    public int noBlobs() {
        return blobs.size();
    }

    /**
     * {@return one blob; 0 is the largest}
     *
     * @param i 0 is the largest
     */
    public ColorBlob blob(int i) {
        return blobs.get(i);
    }

    /** Returns an image without blobs. */
    static ColorChannel[] none() {
        ColorChannel[] channels = new ColorChannel[ACTS_NUM_CHANNELS];
        Arrays.fill(channels, EMPTY);
        return channels;
    }

    /**
     * Decodes an image of ACTS 1.0. The header has the index of the first blob and the number of blobs of each channel.
     * An index above 254 does not fit and is sent as 254, so blobs are found by the numbers alone.
     */
    static ColorChannel[] decode(byte[] b) {
        if (b.length < HEADER) {
            throw new PlayerException(PROTOCOL,
                    "vision payload has " + b.length + " bytes, the header alone " + HEADER);
        }
        ColorChannel[] channels = none();
        int total = 0;
        for (int c = 0; c < ACTS_NUM_CHANNELS; c++) {
            int index = stored(b[2 * c]);
            int count = stored(b[2 * c + 1]);
            if (index != Math.min(total, MAX_PIXEL) || count < 0 || count > ACTS_MAX_NO_BLOBS) {
                throw new PlayerException(PROTOCOL, "vision channel " + c + " has index " + index + ", count " + count);
            }
            total += count;
        }
        if (b.length != HEADER + total * BLOB) {
            throw new PlayerException(PROTOCOL, "vision payload has " + b.length + " bytes for " + total + " blobs");
        }
        int at = HEADER;
        for (int c = 0; c < ACTS_NUM_CHANNELS; c++) {
            int count = stored(b[2 * c + 1]);
            if (count == 0) {
                continue;
            }
            ColorBlob[] blobs = new ColorBlob[count];
            for (int i = 0; i < count; i++, at += BLOB) {
                blobs[i] = blob(b, at);
            }
            channels[c] = new ColorChannel(List.of(blobs));
        }
        return channels;
    }

    private static ColorBlob blob(byte[] b, int at) {
        int area = 0;
        for (int i = at; i < at + 4; i++) {
            int digit = stored(b[i]);
            if (digit < 0 || digit > 63) {
                throw new PlayerException(PROTOCOL, "vision area digit " + digit);
            }
            area = area << 6 | digit;
        }
        for (int i = at + 4; i < at + BLOB; i++) {
            if (b[i] == 0) {
                throw new PlayerException(PROTOCOL, "zero byte in a vision blob");
            }
        }
        return new ColorBlob(area, stored(b[at + 4]), stored(b[at + 5]), stored(b[at + 6]), stored(b[at + 7]),
                stored(b[at + 8]), stored(b[at + 9]));
    }

    /** Every byte stores a value plus one. A zero byte gives -1. */
    private static int stored(byte b) {
        return Byte.toUnsignedInt(b) - 1;
    }
}
