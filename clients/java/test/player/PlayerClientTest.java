package player;

import static player.PlayerException.Kind.CLOSED;
import static player.PlayerException.Kind.REFUSED;
import static player.PlayerException.Kind.USAGE;
import static player.Tests.LIMIT;
import static player.Tests.block;
import static player.Tests.equal;
import static player.Tests.fails;
import static player.Tests.reply;
import static player.Tests.unhex;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The client against a server that sends what the test states. The cases of clients/conformance have the others. */
final class PlayerClientTest {
    private PlayerClientTest() {}

    private static final class Server implements AutoCloseable {
        private final ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        private Socket socket;

        Server() throws IOException {
            listener.setSoTimeout(LIMIT);
        }

        PlayerClient connect() throws IOException {
            String host = listener.getInetAddress().getHostAddress();
            PlayerClient client = new PlayerClient(host, listener.getLocalPort(), LIMIT);
            accept();
            return client;
        }

        void accept() throws IOException {
            socket = listener.accept();
            socket.setSoTimeout(LIMIT);
        }

        void send(String... hex) throws IOException {
            socket.getOutputStream().write(unhex(hex));
        }

        void expect(String what, String hex) throws IOException {
            byte[] want = unhex(hex);
            byte[] got = socket.getInputStream().readNBytes(want.length);
            equal(what, HexFormat.of().formatHex(got), HexFormat.of().formatHex(want));
        }

        /** The server is gone: it closes the connection and no longer listens. */
        void end() throws IOException {
            listener.close();
            if (socket != null) {
                socket.close();
            }
        }

        @Override
        public void close() throws IOException {
            end();
        }
    }

    static void testRefused() throws IOException {
        try (Server server = new Server(); PlayerClient robot = server.connect()) {
            server.send(reply("srpe") + block('Y', "650A 70206F666620696620") + reply(""));
            PlayerException e = fails("refused", REFUSED, () -> robot.request("srpa"));
            equal("text", e.getMessage(), "asked for \"srpa\", granted \"srpe\"; device p: if ");
            server.send(reply("sr"));
            equal("downgrade", robot.request("sr"), "sr");
        }
    }

    static void testUsage() throws IOException {
        try (Server server = new Server(); PlayerClient robot = server.connect()) {
            fails("nothing open", USAGE, robot::getData);
            fails("half a pair", USAGE, () -> robot.request("srp"));
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
