package player;

import java.util.Arrays;

/**
 * Distances in mm, measured by a ring of 16 sonars or a laser scanner (PROTOCOL 7.2, 7.3). They never change.
 *
 * <p>Sonars: 0 is at the front left, then clockwise: 3 and 4 ahead, 7 front right, 8 rear right, 15 rear left. A
 * distance of 0 means that the sonar has not fired yet, or is missing.
 *
 * <p>Laser: 361 distances, every half degree from the right (0, -90 deg) counterclockwise to the left (360, +90 deg).
 */
public final class Ranges {
    private final int[] mm;

    private Ranges(int[] mm) {
        this.mm = mm;
    }

    static Ranges decode(String what, byte[] payload, int count) {
        return new Ranges(Payload.ranges(what, payload, count));
    }

    /** {@return the number of distances: 16 of sonars, 361 of a laser} */
    public int size() {
        return mm.length;
    }

    /**
     * {@return a distance, mm, 0..65535}
     *
     * @param i index
     */
    public int mm(int i) {
        return mm[i];
    }

    /**
     * {@return the index of the smallest distance from the index first to the index last}
     *
     * @param first index
     * @param last index, included
     */
    public int nearest(int first, int last) {
        int best = first;
        for (int i = first; i <= last; i++) {
            if (mm[i] < mm[best]) {
                best = i;
            }
        }
        return best;
    }

    /** {@return a copy, mm} */
    public int[] toArray() {
        return mm.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Ranges that && Arrays.equals(mm, that.mm);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(mm);
    }

    @Override
    public String toString() {
        return Arrays.toString(mm) + " mm";
    }
}
