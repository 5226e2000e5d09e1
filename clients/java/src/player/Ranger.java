package player;

import java.util.Arrays;
import java.util.OptionalInt;

/**
 * The readings of any range sensor (PROTOCOL 7.9). {@link PlayerClient#rays} says where each of them looks.
 *
 * @param unitMm mm, of the readings
 * @param ranges in units; or NOTHING_IN_RANGE, or UNKNOWN_RANGE
 */
public record Ranger(int unitMm, int[] ranges) {
    /** A reading that is no distance: nothing is in range; it was not taken, or its echo was no distance. */
    public static final int NOTHING_IN_RANGE = 0xFFFE, UNKNOWN_RANGE = 0xFFFF;

    /** The most readings (PROTOCOL 7.9). */
    static final int MAX_READINGS = 8192;

    /** {@return a copy of the readings, in units; or NOTHING_IN_RANGE, or UNKNOWN_RANGE} */
    public int[] ranges() {
        return ranges.clone();
    }

    /** {@return the number of readings} */
    public int size() {
        return ranges.length;
    }

    /**
     * {@return a reading in mm} It is empty if nothing is in range, or if it was not taken.
     *
     * @param reading its number, from 0
     */
    public OptionalInt mm(int reading) {
        int units = ranges[reading];
        return units < NOTHING_IN_RANGE ? OptionalInt.of(units * unitMm) : OptionalInt.empty();
    }

    static Ranger decode(byte[] payload) {
        int count = payload.length / 2 - 1;
        if (count < 0 || payload.length % 2 != 0 || count > MAX_READINGS) {
            throw new PlayerException(PlayerException.Kind.PROTOCOL,
                    "ranger payload has " + payload.length + " bytes, not 2 and 2 for each of up to " + MAX_READINGS);
        }
        int[] numbers = Payload.ranges("ranger", payload, count + 1);
        if (numbers[0] == 0) {
            throw new PlayerException(PlayerException.Kind.PROTOCOL, "ranger payload has a unit of 0 mm");
        }
        return new Ranger(numbers[0], Arrays.copyOfRange(numbers, 1, numbers.length));
    }
}
