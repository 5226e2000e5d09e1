package player;

import static player.Tests.equal;
import static player.Tests.unhex;

/** The names of bits. The cases of clients/conformance have the payloads at their limits. */
final class PayloadTest {
    private PayloadTest() {}

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
