package player;

import java.nio.ByteBuffer;

/**
 * State of paddles, lift and beams (PROTOCOL 7.5). Paddles and lift are the bits of gripperData1, limits and beams
 * those of gripperData2.
 */
public record Gripper(int gripperData1, int gripperData2) {
    static final int SIZE = 2;

    public boolean paddlesOpen() { return (gripperData1 & 0x01) != 0; }
    public boolean paddlesClosed() { return (gripperData1 & 0x02) != 0; }
    public boolean paddlesMoving() { return (gripperData1 & 0x04) != 0; }
    public boolean paddlesError() { return (gripperData1 & 0x08) != 0; }
    public boolean liftUp() { return (gripperData1 & 0x10) != 0; }
    public boolean liftDown() { return (gripperData1 & 0x20) != 0; }
    public boolean liftMoving() { return (gripperData1 & 0x40) != 0; }
    public boolean liftError() { return (gripperData1 & 0x80) != 0; }
    public boolean gripLimitReached() { return (gripperData2 & 0x01) != 0; }
    public boolean liftLimitReached() { return (gripperData2 & 0x02) != 0; }
    public boolean outerBeamObstructed() { return (gripperData2 & 0x04) != 0; }
    public boolean innerBeamObstructed() { return (gripperData2 & 0x08) != 0; }
    public boolean leftPaddleOpen() { return (gripperData2 & 0x10) != 0; }
    public boolean rightPaddleOpen() { return (gripperData2 & 0x20) != 0; }

    static Gripper decode(byte[] payload) {
        ByteBuffer b = Payload.of("gripper", payload, SIZE);
        return new Gripper(Payload.u8(b), Payload.u8(b));
    }
}
