package player;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One device of the robot (PROTOCOL 8.9.5).
 *
 * @param code          its byte, which stands for it in every method: the letter of a device that has one
 * @param interfaceName for example laser
 * @param index         among the devices of the interface
 * @param driver        for people
 */
public record Device(char code, String interfaceName, int index, String driver) {
    private static final Pattern LINE = Pattern.compile("([0-9]{1,3}) ([^ :]+) ([0-9]{1,9}) (.*)");

    /** {@return its name, for example laser:1} */
    public String name() {
        return interfaceName + ":" + index;
    }

    /** Returns the devices of an answer. Lines that are none are skipped. */
    static List<Device> of(String answer) {
        List<Device> devices = new ArrayList<>();
        for (String line : answer.split("\n")) {
            Matcher m = LINE.matcher(line);
            if (m.matches() && Integer.parseInt(m.group(1)) >= 1 && Integer.parseInt(m.group(1)) <= 0xFF) {
                char code = (char) Integer.parseInt(m.group(1));
                devices.add(new Device(code, m.group(2), Integer.parseInt(m.group(3)), m.group(4)));
            }
        }
        return List.copyOf(devices);
    }
}
