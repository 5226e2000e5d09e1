package player;

import static player.PlayerException.Kind.CLOSED;
import static player.PlayerException.Kind.PROTOCOL;
import static player.PlayerException.Kind.REFUSED;
import static player.PlayerException.Kind.TIMEOUT;
import static player.PlayerException.Kind.USAGE;
import static player.Tests.equal;
import static player.Tests.fails;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/** The simulation, against a server that answers what the test states. The conformance suite has the real one. */
final class SimulationTest {
    private SimulationTest() {}

    /** Calls test with a Simulation at a server that answers with a status and a text, and returns what it was asked. */
    private static String serving(int status, String text, Consumer<Simulation> test) throws IOException {
        AtomicReference<String> asked = new AtomicReference<>();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/simulation", exchange -> {
            String query = exchange.getRequestURI().getRawQuery();
            asked.set(exchange.getRequestMethod() + (query == null ? "" : " " + URLDecoder.decode(query, StandardCharsets.UTF_8)));
            byte[] body = text.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        try {
            test.accept(new Simulation("127.0.0.1", server.getAddress().getPort()));
        } finally {
            server.stop(0);
        }
        return asked.get();
    }

    static void testState() throws IOException {
        String text = """
                {"time":1.5,"speed":0,"paused":true,"finished":false,"seed":7,"later":[],"movers":[
                {"name":"r\\"0\\u00e9","robot":true,"x":1,"y":-2.5e0,"heading":90,"sees":[{"name":"é","id":3,"range":2,"bearing":-90}]}]}""";
        String asked = serving(200, text, world -> {
            var r0 = new Simulation.Mover("r\"0é", true, 1, -2.5, 90, List.of(new Simulation.Sighting("é", 3, 2, -90)));
            Simulation.State state = world.state();
            equal("state", state, new Simulation.State(1.5, 0, true, false, 7, List.of(r0)));
            equal("mover", state.mover("r\"0é"), r0);
            equal("another mover", state.mover("r1"), null);
        });
        equal("the request", asked, "GET");
    }

    static void testOrder() throws IOException {
        var order = new Simulation.Order().step(5).pause(false).speed(0).move("a \"&b", 1, 2.5, -90).move("c", 0, 0, 0).seed(7).reset();
        String asked = serving(200, "{\"time\":0,\"speed\":0,\"paused\":false,\"finished\":false,\"seed\":7,\"movers\":[]}",
                world -> equal("seed", world.order(order).seed(), 7L));
        equal("the request", asked, "POST order={\"reset\":true,\"seed\":7,\"move\":[{\"name\":\"a \\u0022&b\",\"x\":1.0,\"y\":2.5,"
                + "\"heading\":-90.0},{\"name\":\"c\",\"x\":0.0,\"y\":0.0,\"heading\":0.0}],\"speed\":0.0,\"pause\":false,\"step\":5}");
    }

    static void testErrors() throws IOException {
        var order = new Simulation.Order().reset();
        serving(409, "there is no room for r0\n",
                world -> equal("text", fails("409", REFUSED, () -> world.order(order)).getMessage(), "there is no room for r0"));
        serving(409, "no\u001b[2J\u202e",
                world -> equal("text", fails("409", REFUSED, () -> world.order(order)).getMessage(), "no?[2J?"));
        serving(400, "write step", world -> fails("400", REFUSED, () -> world.order(order)));
        serving(403, "your computer may read", world -> fails("403", USAGE, () -> world.order(order)));
        serving(404, "404 page not found", world -> fails("404", USAGE, world::state));
        serving(503, "stopped", world -> fails("503", PROTOCOL, world::state));
        for (String text : List.of("<html>", "null", "[]", "{\"movers\":[{}]}", "{\"movers\":", "1 2")) {
            serving(200, text, world -> fails(text, PROTOCOL, world::state));
        }
        fails("nobody there", CLOSED, () -> new Simulation("127.0.0.1", 1).state());
        fails("no address", USAGE, () -> new Simulation("a b", 1).state());
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Simulation world = new Simulation("127.0.0.1", silent.getLocalPort());
            world.setTimeout(50);
            fails("silence", TIMEOUT, world::state);
        }
    }

    static void testJson() {
        equal("values", Json.parse(" { \"a\" : [ true , null , -1.5e1 , \"\\n\\/\\\"\" ] , \"b\" : { } } "),
                Map.of("a", java.util.Arrays.asList(true, null, -15.0, "\n/\""), "b", Map.of()));
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
