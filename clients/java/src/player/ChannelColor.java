package player;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The colour of a channel of vision (PROTOCOL 8.9.8).
 *
 * @param device  its letter or byte
 * @param channel from 0
 * @param rgb     red, green and blue, 8 bits each: 0xFFA500 is orange
 */
public record ChannelColor(char device, int channel, int rgb) {
    private static final Pattern LINE = Pattern.compile("(\\S+) ([0-9]{1,3}) ([0-9a-fA-F]{6})(?: .*)?");

    /** Returns the colours of an answer. Lines that are none are skipped. code returns a device by name, or null. */
    static List<ChannelColor> of(String answer, Function<String, Character> code) {
        List<ChannelColor> colors = new ArrayList<>();
        for (String line : answer.split("\n")) {
            Matcher m = LINE.matcher(line);
            Character device = m.matches() ? code.apply(m.group(1)) : null;
            if (device != null && Integer.parseInt(m.group(2)) < ColorChannel.ACTS_NUM_CHANNELS) {
                colors.add(new ChannelColor(device, Integer.parseInt(m.group(2)), Integer.parseInt(m.group(3), 16)));
            }
        }
        return List.copyOf(colors);
    }
}
