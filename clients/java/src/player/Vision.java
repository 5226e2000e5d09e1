package player;

import java.util.List;
import java.util.stream.IntStream;

/**
 * The patches of colour in the camera's image (PROTOCOL 7.7). {@link Robot#colors} has the colours of the channels.
 *
 * @param channels 32, one for each colour
 */
public record Vision(List<ColorChannel> channels) {
    /**
     * {@return the blobs of a channel, 0..31, the largest first}
     *
     * @param channel its number, from 0
     */
    public List<ColorBlob> blobs(int channel) {
        return channels.get(channel).blobs();
    }

    /** {@return the numbers of the channels with at least one blob} */
    public List<Integer> seen() {
        return IntStream.range(0, channels.size()).filter(c -> !blobs(c).isEmpty()).boxed().toList();
    }

    static Vision decode(byte[] payload) {
        return new Vision(List.of(ColorChannel.decode(payload)));
    }
}
