package player;

import java.nio.ByteBuffer;

/**
 * Bumpers and battery (PROTOCOL 7.4).
 *
 * @param frontBumpers lowest five bits, set while pressed
 * @param backBumpers  lowest five bits, set while pressed
 * @param battery      decivolt
 */
public record Misc(int frontBumpers, int backBumpers, int battery) {
    static final int SIZE = 3;

    /**
     * The battery in decivolt, by the name that the manual's C++ has.
     *
     * @return decivolt
     */
    public int voltage() {
        return battery;
    }

    /**
     * {@return whether a front bumper is pressed: 0..4, clockwise from the left to the right}
     *
     * @param i 0..4
     */
    public boolean frontBumper(int i) {
        return (frontBumpers >> i & 1) != 0;
    }

    /**
     * {@return whether a rear bumper is pressed: 0..4, clockwise from the right to the left}
     *
     * @param i 0..4
     */
    public boolean backBumper(int i) {
        return (backBumpers >> i & 1) != 0;
    }

    static Misc decode(byte[] payload) {
        ByteBuffer b = Payload.of("misc", payload, SIZE);
        return new Misc(Payload.u8(b), Payload.u8(b), Payload.u8(b));
    }
}
