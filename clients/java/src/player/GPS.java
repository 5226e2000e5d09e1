package player;

import java.nio.ByteBuffer;

/**
 * Where a satellite receiver is (PROTOCOL 7.11). null: not known.
 *
 * @param fix          NO_FIX ... DEAD_RECKONING; a later server may have others
 * @param satellites   used
 * @param latitudeE7   1e-7 deg (11 mm), WGS 84, north
 * @param longitudeE7  1e-7 deg, WGS 84, east
 * @param heightMm     above mean sea level, mm
 * @param horizontalMm standard deviation of the place, mm
 * @param verticalMm   standard deviation of the height, mm
 * @param timeMs       UTC, ms since 1970
 * @param speedMmPerS  over ground, mm/s
 * @param courseMdeg   over ground, 0..359999, thousandths of a degree clockwise from north
 */
public record GPS(Integer fix, Integer satellites, Integer latitudeE7, Integer longitudeE7, Integer heightMm,
        Long horizontalMm, Long verticalMm, Long timeMs, Long speedMmPerS, Long courseMdeg) {
    static final int SIZE = 38;

    /**
     * How a receiver has found its position: not at all, from satellites alone, with corrections, by RTK that has not
     * settled (some decimetres) or has (some centimetres), estimated from the last fix.
     */
    public static final int NO_FIX = 0, PLAIN_FIX = 1, DGPS_FIX = 2, FLOAT_FIX = 3, RTK_FIX = 4, DEAD_RECKONING = 5;

    /** {@return whether the receiver knows where it is} */
    public boolean hasPlace() {
        return (fix == null || fix != NO_FIX) && latitudeE7 != null && longitudeE7 != null;
    }

    static GPS decode(byte[] payload) {
        ByteBuffer b = Payload.of("gps", payload, SIZE);
        int fix = Payload.u8(b);
        int satellites = Payload.u8(b);
        return new GPS(known(fix), known(satellites), Payload.known(b), Payload.known(b), Payload.known(b), amount(b),
                amount(b), time(b.getLong()), amount(b), amount(b));
    }

    private static Integer known(int value) {
        return value == 0xFF ? null : Integer.valueOf(value);
    }

    private static Long amount(ByteBuffer b) {
        int value = b.getInt();
        return value == -1 ? null : Long.valueOf(Integer.toUnsignedLong(value));
    }

    private static Long time(long ms) {
        return ms == 0 ? null : Long.valueOf(ms);
    }
}
