package player;

import static player.PlayerException.Kind.PROTOCOL;
import static player.Tests.equal;
import static player.Tests.fails;
import static player.Tests.unhex;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;

/** Every data payload at its limits (PROTOCOL 7, 8.1). */
final class PayloadTest {
    private PayloadTest() {}

    static void testPosition() {
        equal("greatest", Position.decode(unhex("FFFFFFFF 7FFFFFFF 7FFFFFFF FFFF 7FFF 7FFF FFFF FF")),
                new Position(4294967295L, 2147483647, 2147483647, 65535, 32767, 32767, 65535, 255));
        equal("least", Position.decode(unhex("00000000 80000000 80000000 0000 8000 8000 0000 00")),
                new Position(0, -2147483648, -2147483648, 0, -32768, -32768, 0, 0));
        Position p = Position.decode(unhex("00000001 00000002 FFFFFFFD 0004 0005 FFFA 0007 01"));
        equal("fields", p, new Position(1, 2, -3, 4, 5, -6, 7, 1));
        equal("stalled", p.stalled(), true);
    }

    static void testRanges() {
        equal("sonar", Payload.ranges("sonar", unhex("0000 FFFF 8000", "0001".repeat(13)), 16),
                IntStream.concat(IntStream.of(0, 65535, 32768), IntStream.generate(() -> 1).limit(13)).toArray());
        int[] laser = Payload.ranges("laser", unhex("1FFF", "0002".repeat(359), "FFFF"), 361);
        equal("right", laser[0], 8191);
        equal("ahead", laser[180], 2);
        equal("left", laser[360], 65535);
    }

    static void testMisc() {
        equal("greatest", Misc.decode(unhex("1F 1F FF")), new Misc(31, 31, 255));
        Misc m = Misc.decode(unhex("01 10 7D"));
        equal("battery, dV", m.battery(), 125);
        equal("left front", m.frontBumper(0), true);
        equal("right front", m.frontBumper(4), false);
        equal("right rear", m.backBumper(0), false);
        equal("left rear", m.backBumper(4), true);
    }

    static void testGripper() {
        equal("all", Gripper.decode(unhex("FF 3F")), new Gripper(255, 63));
        List<Function<Gripper, Boolean>> bits = List.of(Gripper::paddlesOpen, Gripper::paddlesClosed,
                Gripper::paddlesMoving, Gripper::paddlesError, Gripper::liftUp, Gripper::liftDown, Gripper::liftMoving,
                Gripper::liftError, Gripper::gripLimitReached, Gripper::liftLimitReached, Gripper::outerBeamObstructed,
                Gripper::innerBeamObstructed, Gripper::leftPaddleOpen, Gripper::rightPaddleOpen);
        for (int set = 0; set < bits.size(); set++) {
            Gripper g = new Gripper(1 << set & 0xFF, 1 << set >> 8);
            for (int bit = 0; bit < bits.size(); bit++) {
                equal("bit " + bit + " while " + set + " is set", bits.get(bit).apply(g), bit == set);
            }
        }
    }

    static void testCamera() {
        equal("limits", CameraFeedback.decode(unhex("FF9C 0019 03FF")), new CameraFeedback(-100, 25, 1023));
        equal("signs", CameraFeedback.decode(unhex("0064 FFE7 0000")), new CameraFeedback(100, -25, 0));
    }

    static void testJoystick() {
        Joystick j = Joystick.decode(unhex("80000001 8001 7FFF 0000 0001 FFFF 0000 0000 0000"));
        equal("state", j, new Joystick(0x80000001L, List.of(-32767, 32767, 0, 1, -1, 0, 0, 0)));
        equal("first button", j.button(0), true);
        equal("second button", j.button(1), false);
        equal("last button", j.button(31), true);
    }

    static void testFreshness() {
        Freshness f = Freshness.decode(unhex("0123456789ABCDEF 000000FA FFFFFFFF FFFFFFFE 00000000"));
        equal("time", f.time(), 0x0123456789ABCDEFL);
        equal("ages", f.ages(), new long[] {250, Freshness.NO_AGE, 4294967294L, 0});
        equal("no other device", Freshness.decode(unhex("0000000000000001")).ages().length, 0);
    }

    private static final String BLOB = "40404040 FFFF FFFF FFFF"; // every value at its limit
    private static final String SMALL = "01010103 0203 0405 0607";

    static void testVision() {
        ColorChannel[] none = ColorChannel.decode(unhex("01".repeat(64)));
        equal("channels", none.length, 32);
        equal("no blobs", List.of(none), Collections.nCopies(32, new ColorChannel(List.of())));

        ColorChannel[] two = ColorChannel.decode(unhex("0102", "0201".repeat(30), "0202", BLOB, SMALL));
        equal("first channel", two[0].blobs(), List.of(new ColorBlob(16777215, 254, 254, 254, 254, 254, 254)));
        equal("last channel", two[31].blob(0), new ColorBlob(2, 1, 2, 3, 4, 5, 6));
        equal("number", two[31].noBlobs(), 1);
        equal("between", two[30].noBlobs(), 0);

        StringBuilder full = new StringBuilder(); // 320 blobs: the index stops at 254
        for (int c = 0; c < 32; c++) {
            full.append(String.format("%02x0b", Math.min(10 * c, 254) + 1));
        }
        ColorChannel[] all = ColorChannel.decode(unhex(full.toString(), BLOB.repeat(319), SMALL));
        equal("last blob of the largest image", all[31].blob(9), new ColorBlob(2, 1, 2, 3, 4, 5, 6));
    }

    static void testWrongVision() {
        Map.of("one blob too few", "0102" + "0201".repeat(31),
                "one blob too many", "01".repeat(64) + BLOB,
                "half a blob", "0102" + "0201".repeat(31) + "0101010101",
                "11 blobs", "010C" + "0C01".repeat(31) + BLOB.repeat(11),
                "no count", "0100" + "0101".repeat(31),
                "wrong index", "0201" + "0101".repeat(31),
                "area digit above 63", "0102" + "0201".repeat(31) + "01010141 0101 0101 0101",
                "area digit of zero", "0102" + "0201".repeat(31) + "01000101 0101 0101 0101",
                "zero in a blob", "0102" + "0201".repeat(31) + "01010101 0101 0101 0100")
                .forEach((what, hex) -> fails(what, PROTOCOL, () -> ColorChannel.decode(unhex(hex))));
        for (int size = 0; size < 64; size++) {
            byte[] b = new byte[size];
            fails("header of " + size, PROTOCOL, () -> ColorChannel.decode(b));
        }
    }

    static void testWrongSizes() {
        Map<String, Function<byte[], Object>> decoders = Map.of("21", Position::decode,
                "32", b -> Payload.ranges("sonar", b, 16), "722", b -> Payload.ranges("laser", b, 361),
                "3", Misc::decode, "2", Gripper::decode, "6", CameraFeedback::decode, "20", Joystick::decode);
        decoders.forEach((name, decode) -> {
            int size = Integer.parseInt(name);
            decode.apply(new byte[size]);
            for (int wrong : new int[] {0, size - 1, size + 1, 65535}) {
                fails(wrong + " bytes, not " + size, PROTOCOL, () -> decode.apply(new byte[wrong]));
            }
        });
        for (int size : new int[] {0, 1, 4, 7, 9, 11, 65535}) {
            fails("freshness of " + size, PROTOCOL, () -> Freshness.decode(new byte[size]));
        }
    }
}
