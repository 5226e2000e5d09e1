package player;

import java.util.ArrayList;
import java.util.List;

/**
 * One part of a device, in mm and degrees, in the robot's frame: the origin is the centre of rotation, x ahead, y to the
 * left (PROTOCOL 8.9.3). 0 in the last four: not known, or it has none.
 *
 * @param device  its letter
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

    /** Returns the parts of an answer. Lines that are none are skipped, and so is what a later server adds to a line. */
    static List<Part> of(String answer) {
        List<Part> parts = new ArrayList<>();
        for (String line : answer.split("\n")) {
            String[] words = line.split(" ");
            if (words.length < 9 || words[0].length() != 1) {
                continue;
            }
            try {
                double[] n = new double[7];
                for (int i = 0; i < n.length; i++) {
                    n[i] = Double.parseDouble(words[2 + i]);
                }
                parts.add(new Part(words[0].charAt(0), Integer.parseInt(words[1]), n[0], n[1], n[2], n[3], n[4], n[5], n[6]));
            } catch (NumberFormatException e) {
                // The line is of a later server.
            }
        }
        return List.copyOf(parts);
    }
}
