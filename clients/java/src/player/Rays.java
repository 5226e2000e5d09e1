package player;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Where readings of a laser, a ring of sonars or a ranger look from and to (PROTOCOL 8.9.6): those that follow each
 * other from one point, in equal steps. The frame is the frame of {@link Part}.
 *
 * @param device     its letter or byte
 * @param first      reading, from 0
 * @param count      readings, from 1
 * @param xMm        of the point, mm
 * @param yMm        of the point, mm
 * @param headingDeg of the first reading, counterclockwise
 * @param stepDeg    from a reading to the next, counterclockwise
 * @param nearMm     the smallest distance, mm; null: not known
 * @param farMm      the largest distance, mm; null: not known
 * @param coneDeg    how wide a reading sees, half to each side; 0: a line, or not known
 */
public record Rays(char device, int first, int count, double xMm, double yMm, double headingDeg, double stepDeg,
        Double nearMm, Double farMm, double coneDeg) {

    /** Returns the rays of an answer, as {@link Part#of} does. code returns a device by its name, or null. */
    static List<Rays> of(String answer, Function<String, Character> code) {
        List<Rays> rays = new ArrayList<>();
        for (String line : answer.split("\n")) {
            String[] words = line.split(" ");
            Character device = code.apply(words[0]);
            if (words.length < 10 || device == null) {
                continue;
            }
            try {
                int first = Integer.parseInt(words[1]);
                int count = Integer.parseInt(words[2]);
                double[] n = Part.numbers(words, 3, 7);
                if (first >= 0 && count >= 1 && (long) first + count <= Ranger.MAX_READINGS) {
                    rays.add(new Rays(device, first, count, n[0], n[1], n[2], n[3], known(n[4]), known(n[5]), n[6]));
                }
            } catch (NumberFormatException e) {
                // The line is of a later server.
            }
        }
        return List.copyOf(rays);
    }

    private static Double known(double mm) {
        return mm == 0 ? null : Double.valueOf(mm);
    }
}
