package player;

import java.nio.ByteBuffer;

/**
 * Direction and zoom of the camera (PROTOCOL 7.6).
 *
 * @param pan  deg, -100..100, counterclockwise
 * @param tilt deg, -25..25, up
 * @param zoom 0 wide .. 1023 telephoto
 */
public record CameraFeedback(int pan, int tilt, int zoom) {
    static final int SIZE = 6;

    static CameraFeedback decode(byte[] payload) {
        ByteBuffer b = Payload.of("ptz", payload, SIZE);
        return new CameraFeedback(b.getShort(), b.getShort(), b.getShort());
    }
}
