package player;

import static player.PlayerException.Kind.CLOSED;
import static player.PlayerException.Kind.REFUSED;
import static player.PlayerException.Kind.USAGE;
import static player.Tests.LIMIT;
import static player.Tests.block;
import static player.Tests.equal;
import static player.Tests.fails;
import static player.Tests.reply;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/** The client against a server that sends the bytes of the test. The cases of clients/conformance have the others. */
final class PlayerClientTest {
    private PlayerClientTest() {}

    static void testRefused() throws IOException {
        try (Server server = new Server(); PlayerClient robot = server.connect()) {
            server.send(reply("srpe") + block('Y', "650A 70206F666620696620") + reply(""));
            PlayerException e = fails("refused", REFUSED, () -> robot.request("srpa"));
            equal("text", e.getMessage(), "asked for \"srpa\", granted \"srpe\"; device p: if ");
            server.send(reply("sr"));
            equal("downgrade", robot.request("sr"), "sr");
        }
    }

    /** A robot with a second laser, an imu and a servo, and without an io device. */
    static final String DEVICES =
            answer("d", "108 laser 0 sick", "128 laser 1 urg", "130 imu 0 a driver", "131 servo 0 arm");
    static final String QUESTION = "78790002 7164 64720000";

    static String answer(String question, String... lines) {
        String text = question + "\n" + String.join("\n", lines);
        return block('Y', HexFormat.of().formatHex(text.getBytes(StandardCharsets.ISO_8859_1)));
    }

    static void testNamed() throws IOException {
        try (Server server = new Server(); PlayerClient robot = server.connect()) {
            server.send(DEVICES + reply("") + reply("\u0082r") + reply("\u0083a") + reply("\u0080r"));
            char imu = robot.open("imu", 'r');
            char servo = robot.open("servo", 'a');
            char rear = robot.open("laser:1", 'r');
            equal("bytes", "" + imu + servo + rear, "\u0082\u0083\u0080");
            server.expect("requests", QUESTION + "64720002 8272 64720002 8361 64720002 8072");
            equal("no data", robot.data(imu, IMU.class), null);
            server.send(block(imu, "00".repeat(35) + "01"), block(servo, "80000000 00000005 8A"),
                    block(rear, "0101".repeat(361)));
            robot.getData();
            equal("imu", robot.data(imu, IMU.class).zMmPerS2(), 1);
            equal("second laser", robot.data(rear, int[].class)[360], 257);
            equal("first laser", robot.laser[360], 0);
            fails("another type", USAGE, () -> robot.data(imu, GPS.class));
            robot.moveJoint(servo, 1, -1, 0xFFFFFFFFL);
            robot.stopJoints(servo);
            server.expect("commands", "63830009 01 FFFFFFFF FFFFFFFF 63830009 FF 80000000 00000000");
            fails("joint", USAGE, () -> robot.moveJoint(servo, 256, 0, 0));
            fails("speed", USAGE, () -> robot.moveJoint(servo, 0, 0, -1));
            fails("no access", USAGE, () -> robot.setOutput(imu, 0, 1));
            for (String name : List.of("imu:", ":1", "imu:-1", "")) {
                fails(name, USAGE, () -> robot.open(name, 'r'));
            }
            server.send(DEVICES + reply("") + reply("")); // of the second request for the list, and of an older server
            PlayerException none = fails("missing", REFUSED, () -> robot.open("gps", 'r'));
            equal("text", none.getMessage(), "no such device: gps:0: the robot has [laser:0, laser:1, imu:0, servo:0]");
            fails("older", REFUSED, () -> robot.open("gps", 'r'));
            server.send(reply("") + reply("sr"));
            equal("letter", robot.open("sonar", 'r'), 's');
            server.send(reply(imu + "ele"), answer("e", "imu:0 hardware unplugged"), answer("e", "l off it is"),
                    reply(""));
            PlayerException e = fails("refused", REFUSED, () -> robot.request(imu + "rlr"));
            equal("why", e.reasons, Map.of('l', new PlayerException.Reason("off", "it is"),
                    imu, new PlayerException.Reason("hardware", "unplugged")));
            equal("names", e.getMessage(),
                    "asked for \"imu:0 rlr\", granted \"imu:0 ele\"; device l: it is; device imu:0: unplugged");
            server.send(answer("g", "laser:1 0 1 2 3 4 5 6 7", "laser:7 0 1 2 3 4 5 6 7", "l 0 0 0 0 0 0 0 0"),
                    reply(""));
            equal("parts", robot.geometry().stream().map(part -> robot.nameOf(part.device())).toList(),
                    List.of("laser:1", "l"));
        }
    }

    /** The devices are listed again, before they are requested. */
    static void testDevicesOfANewServer() throws IOException {
        try (Server server = new Server(); PlayerClient robot = server.connect()) {
            server.send(DEVICES + reply("") + reply("\u0082r"));
            robot.open("imu", 'r');
            for (String list : List.of(DEVICES, answer("d", "130 laser 1 urg", "131 imu 0 a driver"))) {
                server.socket.close();
                CompletableFuture<Void> again = CompletableFuture.runAsync(robot::reconnect);
                server.accept();
                server.expect("question", QUESTION);
                server.send(list + reply(""));
                if (list.equals(DEVICES)) {
                    server.expect("request", "64720002 8272");
                    server.send(reply("\u0082r"));
                    again.join();
                    continue;
                }
                PlayerException e = fails("moved", REFUSED, () -> {
                    try {
                        again.join();
                    } catch (CompletionException wrapped) {
                        throw (PlayerException) wrapped.getCause();
                    }
                });
                equal("why", e.reasons.get('\u0082').why(), "moved");
            }
            fails("nothing is open", USAGE, robot::getData);
            server.socket.close();
            CompletableFuture<Void> empty = CompletableFuture.runAsync(robot::reconnect);
            server.accept();
            server.send(answer("d", "130 laser 1 urg", "131 imu 0 a driver") + reply(""));
            empty.join(); // devices that it had before are not requested
            server.expect("only the question", QUESTION);
            server.send(reply("\u0083r"));
            equal("the new list is known", robot.open("imu", 'r'), '\u0083');
            server.expect("request", "64720002 8372");
            server.socket.close();
            CompletableFuture<Void> again = CompletableFuture.runAsync(robot::reconnect);
            server.accept();
            server.send(answer("d", "130 laser 1 urg", "131 imu 0 a driver") + reply("") + reply("\u0083r"));
            server.expect("request of the new byte", QUESTION + "64720002 8372");
            again.join();
        }
    }

    static void testUsage() throws IOException {
        try (Server server = new Server(); PlayerClient robot = server.connect()) {
            fails("nothing open", USAGE, robot::getData);
            fails("half a pair", USAGE, () -> robot.request("srp"));
            fails("a device of more than a byte", USAGE, () -> robot.request("s\u0155pw"));
            server.send(reply("yr"), reply("ycsr"), reply("gw"));
            robot.request("yr");
            robot.setFresh(true);
            robot.request("ycsr");
            fails("fresh after y was closed", USAGE, robot::getData);
            robot.request("gw");
            fails("a command of more than a byte", USAGE, () -> robot.setGripper(256));
            fails("a negative argument", USAGE, () -> robot.setGripper(PlayerClient.GRIPpress, -1));
            fails("a negative frequency", USAGE, () -> robot.setFrequency(-1));
            fails("a long message", USAGE, () -> robot.command('g', new byte[513]));
        }
    }

    static void testSetVision() throws IOException {
        try (Server server = new Server(); PlayerClient robot = server.connect()) {
            server.send(reply("zw"));
            robot.request("zw");
            robot.setVision(-100, 1023, 25);
            server.expect("request and camera", "64720002 7a77 637a0006 ff9c001903ff");
        }
    }

    static void testServerGone() throws IOException {
        try (Server server = new Server(); PlayerClient robot = server.connect()) {
            server.send(reply("sr"));
            robot.request("sr");
            server.end();
            fails("gone", CLOSED, robot::getData);
            fails("another thread", CLOSED, () -> robot.awaitData(0));
        }
    }

    /** While a client connects again, its devices are closed. */
    static void testReconnect() throws Exception {
        try (Server server = new Server(); PlayerClient robot = server.connect()) {
            server.send(reply("pa"));
            robot.request("pa");
            server.expect("request", "64720002 7061");
            server.socket.close();
            CompletableFuture<Void> again = CompletableFuture.runAsync(robot::reconnect);
            server.accept();
            server.expect("the device that was open", "64720002 7061");
            fails("a command before its device is open", CLOSED, () -> robot.setSpeed(3, 4));
            server.send(reply("pa"));
            again.get(LIMIT, TimeUnit.MILLISECONDS);
            robot.setSpeed(1, 2);
            server.expect("speed", "63700004 00010002");
        }
    }

    /** Another thread sees each round whole, and is woken by it. */
    static void testAnotherThread() throws Exception {
        try (Server server = new Server(); PlayerClient robot = server.connect()) {
            server.send(reply("srmr"));
            robot.request("srmr");
            int rounds = 500;
            CompletableFuture<Integer> seen = CompletableFuture.supplyAsync(() -> {
                long last = 0;
                int different = 0;
                while (last < rounds) {
                    last = robot.awaitData(last);
                    synchronized (robot) {
                        if (robot.sonar[0] % 256 != robot.misc.battery()) {
                            different++;
                        }
                    }
                }
                return different;
            });
            for (int i = 0; i < rounds; i++) {
                server.send(block('s', String.format("%04x", i).repeat(16)),
                        block('m', String.format("0000%02x", i % 256)));
                robot.getData();
            }
            equal("rounds that were not whole", seen.get(LIMIT, TimeUnit.MILLISECONDS), 0);
        }
    }

    static void testCloseWakesOtherThreads() throws Exception {
        try (Server server = new Server()) {
            PlayerClient robot = server.connect();
            server.send(reply("sr"));
            robot.request("sr");
            CompletableFuture<Void> reader = CompletableFuture.runAsync(() -> fails("reader", CLOSED, robot::getData));
            CompletableFuture<Void> waiter = CompletableFuture.runAsync(
                    () -> fails("waiter", CLOSED, () -> robot.awaitData(0)));
            robot.close();
            reader.get(LIMIT, TimeUnit.MILLISECONDS);
            waiter.get(LIMIT, TimeUnit.MILLISECONDS);
        }
    }

    static void testVisionFields() throws IOException {
        try (Server server = new Server(); PlayerClient robot = server.connect()) {
            equal("no colours before data", robot.howManyColorsInCameraImage(), 0);
            server.send(reply("vr"),
                    block('v', "0101 0102 0202" + "0301".repeat(29) + "01010103 0203 0405 0607".repeat(2)));
            robot.request("vr");
            robot.getData();
            equal("colours", robot.howManyColorsInCameraImage(), 2);
            equal("active", robot.activeChannel[1], 2);
            equal("area", robot.channel[robot.activeChannel[0]].blob(0).area(), 2);
        }
    }
}
