package player;

import java.nio.ByteBuffer;

/** Reads big-endian payloads. */
final class Payload {
    private Payload() {}

    /** Returns a buffer on payload. It throws a PROTOCOL error if the size in bytes differs. */
    static ByteBuffer of(String what, byte[] payload, int size) {
        if (payload.length != size) {
            throw new PlayerException(PlayerException.Kind.PROTOCOL,
                    what + " payload has " + payload.length + " bytes, not " + size);
        }
        return ByteBuffer.wrap(payload);
    }

    static int u8(ByteBuffer b) {
        return Byte.toUnsignedInt(b.get());
    }

    static int u16(ByteBuffer b) {
        return Short.toUnsignedInt(b.getShort());
    }

    /** Decodes ranges in mm (PROTOCOL 7.2, 7.3). */
    static int[] ranges(String what, byte[] payload, int count) {
        ByteBuffer b = of(what, payload, 2 * count);
        int[] mm = new int[count];
        for (int i = 0; i < count; i++) {
            mm[i] = u16(b);
        }
        return mm;
    }
}
