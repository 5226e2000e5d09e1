package player;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * One part of a device, in mm and degrees, in the robot's frame: the origin is the centre of rotation, x ahead, y to
 * the left (PROTOCOL 8.9.3). 0 in the last four: not known, or it has none.
 *
 * @param device  its letter or byte
 * @param number  of a sonar: its place in the ranges; otherwise 0
 * @param x       of its middle
 * @param y       of its middle
 * @param heading counterclockwise
 * @param length  along its heading; of position: the robot's body
 * @param width   across
 * @param range   of a sensor
 * @param view    how wide it sees, half to each side
 */
public record Part(char device, int number, double x, double y, double heading, double length, double width, double range,
        double view) {

    /**
     * Returns the parts of an answer. Lines of another form, and fields of later servers, are skipped.
     * code returns a device by its name, or null.
     */
    static List<Part> of(String answer, Function<String, Character> code) {
        List<Part> parts = new ArrayList<>();
        for (String line : answer.split("\n")) {
            String[] words = line.split(" ");
            Character device = code.apply(words[0]);
            if (words.length < 9 || device == null) {
                continue;
            }
            try {
                double[] n = numbers(words, 2, 7);
                parts.add(new Part(device, Integer.parseInt(words[1]), n[0], n[1], n[2], n[3], n[4], n[5], n[6]));
            } catch (NumberFormatException e) {
                // The line is of a later server.
            }
        }
        return List.copyOf(parts);
    }

    /** Returns count words from the first on as finite numbers. */
    static double[] numbers(String[] words, int first, int count) {
        double[] n = new double[count];
        for (int i = 0; i < count; i++) {
            n[i] = Double.parseDouble(words[first + i]);
            if (!Double.isFinite(n[i])) {
                throw new NumberFormatException(words[first + i]);
            }
        }
        return n;
    }
}
