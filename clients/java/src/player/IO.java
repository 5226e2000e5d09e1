package player;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The values of inputs and outputs (PROTOCOL 7.12). {@link PlayerClient#channels} describes them.
 *
 * @param values of each channel, in its unit; a digital one is 0 or 1; null: not known
 */
public record IO(List<Integer> values) {
    /** The most channels (PROTOCOL 7.12). */
    static final int MAX_CHANNELS = 128;

    static IO decode(byte[] payload) {
        if (payload.length % 4 != 0 || payload.length > 4 * MAX_CHANNELS) {
            throw new PlayerException(PlayerException.Kind.PROTOCOL,
                    "io payload has " + payload.length + " bytes, not 4 for each of up to " + MAX_CHANNELS);
        }
        List<Integer> values = new ArrayList<>();
        for (ByteBuffer b = ByteBuffer.wrap(payload); b.hasRemaining();) {
            values.add(Payload.known(b));
        }
        return new IO(Collections.unmodifiableList(values));
    }
}
