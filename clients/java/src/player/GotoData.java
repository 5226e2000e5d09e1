package player;

import java.nio.ByteBuffer;

/**
 * How far a goto device has come (PROTOCOL 7.14). null: there is no goal. After its end a goal stays in the data.
 *
 * @param state      the state of the drive: {@link #doing} has a word for it
 * @param reason     why the goal was given up, 0: it was not; {@link #why} has a sentence for it
 * @param tag        of the goal, 0..65535
 * @param xMm        of the goal, mm, in the frame of {@link Position}
 * @param yMm        of the goal, mm
 * @param headingDeg to which the robot turns in the end, 0..359 deg; null: any
 * @param distanceMm to the goal in a straight line, mm
 */
public record GotoData(int state, int reason, int tag, Integer xMm, Integer yMm, Integer headingDeg, Long distanceMm) {
    static final int SIZE = 18;

    /** The state of a goto device. */
    public enum State {
        /** There was no goal since the device was opened. */
        IDLE,
        /** It drives to the goal. */
        DRIVING,
        /** It has arrived. */
        ARRIVED,
        /** It sees no way, and tries on. */
        BLOCKED,
        /** It has given the goal up: {@link GotoData#why}. */
        STOPPED,
        /** A state that a later server has. */
        UNKNOWN
    }

    private static final String[] REASONS = {"", "it was commanded to stop", "the wheels got another command",
        "the emergency stop is active", "its sensors give no ranges", "its wheels give no odometry",
        "it has found no way", "the goal is too far, or the robot too wide", "its motors are off"};

    /** {@return the state by its name} */
    public State doing() {
        return state < State.UNKNOWN.ordinal() ? State.values()[state] : State.UNKNOWN;
    }

    /** {@return why the goal was given up, for people; "": it was not} */
    public String why() {
        return reason < REASONS.length ? REASONS[reason] : "reason " + reason;
    }

    static GotoData decode(byte[] payload) {
        ByteBuffer b = Payload.of("goto", payload, SIZE);
        int state = Payload.u8(b);
        int reason = Payload.u8(b);
        int tag = Payload.u16(b);
        Integer x = Payload.known(b);
        Integer y = Payload.known(b);
        int heading = Payload.u16(b);
        long distance = Integer.toUnsignedLong(b.getInt());
        return new GotoData(state, reason, tag, x, y, heading == Goal.ANY ? null : Integer.valueOf(heading),
                distance == 0xFFFFFFFFL ? null : Long.valueOf(distance));
    }
}
