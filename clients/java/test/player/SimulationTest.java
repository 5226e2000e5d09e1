package player;

import static player.PlayerException.Kind.USAGE;
import static player.Tests.equal;
import static player.Tests.fails;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** The parts of a client of the simulation. TestSimulation of clients/conformance has the client. */
final class SimulationTest {
    private SimulationTest() {}

    static void testAddress() {
        fails("no address", USAGE, () -> new Simulation("a b", 1).state());
    }

    static void testMover() {
        var r0 = new Simulation.Mover("r0", true, 1, -2.5, 90, List.of());
        Simulation.State state = new Simulation.State(0, 0, false, false, 1, List.of(r0));
        equal("mover", state.mover("r0"), r0);
        equal("another mover", state.mover("r1"), null);
    }

    static void testJson() {
        equal("values", Json.parse(" { \"a\" : [ true , null , -1.5e1 , \"\\n\\/\\\"\" ] , \"b\" : { } } "),
                Map.of("a", Arrays.asList(true, null, -15.0, "\n/\""), "b", Map.of()));
        for (String text : List.of("", "{", "[1", "[1 2]", "{\"a\"}", "{\"a\":1,}", "\"", "tru", "1x", "{} {}", "[,]")) {
            try {
                Json.parse(text);
            } catch (IllegalArgumentException e) {
                continue;
            }
            throw new AssertionError(text + " is no JSON");
        }
    }
}
