package player;

import java.nio.ByteBuffer;

/** Reads big-endian payloads. */
final class Payload {
    /** The number in the protocol for a signed value that is not known (PROTOCOL 7.10 to 7.13). Here it is null. */
    static final int UNKNOWN = Integer.MIN_VALUE;

    private Payload() {}

    /** Returns the next value of 32 bits with a sign, null if it is not known. */
    static Integer known(ByteBuffer b) {
        int value = b.getInt();
        return value == UNKNOWN ? null : Integer.valueOf(value);
    }

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
