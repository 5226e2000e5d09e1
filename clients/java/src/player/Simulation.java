package player;

import static player.PlayerException.Kind.CLOSED;
import static player.PlayerException.Kind.PROTOCOL;
import static player.PlayerException.Kind.REFUSED;
import static player.PlayerException.Kind.TIMEOUT;
import static player.PlayerException.Kind.USAGE;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;

/**
 * The world of a simulation (docs/STAGE.md), on the address of the dashboard: its true state, read and changed.
 *
 * <pre>{@code
 * Simulation world = new Simulation("localhost", 8080);
 * world.order(new Simulation.Order().seed(7).move("r0", 1, 0.5, 90));
 * double x = world.state().mover("r0").x();
 * }</pre>
 *
 * <p>It needs the right to read, and for order the right to write. A world in step changes between two of its steps:
 * right before its client requests the next data. All errors are {@link PlayerException}s; an order that is not possible
 * is REFUSED. Several threads may use it.
 */
public final class Simulation {
    private final String address;
    private final String scheme;
    private final HttpClient http;
    private volatile int timeout = 60_000;

    /**
     * A fiducial that a robot's fiducial finder sees.
     *
     * @param name of the robot or thing that has it
     * @param id its fiducial_return; 0: too far away to be identified
     * @param range m
     * @param bearing deg, counterclockwise from the direction of the finder
     */
    public record Sighting(String name, int id, double range, double bearing) {}

    /**
     * A robot, or a thing that can move.
     *
     * @param name its name
     * @param robot whether it is a robot
     * @param x m
     * @param y m
     * @param heading deg, counterclockwise from the x axis
     * @param sees the things that its fiducial finder sees
     */
    public record Mover(String name, boolean robot, double x, double y, double heading, List<Sighting> sees) {}

    /**
     * The true state of a world.
     *
     * @param time simulated seconds
     * @param speed simulated seconds a second; 0: as fast as possible
     * @param paused time stands still
     * @param finished quit_time has passed
     * @param seed of all random numbers
     * @param movers the robots, then the things
     */
    public record State(double time, double speed, boolean paused, boolean finished, long seed, List<Mover> movers) {
        /**
         * {@return the robot or thing of a name, null if there is none}
         *
         * @param name of the robot or thing
         */
        public Mover mover(String name) {
            return movers.stream().filter(m -> m.name.equals(name)).findFirst().orElse(null);
        }
    }

    /**
     * Orders for a world. They are carried out in the order of these methods, whatever the order of their calls, and
     * without another order in between.
     */
    public static final class Order {
        private boolean reset;
        private Long seed;
        private final List<String> moves = new ArrayList<>();
        private Double speed;
        private Boolean pause;
        private int step;

        /**
         * Changes nothing yet.
         */
        public Order() {}

        /**
         * All is as at the start, also the time; clients stay connected.
         *
         * @return this
         */
        public Order reset() {
            reset = true;
            return this;
        }

        /**
         * The same with another seed.
         *
         * @param n of all random numbers
         * @return this
         */
        public Order seed(long n) {
            seed = n;
            return this;
        }

        /**
         * A robot or a thing: m, deg counterclockwise from the x axis. All are moved or, without room, none.
         *
         * @param name of the robot or thing
         * @param x m
         * @param y m
         * @param heading deg, counterclockwise
         * @return this
         */
        public Order move(String name, double x, double y, double heading) {
            moves.add("{\"name\":" + Json.quote(name) + ",\"x\":" + x + ",\"y\":" + y + ",\"heading\":" + heading + "}");
            return this;
        }

        /**
         * 0 to 1000 simulated seconds a second; 0 is as fast as possible.
         *
         * @param times simulated seconds a second
         * @return this
         */
        public Order speed(double times) {
            speed = times;
            return this;
        }

        /**
         * Stops the time, or lets it go on.
         *
         * @param on true to stop the time
         * @return this
         */
        public Order pause(boolean on) {
            pause = on;
            return this;
        }

        /**
         * 0 to 1000 steps of 10 ms, also while the world is paused.
         *
         * @param n 0..1000
         * @return this
         */
        public Order step(int n) {
            step = n;
            return this;
        }

        private String json() {
            return "{\"reset\":" + reset + (seed == null ? "" : ",\"seed\":" + seed)
                    + (moves.isEmpty() ? "" : ",\"move\":[" + String.join(",", moves) + "]")
                    + (speed == null ? "" : ",\"speed\":" + speed) + (pause == null ? "" : ",\"pause\":" + pause)
                    + ",\"step\":" + step + "}";
        }
    }

    /**
     * Does not connect yet.
     *
     * @param host name or address of the server's computer
     * @param port of the server
     */
    public Simulation(String host, int port) {
        this(host, port, null);
    }

    /**
     * Asks by https. {@link Certificates} makes a context from PEM files; host is the name in the server's certificate.
     *
     * @param host name or address of the server's computer
     * @param port of the server
     * @param tls null: without TLS
     */
    public Simulation(String host, int port, SSLContext tls) {
        HttpClient.Builder builder = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1);
        scheme = tls == null ? "http://" : "https://";
        http = (tls == null ? builder : builder.sslContext(tls)).build();
        address = (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }

    /**
     * Sets the limit of each call, in ms. The default is 60000: a thousand steps of a crowd take seconds.
     *
     * @param ms milliseconds
     */
    public void setTimeout(int ms) {
        timeout = ms;
    }

    /**
     * Sets the limit of each call. The default is a minute.
     *
     * @param limit not zero
     */
    public void setTimeout(Duration limit) {
        if (limit.isNegative() || limit.isZero()) {
            throw new PlayerException(USAGE, "a limit of " + limit + " is none");
        }
        setTimeout(Deadline.milliseconds(limit));
    }

    /** {@return the state of the world} */
    public State state() {
        return ask("GET", "");
    }

    /**
     * Changes the world and returns the state afterwards.
     *
     * @param order the changes
     * @return the state afterwards
     */
    public State order(Order order) {
        return ask("POST", "?order=" + URLEncoder.encode(order.json(), StandardCharsets.UTF_8));
    }

    private State ask(String method, String query) {
        HttpResponse<String> response;
        try {
            response = http.send(HttpRequest.newBuilder(URI.create(scheme + address + "/simulation" + query))
                    .method(method, HttpRequest.BodyPublishers.noBody()).timeout(Duration.ofMillis(timeout)).build(),
                    HttpResponse.BodyHandlers.ofString());
        } catch (HttpTimeoutException e) {
            throw new PlayerException(TIMEOUT, address + " did not answer in " + timeout + " ms", e);
        } catch (InterruptedException | InterruptedIOException e) {
            Thread.currentThread().interrupt();
            throw new PlayerException(TIMEOUT, address + ": interrupted", e);
        } catch (IOException e) {
            throw new PlayerException(CLOSED, address + ": " + (e.getMessage() == null ? "no connection" : e.getMessage()), e);
        } catch (IllegalArgumentException e) {
            throw new PlayerException(USAGE, address + " is no address", e);
        }
        String text = response.body().strip();
        String reason = text.replaceAll("[\\p{C}\\p{Zl}\\p{Zp}]", "?"); // people see it on terminals
        switch (response.statusCode()) {
            case 200 -> {
                try {
                    return state(Json.parse(text));
                } catch (IllegalArgumentException | ClassCastException | NullPointerException e) {
                    throw new PlayerException(PROTOCOL, address + " is no dashboard of Player", e);
                }
            }
            case 400, 409 -> throw new PlayerException(REFUSED, reason);
            case 403 -> throw new PlayerException(USAGE, reason);
            case 404 -> throw new PlayerException(USAGE,
                    address + " serves no simulation: start the server with -stage and -http");
            default -> throw new PlayerException(PROTOCOL, address + ": " + response.statusCode() + " " + reason);
        }
    }

    private static State state(Object json) {
        Map<?, ?> state = (Map<?, ?>) json;
        List<Mover> movers = new ArrayList<>();
        for (Object o : (List<?>) state.get("movers")) {
            Map<?, ?> m = (Map<?, ?>) o;
            List<Sighting> sees = new ArrayList<>();
            for (Object seen : m.containsKey("sees") ? (List<?>) m.get("sees") : List.of()) {
                Map<?, ?> s = (Map<?, ?>) seen;
                sees.add(new Sighting((String) s.get("name"), (int) number(s, "id"), number(s, "range"), number(s, "bearing")));
            }
            movers.add(new Mover((String) m.get("name"), (Boolean) m.get("robot"), number(m, "x"), number(m, "y"),
                    number(m, "heading"), List.copyOf(sees)));
        }
        return new State(number(state, "time"), number(state, "speed"), (Boolean) state.get("paused"),
                (Boolean) state.get("finished"), (long) number(state, "seed"), List.copyOf(movers));
    }

    private static double number(Map<?, ?> object, String name) {
        return (Double) object.get(name);
    }
}
