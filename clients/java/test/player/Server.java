package player;

import static player.Tests.LIMIT;
import static player.Tests.equal;
import static player.Tests.unhex;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.HexFormat;

/** A server that sends the bytes of the test. */
final class Server implements AutoCloseable {
    private final ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    Socket socket;

    Server() throws IOException {
        listener.setSoTimeout(LIMIT);
    }

    PlayerClient connect() throws IOException {
        String host = listener.getInetAddress().getHostAddress();
        PlayerClient client = new PlayerClient(host, listener.getLocalPort(), LIMIT);
        accept();
        return client;
    }

    Robot robot() throws IOException {
        Robot robot = Robot.at(listener.getInetAddress().getHostAddress(), listener.getLocalPort())
                .timeout(Duration.ofMillis(LIMIT)).connect();
        accept();
        return robot;
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
