package player;

import static player.Tests.LIMIT;
import static player.Tests.equal;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** The examples on a simulated robot. They need the server: its file is in the environment variable PLAYER. */
final class SimulatorTest {
    private SimulatorTest() {}

    private static final String WORLDS = "../../simulation/worlds/"; // from clients/java
    private static final int BESIDE = 1000; // mm; a wall at the right is at most this far from the sonars there

    /** A server with a simulated robot of its own. */
    private static final class Simulator implements AutoCloseable {
        final int port = freePort();
        private final Process process;

        Simulator(String program, String world) throws IOException {
            process = new ProcessBuilder(program, "-stage", WORLDS + world, "-http", "off", "-bind",
                    "127.0.0.1", "-gp", "" + port)
                    .redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
        }

        /** A port that was free a moment ago, below those that the kernel gives to others. */
        private static int freePort() {
            while (true) {
                int port = ThreadLocalRandom.current().nextInt(10000, 32000);
                try {
                    new ServerSocket(port, 1, InetAddress.getLoopbackAddress()).close();
                    return port;
                } catch (IOException e) {
                    // somebody has it
                }
            }
        }

        /** Connects as soon as the server listens. */
        PlayerClient connect() {
            long end = System.nanoTime() + LIMIT * 1_000_000L;
            while (true) {
                try {
                    return new PlayerClient("127.0.0.1", port, LIMIT);
                } catch (PlayerException e) {
                    if (!process.isAlive() || System.nanoTime() > end) {
                        throw e;
                    }
                    Thread.onSpinWait();
                }
            }
        }

        @Override
        public void close() {
            process.destroy();
            process.onExit().orTimeout(LIMIT, TimeUnit.MILLISECONDS).join();
        }
    }

    /**
     * What a second client sees while an example runs.
     *
     * @param output what the example prints
     * @param way    mm
     * @param stalls rounds with a stalled motor
     * @param beside percentage of the rounds with a wall at the right
     */
    private record Drive(String output, int way, int stalls, int beside) {
        static Drive of(String example, String world, int rounds) throws Exception {
            String program = System.getenv("PLAYER");
            try (Simulator simulator = new Simulator(program, world); PlayerClient observer = simulator.connect()) {
                observer.request("prsr");
                observer.getData();
                String jvm = Path.of(System.getProperty("java.home"), "bin", "java").toString();
                Process process = new ProcessBuilder(jvm, "-cp", System.getProperty("java.class.path"), example,
                        "127.0.0.1", "" + simulator.port, "" + rounds)
                        .redirectErrorStream(true).start();
                var output = CompletableFuture.supplyAsync(() -> {
                    try {
                        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                    } catch (IOException e) {
                        return e.toString();
                    }
                });
                double way = 0;
                int stalls = 0;
                int beside = 0;
                int all = 0;
                Position before = observer.position;
                while (process.isAlive()) {
                    observer.getData();
                    Position p = observer.position;
                    way += Math.hypot(p.x() - before.x(), p.y() - before.y());
                    stalls += p.stalled() ? 1 : 0;
                    before = p;
                    all++;
                    beside += Math.min(observer.sonar[7], observer.sonar[8]) < BESIDE ? 1 : 0;
                }
                String text = output.get(LIMIT, TimeUnit.MILLISECONDS);
                equal(example + " ends well: " + text, process.exitValue(), 0);
                return new Drive(text, (int) way, stalls, 100 * beside / all);
            }
        }
    }

    private static boolean available() {
        if (System.getenv("PLAYER") != null) {
            return true;
        }
        if (System.getenv("CI") != null) {
            throw new AssertionError("the environment has no PLAYER");
        }
        System.out.println("skipped: PLAYER does not name the server's binary");
        return false;
    }

    /** Runs an example that must drive at least way mm, with a wall at the right in at least beside percent. */
    private static void drives(String example, String world, int rounds, int way, int beside) throws Exception {
        if (available()) {
            if (System.getenv("ACCEPTANCE") == null) { // a third is enough to see that it drives
                rounds /= 3;
                way /= 3;
            }
            Drive drive = Drive.of(example, world, rounds);
            System.out.printf("%s: %d mm, a wall at the right for %d %%%n", example, drive.way, drive.beside);
            equal(example + " stalls", drive.stalls, 0);
            equal(example + " drives", drive.way >= way && drive.beside >= beside, true);
        }
    }

    static void testHello() throws Exception {
        drives("Hello", "room.world", 50, 100, 0);
    }

    static void testObstacleAvoidance() throws Exception {
        drives("ObstacleAvoidanceUsingSonar", "subsumption-box.world", 300, 2000, 0);
    }

    static void testFollowWall() throws Exception {
        drives("FollowWall", "room.world", 500, 5000, 50);
    }

    static void testWatch() throws Exception {
        if (available()) {
            Drive drive = Drive.of("Watch", "room.world", 20);
            equal("it does not drive", drive.way, 0);
            equal("it prints the sonars with their age: " + drive.output, drive.output.contains("sonar ahead"), true);
        }
    }
}
