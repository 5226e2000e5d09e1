package player;

import static player.PlayerException.Kind.USAGE;

import java.nio.ByteBuffer;

/** The payloads of commands (PROTOCOL 5.1). */
final class Commands {
    private Commands() {}

    /** Speed, mm/s forward, and turn rate, deg/s counterclockwise. */
    static byte[] speed(int translation, int rotation) {
        return shorts(translation, rotation);
    }

    /** Direction of the camera, deg counterclockwise and up, and zoom, 0..1023. */
    static byte[] camera(int pan, int tilt, int zoom) {
        return shorts(pan, tilt, zoom);
    }

    /** A gripper command and its argument. */
    static byte[] gripper(int command, int argument) {
        if ((command & ~0xFF) != 0 || (argument & ~0xFF) != 0) {
            throw new PlayerException(USAGE, "gripper command " + command + " " + argument + ": both are bytes");
        }
        return new byte[] {(byte) command, (byte) argument};
    }

    /** An output and its value. */
    static byte[] output(int channel, int value) {
        return ByteBuffer.allocate(5).put(aByte(channel)).putInt(value).array();
    }

    /** A joint, its goal, and its speed, 0..4294967295. */
    static byte[] joint(int joint, int goal, long speed) {
        if (speed >>> 32 != 0) {
            throw new PlayerException(USAGE, "a speed of " + speed + " is not in 0..4294967295");
        }
        return ByteBuffer.allocate(9).put(aByte(joint)).putInt(goal).putInt((int) speed).array();
    }

    private static byte aByte(int number) {
        if ((number & ~0xFF) != 0) {
            throw new PlayerException(USAGE, "channel or joint " + number + " is not a byte");
        }
        return (byte) number;
    }

    /** Encodes values as 16 bits, limited to their range so that a speed never changes sign. */
    private static byte[] shorts(int... values) {
        ByteBuffer b = ByteBuffer.allocate(2 * values.length);
        for (int v : values) {
            b.putShort((short) Math.max(Short.MIN_VALUE, Math.min(v, Short.MAX_VALUE)));
        }
        return b.array();
    }
}
