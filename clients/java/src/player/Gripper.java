package player;

import java.nio.ByteBuffer;

/**
 * State of paddles, lift and beams (PROTOCOL 7.5). Paddles and lift are the bits of gripperData1, limits and beams
 * those of gripperData2.
 *
 * @param gripperData1 bits of paddles and lift, as sent
 * @param gripperData2 bits of limits and beams, as sent
 */
public record Gripper(int gripperData1, int gripperData2) {
    static final int SIZE = 2;

    /** {@return whether the paddles are open} */
    public boolean paddlesOpen() {
        return (gripperData1 & 0x01) != 0;
    }

    /** {@return whether the paddles are closed} */
    public boolean paddlesClosed() {
        return (gripperData1 & 0x02) != 0;
    }

    /** {@return whether the paddles move} */
    public boolean paddlesMoving() {
        return (gripperData1 & 0x04) != 0;
    }

    /** {@return whether the paddles have an error} */
    public boolean paddlesError() {
        return (gripperData1 & 0x08) != 0;
    }

    /** {@return whether the lift is up} */
    public boolean liftUp() {
        return (gripperData1 & 0x10) != 0;
    }

    /** {@return whether the lift is down} */
    public boolean liftDown() {
        return (gripperData1 & 0x20) != 0;
    }

    /** {@return whether the lift moves} */
    public boolean liftMoving() {
        return (gripperData1 & 0x40) != 0;
    }

    /** {@return whether the lift has an error} */
    public boolean liftError() {
        return (gripperData1 & 0x80) != 0;
    }

    /** {@return whether the paddles are at a limit} */
    public boolean gripLimitReached() {
        return (gripperData2 & 0x01) != 0;
    }

    /** {@return whether the lift is at a limit} */
    public boolean liftLimitReached() {
        return (gripperData2 & 0x02) != 0;
    }

    /** {@return whether something is in the outer beam} */
    public boolean outerBeamObstructed() {
        return (gripperData2 & 0x04) != 0;
    }

    /** {@return whether something is in the inner beam} */
    public boolean innerBeamObstructed() {
        return (gripperData2 & 0x08) != 0;
    }

    /** {@return whether the left paddle is open} */
    public boolean leftPaddleOpen() {
        return (gripperData2 & 0x10) != 0;
    }

    /** {@return whether the right paddle is open} */
    public boolean rightPaddleOpen() {
        return (gripperData2 & 0x20) != 0;
    }

    static Gripper decode(byte[] payload) {
        ByteBuffer b = Payload.of("gripper", payload, SIZE);
        return new Gripper(Payload.u8(b), Payload.u8(b));
    }
}
