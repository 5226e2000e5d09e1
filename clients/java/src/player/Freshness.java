package player;

import static player.PlayerException.Kind.PROTOCOL;

import java.nio.ByteBuffer;

/**
 * The block of device y (PROTOCOL 8.1): the time of the frame and the age of each other block in it.
 *
 * @param time us since the server started; unsigned
 * @param ages us, in frame order; NO_AGE if a device has no data yet
 */
record Freshness(long time, long[] ages) {
    static final long NO_AGE = 0xFFFFFFFFL;

    static Freshness decode(byte[] payload) {
        if (payload.length < 8 || payload.length % 4 != 0) {
            throw new PlayerException(PROTOCOL,
                    "freshness payload has " + payload.length + " bytes, not 8 plus 4 for each age");
        }
        ByteBuffer b = ByteBuffer.wrap(payload);
        long time = b.getLong();
        long[] ages = new long[b.remaining() / 4];
        for (int i = 0; i < ages.length; i++) {
            ages[i] = Integer.toUnsignedLong(b.getInt());
        }
        return new Freshness(time, ages);
    }
}
