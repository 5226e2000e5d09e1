package player;

import static player.Tests.block;
import static player.Tests.equal;
import static player.Tests.fails;
import static player.Tests.reply;
import static player.Tests.unhex;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** The bytes of a connection in pieces of every size (PROTOCOL 1.4, 2, 3, 8). */
final class SessionTest {
    private SessionTest() {}

    private static final String S = block('s', "0001".repeat(16));
    private static final String P = block('p', "00".repeat(21));
    private static final String L = block('l', "0102".repeat(361));
    private static final String M = block('m', "00 00 7D");
    private static final String Z = block('z', "0001 0002 0003");

    /** What a server sends on one connection, and the letters of the rounds in it. */
    private record Stream(String name, String bytes, String... rounds) {}

    private static final List<Stream> STREAMS = List.of(
            new Stream("in the order of the request", reply("zrprlr") + Z + P + L + Z + P + L, "lpz", "lpz"),
            new Stream("incremental opening",
                    reply("lr") + L + L + reply("sr") + L + S + reply("pr") + L + S + P, "l", "l", "ls", "lps"),
            new Stream("a closed device", reply("srprzr") + S + P + Z + reply("sc") + P + Z, "psz", "pz"),
            new Stream("write only between", reply("srpwzr") + S + Z + reply("pa") + S + P + Z, "sz", "psz"),
            new Stream("failed between", reply("srqepr") + S + P, "ps"),
            new Stream("a round that broke off", reply("srpr") + S + S + P, "ps"),
            new Stream("a reply within a round", reply("srprmr") + S + reply("sc") + P + M, "mp"),
            new Stream("blocks without data", reply("srpr") + "730000" + P + "730000 700000", "ps", "ps"),
            new Stream("unknown letters",
                    reply("XrQr") + "580001 07" + "510000" + "580000" + "510002 0102", "QX", "QX"),
            new Stream("a block that was not asked for", reply("sr") + L + S + S, "s", "s"),
            new Stream("with y", reply("sryrpr") + block('y', "0000000000000010 00000001 00000002") + S + P
                    + block('y', "0000000000000020 00000001 FFFFFFFF") + S + "700000", "psy", "psy"),
            new Stream("only y",
                    reply("yr") + block('y', "0000000000000010") + block('y', "0000000000000020"), "y", "y"),
            new Stream("only what is new", reply("yrsrpr") + block('y', "0000000000000010 00000001") + S
                    + block('y', "0000000000000020 00000002") + P, "sy", "py"),
            new Stream("y closed again", reply("yrsr") + block('y', "0000000000000010 00000001") + S
                    + reply("yc") + S, "sy", "s"));

    /** Feeds bytes in pieces and returns the letters of each round. */
    private static List<String> rounds(byte[] bytes, int... pieces) {
        Session session = new Session();
        List<String> rounds = new ArrayList<>();
        int at = 0;
        for (int i = 0; at < bytes.length; i++) {
            at += append(session, bytes, at, i < pieces.length ? pieces[i] : pieces[pieces.length - 1]);
            Session.Event event;
            while ((event = session.next()) != Session.Event.NONE) {
                if (event == Session.Event.ROUND) {
                    StringBuilder letters = new StringBuilder();
                    for (char c = 0; c < 256; c++) {
                        if (session.blocks[c] != null && session.blocks[c].round() == session.round) {
                            letters.append(c);
                        }
                    }
                    rounds.add(letters.toString());
                }
            }
        }
        return rounds;
    }

    private static int append(Session session, byte[] bytes, int at, int n) {
        byte[] room = session.room();
        n = Math.min(Math.min(n, bytes.length - at), room.length - session.end());
        System.arraycopy(bytes, at, room, session.end(), n);
        session.received(n);
        return n;
    }

    static void testRoundsInOnePieceAndCutEverywhere() {
        for (Stream stream : STREAMS) {
            byte[] bytes = unhex(stream.bytes);
            List<String> want = Arrays.asList(stream.rounds);
            equal(stream.name, rounds(bytes, bytes.length), want);
            for (int n = 1; n < 9; n++) {
                equal(stream.name + " in pieces of " + n, rounds(bytes, n), want);
            }
            for (int cut = 1; cut < bytes.length; cut++) {
                equal(stream.name + " cut at " + cut, rounds(bytes, cut, bytes.length), want);
            }
        }
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

    /** A block of a wrong size is an error, its device has no data, and the next block is read correctly. */
    static void testWrongBlock() {
        Session session = new Session();
        byte[] bytes = unhex(reply("srpr"), S, P, block('s', "00".repeat(31)), P, S, P);
        append(session, bytes, 0, bytes.length);
        equal("reply", session.next(), Session.Event.REPLY);
        equal("sonar", session.next(), Session.Event.BLOCK);
        equal("round", session.next(), Session.Event.ROUND);
        equal("valid", session.blocks['s'].valid(), true);
        fails("31 bytes of sonar", PlayerException.Kind.PROTOCOL, session::next);
        equal("valid", session.blocks['s'].valid(), false);
        equal("the round goes on", session.next(), Session.Event.ROUND);
        equal("sonar", session.next(), Session.Event.BLOCK);
        equal("round", session.next(), Session.Event.ROUND);
        equal("valid", session.blocks['s'].valid(), true);
    }

    static void testWrongFreshness() {
        Session session = new Session();
        byte[] bytes = unhex(reply("yrsr"), S, block('y', "00"), "790000", block('y', "0000000000000020 00000005"), S);
        append(session, bytes, 0, bytes.length);
        session.next();
        for (String what : List.of("a block without y", "y of one byte", "y of no byte")) {
            fails(what, PlayerException.Kind.PROTOCOL, session::next);
        }
        equal("y", session.next(), Session.Event.BLOCK);
        equal("round", session.next(), Session.Event.ROUND);
        equal("time of the data", session.blocks['s'].taken(), 0x20L - 5);
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
