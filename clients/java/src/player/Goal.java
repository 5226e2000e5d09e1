package player;

import java.nio.ByteBuffer;

/**
 * A goal of a goto device (PROTOCOL 5.6), in the frame of {@link Position}. {@link #at} makes one, and the methods that
 * begin with "with" make another one from it. 0 in the last four numbers: as the device has it.
 *
 * @param xMm          mm
 * @param yMm          mm
 * @param headingDeg   to which the robot turns in the end, 0..359 deg, or {@link #ANY}
 * @param speedMmPerS  the highest speed, mm/s
 * @param turnDegPerS  the highest turn rate, deg/s
 * @param toleranceMm  how far from the goal the robot has arrived, mm
 * @param radiusMm     half of the narrowest gap that the robot is to pass, mm
 */
public record Goal(int xMm, int yMm, int headingDeg, int speedMmPerS, int turnDegPerS, int toleranceMm, int radiusMm) {
    /** A heading: the robot stays as it arrives. */
    public static final int ANY = 0xFFFF;

    /**
     * Makes a goal. A number that does not have 16 bits is a USAGE error.
     *
     * @param xMm         mm
     * @param yMm         mm
     * @param headingDeg  0..359 deg, or {@link #ANY}
     * @param speedMmPerS mm/s; 0: as the device has it
     * @param turnDegPerS deg/s; 0: as the device has it
     * @param toleranceMm mm; 0: as the device has it
     * @param radiusMm    mm; 0: as the device has it
     */
    public Goal {
        for (int number : new int[] {headingDeg, speedMmPerS, turnDegPerS, toleranceMm, radiusMm}) {
            if (number < 0 || number > 0xFFFF) {
                throw new PlayerException(PlayerException.Kind.USAGE, "a goal's " + number + " is not in 0..65535");
            }
        }
    }

    /**
     * {@return the goal at a place, mm, with any heading}
     *
     * @param xMm mm, ahead
     * @param yMm mm, to the left
     */
    public static Goal at(int xMm, int yMm) {
        return new Goal(xMm, yMm, ANY, 0, 0, 0, 0);
    }

    /**
     * {@return this goal with a heading in the end, deg counterclockwise; it may be negative}
     *
     * @param deg deg counterclockwise
     */
    public Goal withHeading(int deg) {
        return new Goal(xMm, yMm, Math.floorMod(deg, 360), speedMmPerS, turnDegPerS, toleranceMm, radiusMm);
    }

    /**
     * {@return this goal with a highest speed, mm/s}
     *
     * @param mmPerS mm/s
     */
    public Goal withSpeed(int mmPerS) {
        return new Goal(xMm, yMm, headingDeg, mmPerS, turnDegPerS, toleranceMm, radiusMm);
    }

    /**
     * {@return this goal with a tolerance, mm}
     *
     * @param mm mm
     */
    public Goal withTolerance(int mm) {
        return new Goal(xMm, yMm, headingDeg, speedMmPerS, turnDegPerS, mm, radiusMm);
    }

    byte[] command(int tag) {
        return ByteBuffer.allocate(20).putInt(xMm).putInt(yMm).putShort((short) headingDeg).putShort((short) speedMmPerS)
                .putShort((short) turnDegPerS).putShort((short) toleranceMm).putShort((short) radiusMm)
                .putShort((short) tag).array();
    }

    /** Returns the command to give any goal up. */
    static byte[] stop() {
        return ByteBuffer.allocate(20).putInt(Payload.UNKNOWN).array();
    }

    /** Reports whether data belong to this goal, with a tag. */
    boolean is(GotoData data, int tag) {
        return data.tag() == tag && Integer.valueOf(xMm).equals(data.xMm()) && Integer.valueOf(yMm).equals(data.yMm());
    }
}
