package player;

import static player.PlayerException.Kind.CLOSED;
import static player.PlayerException.Kind.PROTOCOL;
import static player.PlayerException.Kind.REFUSED;
import static player.PlayerException.Kind.TIMEOUT;
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

/** The client against a server that sends what the test states, and may send before it is asked. */
final class PlayerClientTest {
    private PlayerClientTest() {}

    private static final String SONAR = block('s', "0001".repeat(16));
    private static final String POSITION = block('p', "00000001 00000002 FFFFFFFD 0004 0005 FFFA 0007 00");

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

    static void testRequestAndData() throws IOException {
        try (Server server = new Server(); PlayerClient robot = server.connect()) {
            server.send(reply("srpa"), SONAR, POSITION);
            robot.request("srpa");
            server.expect("request", "64720004 73727061");
            equal("data before getData", robot.has('s'), false);
            robot.getData();
            equal("position", robot.position, new Position(1, 2, -3, 4, 5, -6, 7, 0));
            equal("sonar", robot.sonar[15], 1);
            equal("has", robot.has('p') && robot.isNew('p') && !robot.has('l') && !robot.isNew('l'), true);
            equal("raw", robot.raw('s').length, 32);
            equal("raw of a device without data", robot.raw('l'), null);
            equal("age without y", robot.age('s').isPresent(), false);
        }
    }

    static void testRefused() throws IOException {
        try (Server server = new Server(); PlayerClient robot = server.connect()) {
            server.send(reply("srpe") + block('Y', "650A 70206F666620696620") + reply(""));
            PlayerException e = fails("refused", REFUSED, () -> robot.request("srpa"));
            equal("granted", e.granted, "srpe");
            equal("reasons", e.reasons.toString(), "{p=Reason[why=off, text=if ]}");
            equal("text", e.getMessage(), "asked for \"srpa\", granted \"srpe\"; device p: if ");
            server.send(reply("sa"));
            equal("superset", robot.request("sw"), "sa");
            server.send(reply("sr"));
            equal("downgrade", robot.request("sr"), "sr");
            server.send(SONAR);
            robot.getData(); // what was granted is in force
            fails("no write access", USAGE, () -> robot.setSpeed(1, 1));
            server.send(reply("lr"));
            fails("the reply answers another request", PROTOCOL, () -> robot.request("sr"));
        }
    }

    static void testMessages() throws IOException {
        try (Server server = new Server(); PlayerClient robot = server.connect()) {
            server.send(reply("pazwgwyr"));
            robot.request("pazwgwyr");
            server.expect("request", "64720008 70617a7767777972");
            robot.setSpeed(100, -20);
            server.expect("speed", "63700004 0064ffec");
            robot.setSpeed(40000, -40000);
            server.expect("speed beyond 16 bits", "63700004 7fff8000");
            robot.setVision(-100, 1023, 25);
            server.expect("camera", "637a0006 ff9c001903ff");
            robot.setGripper(PlayerClient.GRIPclose);
            server.expect("gripper", "63670002 0200");
            robot.setGripper(PlayerClient.GRIPpress, 200);
            server.expect("gripper with an argument", "63670002 10c8");
            robot.setFrequency(1000);
            server.expect("frequency", "78790003 6603e8");
            robot.setDataMode(PlayerClient.DataMode.REQUESTREPLY);
            server.expect("mode", "78790002 7201");
            robot.requestData();
            server.expect("data", "78790001 64");
            robot.setFresh(true);
            server.expect("fresh", "78790002 6e01");
            robot.changeMotorState(true);
            server.expect("motors", "78700002 6d01");
            robot.changeVelocityControl(PlayerClient.VelocityMode.SEPARATETRANSROT);
            server.expect("velocity", "78700002 7601");
            robot.resetPosition();
            server.expect("odometry", "78700001 52");
            for (int hz : new int[] {0, -1, 65536}) {
                fails(hz + " Hz", USAGE, () -> robot.setFrequency(hz));
            }
            fails("half a pair", USAGE, () -> robot.request("srp"));
            fails("a long message", USAGE, () -> robot.command('p', new byte[513]));
        }
    }

    static void testGripperOutOfRange() throws IOException {
        try (Server server = new Server(); PlayerClient robot = server.connect()) {
            server.send(reply("gw"));
            robot.request("gw");
            fails("a command of more than a byte", USAGE, () -> robot.setGripper(256));
            fails("a negative argument", USAGE, () -> robot.setGripper(PlayerClient.GRIPpress, -1));
        }
    }

    static void testUsage() throws IOException {
        try (Server server = new Server(); PlayerClient robot = server.connect()) {
            fails("nothing open", USAGE, robot::getData);
            fails("fresh without y", USAGE, () -> robot.setFresh(true));
            server.send(reply("yr"), reply("ycsr"));
            robot.request("yr");
            robot.setFresh(true);
            robot.request("ycsr");
            fails("fresh after y was closed", USAGE, robot::getData);
        }
    }

    static void testTimeoutInTheMiddleOfARound() throws IOException {
        try (Server server = new Server(); PlayerClient robot = server.connect()) {
            server.send(reply("srpr"));
            robot.request("srpr");
            server.send(SONAR, POSITION.substring(0, 10));
            robot.setTimeout(20);
            fails("half a round", TIMEOUT, robot::getData);
            robot.setTimeout(LIMIT);
            server.send(POSITION.substring(10));
            robot.getData();
            equal("position", robot.position.y(), -3);
        }
    }

    static void testReplyAfterTheTimeout() throws IOException {
        try (Server server = new Server(); PlayerClient robot = server.connect()) {
            robot.setTimeout(20);
            fails("no reply", TIMEOUT, () -> robot.request("sr"));
            robot.setTimeout(LIMIT);
            server.send(reply("sr"), SONAR);
            robot.getData();
            equal("sonar", robot.has('s'), true);
            server.send(SONAR, reply("pr"), SONAR, POSITION);
            robot.request("pr");
            robot.getData();
            equal("position", robot.has('p'), true);
        }
    }

    static void testFreshness() throws IOException {
        try (Server server = new Server(); PlayerClient robot = server.connect()) {
            server.send(reply("yrsrpr"), block('y', "0000000000001000 00000010 FFFFFFFF"), SONAR, "700000");
            robot.request("yrsrpr");
            robot.getData();
            equal("server time", robot.serverTime(), 0x1000L);
            equal("age", robot.age('s').getAsLong(), 0x10L);
            equal("no data yet", robot.age('p').isPresent() || robot.has('p'), false);
            server.send(block('y', "0000000000002000 00000003"), POSITION);
            robot.getData();
            equal("new", robot.isNew('p') && !robot.isNew('s'), true);
            equal("older data ages", robot.age('s').getAsLong(), 0x1010L);
            equal("new data", robot.age('p').getAsLong(), 3L);
        }
    }

    static void testServerGone() throws IOException {
        for (String rest : new String[] {"", SONAR.substring(0, 8), SONAR}) {
            try (Server server = new Server(); PlayerClient robot = server.connect()) {
                server.send(reply("srpr"), rest);
                robot.request("srpr");
                server.end();
                fails("gone", CLOSED, robot::getData);
                fails("still gone", CLOSED, robot::getData);
                fails("another thread", CLOSED, () -> robot.awaitData(0));
            }
        }
    }

    static void testNoServer() throws IOException {
        Server server = new Server();
        int port = server.listener.getLocalPort();
        server.close();
        fails("nobody listens", CLOSED, () -> new PlayerClient("127.0.0.1", port, LIMIT));
    }

    static void testReconnect() throws Exception {
        try (Server server = new Server(); PlayerClient robot = server.connect()) {
            server.send(reply("yrsrlrpa"), reply("lc"));
            robot.request("yrsrlrpa");
            robot.request("lc");
            robot.setFrequency(50);
            robot.setName("me");
            robot.setFresh(true);
            server.socket.close();
            fails("lost", CLOSED, robot::getData);
            CompletableFuture<Void> again = CompletableFuture.runAsync(robot::reconnect);
            server.accept();
            server.expect("settings", "78790003 776d65 78790003 660032");
            server.expect("the devices that were open", "64720006 7972 7372 7061");
            equal("no data of the new connection", robot.has('s'), false);
            fails("a command before its device is open", CLOSED, () -> robot.setSpeed(3, 4));
            server.send(reply("yrsrpa"), block('y', "0000000000001000 00000010"), SONAR);
            again.get(LIMIT, TimeUnit.MILLISECONDS);
            server.expect("only new data", "78790002 6e01");
            robot.getData();
            equal("sonar", robot.isNew('s'), true);
            robot.setSpeed(1, 2);
            server.expect("speed", "63700004 00010002");
        }
    }

    /** What the server did not grant at one reconnect is asked for at the next. */
    static void testReconnectRefused() throws Exception {
        try (Server server = new Server(); PlayerClient robot = server.connect()) {
            server.send(reply("srpa"));
            robot.request("srpa");
            for (int i = 0; i < 2; i++) {
                CompletableFuture<Void> again = CompletableFuture.runAsync(
                        () -> fails("reconnect", REFUSED, robot::reconnect));
                server.accept();
                server.expect("request", "64720004 73727061");
                server.send(reply("srpe"));
                server.expect("question", "78790002 7165 64720000");
                server.send(reply(""));
                again.get(LIMIT, TimeUnit.MILLISECONDS);
            }
        }
    }

    static void testReconnectWithoutServer() throws IOException {
        try (Server server = new Server(); PlayerClient robot = server.connect()) {
            server.end();
            robot.setTimeout(250);
            fails("nobody listens", CLOSED, robot::reconnect);
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
