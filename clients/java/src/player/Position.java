package player;

import java.nio.ByteBuffer;

/**
 * Odometry (PROTOCOL 7.1). Lengths in mm, angles in degrees, counterclockwise.
 *
 * @param time     ms since the server started
 * @param x        mm, forward of the pose where the odometry was zero
 * @param y        mm, to the left of it
 * @param heading  deg, 0..359
 * @param speed    mm/s, forward
 * @param turnRate deg/s, counterclockwise
 * @param compass  deg, 0..359
 * @param stall    zero while the motors turn freely
 */
public record Position(long time, int x, int y, int heading, int speed, int turnRate, int compass, int stall) {
    static final int SIZE = 21;

    /** {@return whether a motor is stalled} */
    public boolean stalled() {
        return stall != 0;
    }

    static Position decode(byte[] payload) {
        ByteBuffer b = Payload.of("position", payload, SIZE);
        return new Position(Integer.toUnsignedLong(b.getInt()), b.getInt(), b.getInt(), Payload.u16(b), b.getShort(),
                b.getShort(), Payload.u16(b), Payload.u8(b));
    }
}
