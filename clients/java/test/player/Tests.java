package player;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;

/** Runs all static methods whose names begin with "test", and has methods for their checks. */
final class Tests {
    /** Bound in ms of waits for events that must happen. It is long because machines may be slow. */
    static final int LIMIT = 20_000;

    private Tests() {}

    public static void main(String[] args) throws IllegalAccessException {
        int passed = 0;
        int failed = 0;
        for (Class<?> tests : List.of(PayloadTest.class, SessionTest.class, CompactTest.class, PlayerClientTest.class,
                RobotTest.class, SimulationTest.class)) {
            for (Method m : tests.getDeclaredMethods()) {
                if (!m.getName().startsWith("test")) {
                    continue;
                }
                try {
                    m.invoke(null);
                    passed++;
                } catch (InvocationTargetException e) {
                    failed++;
                    System.out.println("FAIL " + tests.getSimpleName() + "." + m.getName());
                    e.getCause().printStackTrace(System.out);
                }
            }
        }
        System.out.println(passed + " tests passed, " + failed + " failed");
        System.exit(failed == 0 && passed > 0 ? 0 : 1);
    }

    static void equal(String what, Object got, Object want) {
        if (!Objects.deepEquals(got, want)) {
            throw new AssertionError(what + ": " + got + ", want " + want);
        }
    }

    /** Checks that call ends with an error of the given kind, and returns it. */
    static PlayerException fails(String what, PlayerException.Kind kind, Runnable call) {
        try {
            call.run();
        } catch (PlayerException e) {
            equal(what, e.kind, kind);
            return e;
        }
        throw new AssertionError(what + ": no error, want " + kind);
    }

    /** Decodes hex digits; spaces between bytes are ignored. */
    static byte[] unhex(String... hex) {
        return HexFormat.of().parseHex(String.join("", hex).replace(" ", ""));
    }

    /** Returns a server message. */
    static String block(char letter, String payload) {
        return String.format("%02x%04x", (int) letter, unhex(payload).length) + payload;
    }

    /** Returns the reply to a request. */
    static String reply(String pairs) {
        StringBuilder hex = new StringBuilder();
        pairs.chars().forEach(c -> hex.append(String.format("%02x", c)));
        return block('r', hex.toString());
    }
}
