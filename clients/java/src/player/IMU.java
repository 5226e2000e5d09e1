package player;

import java.nio.ByteBuffer;

/**
 * A reading of an inertial measurement unit (PROTOCOL 7.10), in the robot's axes: x ahead, y to the left, z up. null:
 * the unit does not measure it. Gravity is a part of the accelerations: at rest on level ground z is 9807.
 *
 * @param rollMdeg          about x: the left side up; thousandths of a degree
 * @param pitchMdeg         about y: the front down
 * @param yawMdeg           about z, counterclockwise
 * @param rollRateMdegPerS  of the three, thousandths of a degree each second
 * @param pitchRateMdegPerS the same
 * @param yawRateMdegPerS   the same
 * @param xMmPerS2          acceleration ahead, mm/s²
 * @param yMmPerS2          to the left
 * @param zMmPerS2          upward
 */
public record IMU(Integer rollMdeg, Integer pitchMdeg, Integer yawMdeg, Integer rollRateMdegPerS,
        Integer pitchRateMdegPerS, Integer yawRateMdegPerS, Integer xMmPerS2, Integer yMmPerS2, Integer zMmPerS2) {
    static final int SIZE = 36;

    static IMU decode(byte[] payload) {
        ByteBuffer b = Payload.of("imu", payload, SIZE);
        return new IMU(Payload.known(b), Payload.known(b), Payload.known(b), Payload.known(b), Payload.known(b),
                Payload.known(b), Payload.known(b), Payload.known(b), Payload.known(b));
    }
}
