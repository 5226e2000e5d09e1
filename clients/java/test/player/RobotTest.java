package player;

import static player.PlayerClientTest.DEVICES;
import static player.PlayerClientTest.QUESTION;
import static player.PlayerClientTest.answer;
import static player.PlayerException.Kind.CLOSED;
import static player.PlayerException.Kind.GOAL;
import static player.PlayerException.Kind.REFUSED;
import static player.PlayerException.Kind.TIMEOUT;
import static player.PlayerException.Kind.USAGE;
import static player.Tests.LIMIT;
import static player.Tests.block;
import static player.Tests.equal;
import static player.Tests.fails;
import static player.Tests.reply;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** Devices as objects, against a server that sends the bytes of the test. */
final class RobotTest {
    private RobotTest() {}

    private static String sonars(int mm) {
        return block('s', String.format("%04x", mm).repeat(16));
    }

    static void testDevices() throws IOException {
        try (Server server = new Server(); Robot robot = server.robot()) {
            server.send(reply("sr"), reply("pa"), DEVICES, reply(""), reply("\u0080r"), reply("\u0083a"));
            Sensor<Ranges> sonar = robot.sonar().open();
            Wheels wheels = robot.wheels().open();
            Sensor<Ranges> rear = robot.lasers().get(1).open();
            Joints arm = robot.joints().open();
            server.expect("requests", "64720002 7372 64720002 7061" + QUESTION + "64720002 8072 64720002 8361");
            equal("no data", sonar.latest(), Optional.empty());
            server.send(DEVICES, reply(""), DEVICES, reply(""));
            equal("imus", robot.imus().size(), 1);
            fails("another device", REFUSED, () -> robot.gps().open());
            server.send(block('p', ""), block(rear.code(), "0101".repeat(361)), block(arm.code(), "80000000 00000005 8A"),
                    sonars(7));
            Round round = robot.read();
            equal("sonar", round.get(sonar).orElseThrow().mm(15), 7);
            equal("rear", round.get(rear).orElseThrow().mm(360), 257);
            equal("no data of the wheels", round.get(wheels), Optional.empty());
            server.send(DEVICES, reply(""));
            equal("the same", robot.lasers().get(1) == rear, true);
            wheels.drive(-1, 40000);
            arm.move(1, 5);
            arm.stop();
            server.expect("the lists", QUESTION + QUESTION + QUESTION);
            server.expect("commands", "63700004 FFFF7FFF 63830009 01 00000005 00000000 63830009 FF 80000000 00000000");
            fails("closed", USAGE, () -> robot.camera().point(0, 0, 0));
            fails("never open", USAGE, () -> robot.io().set(0, 1));
        }
    }

    /** A program that changes an array changes a copy. */
    static void testUnchanging() throws IOException {
        try (Server server = new Server(); Robot robot = server.robot()) {
            server.send(reply("sr"), sonars(7));
            Ranges ranges = robot.sonar().open().read();
            ranges.toArray()[0] = 1;
            equal("ranges", ranges.mm(0), 7);
        }
        Ranger ranger = Ranger.decode(new byte[] {0, 1, 0, 9});
        ranger.ranges()[0] = 1;
        equal("ranger", ranger.ranges()[0], 9);
    }

    /** Data of the first round without any are waited for, and rounds without them have an end. */
    static void testRead() throws IOException {
        try (Server server = new Server(); Robot robot = server.robot()) {
            server.send(reply("sr"), block('s', ""), sonars(9));
            Sensor<Ranges> sonar = robot.sonar().open();
            equal("data", sonar.read().mm(0), 9);
            robot.setTimeout(Duration.ofNanos(1));
            server.send(block('s', ""));
            fails("no data", TIMEOUT, sonar::read);
        }
    }

    static void testListen() throws Exception {
        try (Server server = new Server(); Robot robot = server.robot()) {
            server.send(reply("sr"));
            Sensor<Ranges> sonar = robot.sonar().open();
            List<Integer> seen = new ArrayList<>();
            CompletableFuture<Void> end = robot.listen(round -> seen.add(round.get(sonar).orElseThrow().mm(0)));
            server.send(sonars(1), sonars(2));
            server.end();
            try {
                end.get(LIMIT, TimeUnit.MILLISECONDS);
            } catch (ExecutionException e) {
                equal("why", ((PlayerException) e.getCause()).kind, CLOSED);
            }
            equal("rounds", seen, List.of(1, 2));
        }
    }

    static void testSettings() throws IOException {
        try (Server server = new Server(); Robot robot = server.robot()) {
            robot.setCommandLifetime(Duration.ofMillis(500));
            fails("too short", USAGE, () -> robot.setCommandLifetime(Duration.ofNanos(1)));
            fails("negative", USAGE, () -> robot.setCommandLifetime(Duration.ofSeconds(-1)));
            fails("too long", USAGE, () -> robot.setCommandLifetime(Duration.ofDays(100)));
            fails("negative limit", USAGE, () -> robot.setTimeout(Duration.ofNanos(-1)));
            server.send(reply("yr"));
            robot.setFresh(true);
            server.expect("settings", "78790003 6C01F4 64720002 7972 78790002 6E01");
        }
    }

    static void testColors() throws IOException {
        try (Server server = new Server(); Robot robot = server.robot()) {
            server.send(answer("v", "v 0 ffa500", "v 32 ffffff", "v 1 red", "v 31 00FF00 more", "q"), reply(""));
            equal("colours", robot.colors(),
                    List.of(new ChannelColor('v', 0, 0xFFA500), new ChannelColor('v', 31, 0x00FF00)));
        }
    }

    private static final String GOTO = answer("d", "140 goto 0 goto");

    /** A goto server: it answers each command with data of the goal, in the given states. */
    private static CompletableFuture<Void> serve(Server server, int... states) {
        return CompletableFuture.runAsync(() -> {
            try {
                for (int state : states) {
                    byte[] command = server.socket.getInputStream().readNBytes(24);
                    String goal = HexFormat.of().formatHex(command, 4, 24);
                    String tag = goal.substring(36);
                    server.send(block('\u008c', String.format("%02x%02x", state, state == 4 ? 6 : 0) + tag
                            + goal.substring(0, 20) + "00000010"));
                }
            } catch (IOException e) {
                throw new CompletionException(e);
            }
        });
    }

    static void testGoTo() throws Exception {
        try (Server server = new Server(); Robot robot = server.robot()) {
            server.send(GOTO, reply(""), reply("\u008ca"));
            GoTo goTo = robot.goTo().open();
            server.expect("open", QUESTION + "64720002 8c61");
            CompletableFuture<Void> served = serve(server, 1, 3, 2);
            List<GotoData.State> states = new ArrayList<>();
            GotoData end = goTo.drive(Goal.at(1000, -2000).withHeading(-90), data -> states.add(data.doing()));
            served.get(LIMIT, TimeUnit.MILLISECONDS);
            equal("states", states, List.of(GotoData.State.DRIVING, GotoData.State.BLOCKED, GotoData.State.ARRIVED));
            equal("heading", end.headingDeg(), 270);
            equal("distance", end.distanceMm(), 16L);
            served = serve(server, 1, 4);
            equal("given up", fails("given up", GOAL, () -> goTo.drive(Goal.at(1, 2))).getMessage(),
                    "the robot has not arrived at (1, 2) mm: it has found no way");
            served.get(LIMIT, TimeUnit.MILLISECONDS);
            served = serve(server, 1);
            CompletableFuture<Void> other = served.thenRun(() -> {
                try {
                    server.send(block('\u008c', "0100 0000 00000007 00000007 FFFF 00000010"));
                } catch (IOException e) {
                    throw new CompletionException(e);
                }
            });
            equal("replaced", fails("replaced", GOAL, () -> goTo.drive(Goal.at(1, 2))).getMessage(),
                    "another goal has replaced this one");
            other.get(LIMIT, TimeUnit.MILLISECONDS);
            fails("16 bits", USAGE, () -> Goal.at(0, 0).withSpeed(-1));
        }
    }

    /** An exception of the program stops the robot. */
    static void testGoToInterrupted() throws Exception {
        try (Server server = new Server(); Robot robot = server.robot()) {
            server.send(GOTO, reply(""), reply("\u008ca"));
            GoTo goTo = robot.goTo().open();
            server.expect("open", QUESTION + "64720002 8c61");
            CompletableFuture<Void> served = serve(server, 1);
            try {
                goTo.drive(Goal.at(1, 2), data -> {
                    throw new IllegalStateException();
                });
                throw new AssertionError("no error");
            } catch (IllegalStateException e) {
                served.get(LIMIT, TimeUnit.MILLISECONDS);
                server.expect("stop", "638c0014 80000000" + "00".repeat(16));
            }
        }
    }
}
