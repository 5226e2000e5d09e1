package player;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The joints of a servo device (PROTOCOL 7.13). {@link PlayerClient#channels} describes them.
 *
 * @param joints in the order of their numbers
 */
public record Servo(List<Joint> joints) {
    /** The most joints, and the bytes of each (PROTOCOL 7.13). */
    private static final int MAX_JOINTS = 64, JOINT = 9;

    /**
     * One joint.
     *
     * @param position in the unit of the joint; null: not known
     * @param goal in the unit of the joint; null: not known, or it has none
     * @param state bits, as sent
     */
    public record Joint(Integer position, Integer goal, int state) {
        private Boolean bit(int bit) {
            return (state & 0x80) == 0 ? null : Boolean.valueOf((state & bit) != 0);
        }

        /** {@return whether it moves; null: not known} */
        public Boolean moving() {
            return bit(0x01);
        }

        /** {@return whether it has power; null: not known} */
        public Boolean powered() {
            return bit(0x02);
        }

        /** {@return whether it is at a limit; null: not known} */
        public Boolean atLimit() {
            return bit(0x04);
        }

        /** {@return whether it has failed; null: not known} */
        public Boolean failed() {
            return bit(0x08);
        }
    }

    static Servo decode(byte[] payload) {
        if (payload.length % JOINT != 0 || payload.length > JOINT * MAX_JOINTS) {
            throw new PlayerException(PlayerException.Kind.PROTOCOL,
                    "servo payload has " + payload.length + " bytes, not 9 for each of up to " + MAX_JOINTS);
        }
        List<Joint> joints = new ArrayList<>();
        for (ByteBuffer b = ByteBuffer.wrap(payload); b.hasRemaining();) {
            joints.add(new Joint(Payload.known(b), Payload.known(b), Payload.u8(b)));
        }
        return new Servo(List.copyOf(joints));
    }
}
