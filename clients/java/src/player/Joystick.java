package player;

import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;

/**
 * State of a joystick (PROTOCOL 7.8).
 *
 * @param buttons bit n is set while button n is pressed, 0..31
 * @param axes    8 axes, -32767..32767, 0 at rest; on a stick the first is positive to the right, the second backward
 */
public record Joystick(long buttons, List<Integer> axes) {
    static final int SIZE = 20;
    private static final int AXES = 8;

    static final Joystick AT_REST = new Joystick(0, Collections.nCopies(AXES, 0));

    /**
     * {@return whether button i is pressed, 0..31}
     *
     * @param i 0..31
     */
    public boolean button(int i) {
        return (buttons >> i & 1) != 0;
    }

    static Joystick decode(byte[] payload) {
        ByteBuffer b = Payload.of("joystick", payload, SIZE);
        return new Joystick(Integer.toUnsignedLong(b.getInt()),
                Stream.generate(() -> (int) b.getShort()).limit(AXES).toList());
    }
}
