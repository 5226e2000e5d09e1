package player;

import static player.Tests.equal;
import static player.Tests.unhex;

import java.util.Arrays;
import java.util.OptionalInt;

/** The names of bits. The cases of clients/conformance have the payloads at their limits. */
final class PayloadTest {
    private PayloadTest() {}

    /** A value that the hardware does not measure is null. */
    static void testUnknown() {
        String unknown = "80000000";
        equal("imu", IMU.decode(unhex(unknown.repeat(9))),
                new IMU(null, null, null, null, null, null, null, null, null));
        equal("gps", GPS.decode(unhex("FFFF" + unknown.repeat(3) + "FF".repeat(8) + "00".repeat(8) + "FF".repeat(8))),
                new GPS(null, null, null, null, null, null, null, null, null, null));
        equal("no place", new GPS(0, 1, 1, 1, 1, 1L, 1L, 1L, 1L, 1L).hasPlace(), false);
        equal("place", new GPS(1, null, 0, 0, null, null, null, null, null, null).hasPlace(), true);
        equal("io", IO.decode(unhex(unknown + "00000000")).values(), Arrays.asList(null, 0));
        Servo servo = Servo.decode(unhex(unknown + "00000000" + "8A" + "00000000" + unknown + "0F"));
        equal("joints", servo.joints(), Arrays.asList(new Servo.Joint(null, 0, 0x8A), new Servo.Joint(0, null, 0x0F)));
        Servo.Joint known = servo.joints().get(0);
        equal("known", Arrays.asList(known.moving(), known.powered(), known.atLimit(), known.failed()),
                Arrays.asList(false, true, false, true));
        Servo.Joint unsure = servo.joints().get(1);
        equal("not known", Arrays.asList(unsure.moving(), unsure.powered(), unsure.atLimit(), unsure.failed()),
                Arrays.asList(null, null, null, null));
        Ranger ranger = Ranger.decode(unhex("000A 0000 FFFD FFFE FFFF"));
        equal("distance", ranger.mm(1), OptionalInt.of(655330));
        equal("nothing", ranger.mm(2), OptionalInt.empty());
        equal("not taken", ranger.mm(3), OptionalInt.empty());
    }

    static void testBits() {
        equal("stalled", Position.decode(unhex("00".repeat(20) + "01")).stalled(), true);
        Misc m = Misc.decode(unhex("01 10 7D"));
        equal("left front", m.frontBumper(0), true);
        equal("right front", m.frontBumper(4), false);
        equal("right rear", m.backBumper(0), false);
        equal("left rear", m.backBumper(4), true);
        Joystick j = Joystick.decode(unhex("80000001" + "00".repeat(16)));
        equal("first button", j.button(0), true);
        equal("second button", j.button(1), false);
        equal("last button", j.button(31), true);
        equal("time of 64 bits", Freshness.decode(unhex("0123456789ABCDEF")).time(), 0x0123456789ABCDEFL);
    }
}
