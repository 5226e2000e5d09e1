package player;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An input or an output of an io device, or a joint of a servo device (PROTOCOL 8.9.7).
 *
 * @param device its byte
 * @param number in the data and in commands, from 0
 * @param role   input, output or joint
 * @param unit   of its values: bit of a digital channel, mV, mdeg, um, ...; null: not known
 * @param min    the smallest of its values; null: not known
 * @param max    the largest of its values; null: not known
 * @param name   for people; may be empty
 */
public record Channel(char device, int number, String role, String unit, Integer min, Integer max, String name) {
    private static final Pattern LINE =
            Pattern.compile("(\\S+) ([0-9]{1,3}) (input|output|joint) (\\S+) (-?[0-9]{1,10}) (-?[0-9]{1,10}) (.*)");

    /** Returns the channels of an answer. Lines that are none are skipped. code returns a device by name, or null. */
    static List<Channel> of(String answer, Function<String, Character> code) {
        List<Channel> channels = new ArrayList<>();
        for (String line : answer.split("\n")) {
            Matcher m = LINE.matcher(line);
            Character device = m.matches() ? code.apply(m.group(1)) : null;
            if (device == null || Integer.parseInt(m.group(2)) >= IO.MAX_CHANNELS) {
                continue;
            }
            try {
                String unit = m.group(4).equals("-") ? null : m.group(4);
                channels.add(new Channel(device, Integer.parseInt(m.group(2)), m.group(3), unit, known(m.group(5)),
                        known(m.group(6)), m.group(7)));
            } catch (NumberFormatException e) {
                // A limit does not have 32 bits: the line is of a later server.
            }
        }
        return List.copyOf(channels);
    }

    private static Integer known(String limit) {
        int value = Integer.parseInt(limit);
        return value == Payload.UNKNOWN ? null : Integer.valueOf(value);
    }
}
