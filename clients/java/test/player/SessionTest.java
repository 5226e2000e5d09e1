package player;

import static player.Tests.block;
import static player.Tests.equal;
import static player.Tests.reply;
import static player.Tests.unhex;

import java.util.Random;

/** The bytes of a connection, from inside. The cases of clients/conformance have the rounds. */
final class SessionTest {
    private SessionTest() {}

    private static int append(Session session, byte[] bytes, int at, int n) {
        byte[] room = session.room();
        n = Math.min(Math.min(n, bytes.length - at), room.length - session.end());
        System.arraycopy(bytes, at, room, session.end(), n);
        session.received(n);
        return n;
    }

    /** The largest message that the header can announce arrives whole, and the buffer does not grow beyond it. */
    static void testLargestMessage() {
        Session session = new Session();
        byte[] bytes = unhex(reply("Xr"), block('X', "07".repeat(65535)), block('X', "08".repeat(65535)));
        int at = 0;
        int rounds = 0;
        while (at < bytes.length) {
            at += append(session, bytes, at, 10_000);
            equal("room is bounded", session.room().length <= 65535 + 3, true);
            while (session.next() != Session.Event.NONE) {
                rounds += session.blocks['X'] == null ? 0 : 1;
            }
        }
        equal("rounds", rounds, 2);
        equal("payload", session.blocks['X'].payload().length, 65535);
    }

    static void testAccess() {
        Session session = new Session();
        byte[] bytes = unhex(reply("srpwlrpe"), reply("scpalr"), reply("zrlc"));
        append(session, bytes, 0, bytes.length);
        session.next();
        equal("the last pair of a device counts", session.open(), "srlr");
        session.next();
        equal("order of first opening", session.open(), "palr");
        session.next();
        equal("closed", session.open(), "pazr");
        equal("readers", session.readers, 2);
    }

    /** Random bytes are never more than a PROTOCOL error. */
    static void testNoise() {
        Random random = new Random(1);
        byte[] bytes = new byte[50_000];
        random.nextBytes(bytes);
        Session session = new Session();
        for (int at = 0; at < bytes.length;) {
            at += append(session, bytes, at, 1 + random.nextInt(1000));
            boolean more = true;
            while (more) {
                try {
                    more = session.next() != Session.Event.NONE;
                } catch (PlayerException e) {
                    equal("kind", e.kind, PlayerException.Kind.PROTOCOL);
                }
            }
        }
    }
}
