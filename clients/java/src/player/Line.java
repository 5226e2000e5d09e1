package player;

import static player.PlayerException.Kind.CLOSED;
import static player.PlayerException.Kind.TIMEOUT;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/** A connection to a server, plain or by TLS. Connecting, receiving, sending and closing have limits. */
final class Line {
    /** For the reason of a server that has closed the connection, ms: it has come, or never will. */
    private static final int ALERT = 500;
    /** For sending, ms. A network that takes nothing for so long is lost; the server stops the wheels before. */
    private static final int SENDING = 5000;

    /** Closes the connections that do not take what is sent within {@link #SENDING}: Java's writes have no limit. */
    private static final ScheduledThreadPoolExecutor SEND_LIMIT = new ScheduledThreadPoolExecutor(1, task -> {
        Thread thread = new Thread(task, "player-send-limit");
        thread.setDaemon(true);
        return thread;
    });

    static {
        SEND_LIMIT.setRemoveOnCancelPolicy(true);
    }

    private final Network network;
    private final Socket socket; // the network, or TLS above it

    private Line(Network network, Socket socket) {
        this.network = network;
        this.socket = socket;
    }

    /** Connects to a server. */
    static Line connect(Address to, Deadline deadline) {
        Network network = null;
        Line made = null;
        try {
            network = reach(to, deadline);
            made = new Line(network, to.tls() == null ? network : overTls(network, to, deadline));
            return made;
        } catch (SocketTimeoutException e) {
            throw new PlayerException(TIMEOUT, "no connection to " + to + " in time", e);
        } catch (IOException | IllegalArgumentException e) {
            throw new PlayerException(CLOSED, "no connection to " + to + ": " + e.getMessage(), e);
        } finally {
            if (network != null && made == null) {
                closeQuietly(network);
            }
        }
    }

    /** Connects to the first address of the host that answers. Each gets an equal part of the time that is left. */
    private static Network reach(Address to, Deadline deadline) throws IOException {
        InetAddress[] addresses = InetAddress.getAllByName(to.host());
        for (int i = 0;; i++) {
            int others = addresses.length - i - 1;
            Network made = new Network();
            try {
                made.setTcpNoDelay(true); // a command must not wait for the next one
                int left = deadline.left();
                made.connect(new InetSocketAddress(addresses[i], to.port()), left == 0 ? 0 : Math.max(1, left / (others + 1)));
                return made;
            } catch (IOException | RuntimeException e) {
                closeQuietly(made);
                if (others == 0 || e instanceof RuntimeException) {
                    throw e;
                }
            }
        }
    }

    /** Begins TLS on a connection, after the server has shown a certificate of the name that this client expects. */
    private static Socket overTls(Socket plain, Address to, Deadline deadline) throws IOException {
        SSLSocket s = (SSLSocket) to.tls().getSocketFactory().createSocket(plain, to.serverName(), to.port(), true);
        SSLParameters parameters = s.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS"); // compare names; without it Java does not
        s.setSSLParameters(parameters);
        s.setSoTimeout(deadline.left());
        s.startHandshake();
        return s;
    }

    /**
     * The connection without TLS. A write that fails is reported by the read after it: the server's reason, for example
     * a certificate that has expired, may have come before.
     */
    private static final class Network extends Socket {
        private volatile boolean broken;

        @Override
        public OutputStream getOutputStream() throws IOException {
            OutputStream out = super.getOutputStream();
            return new OutputStream() {
                @Override
                public void write(int b) throws IOException {
                    write(new byte[] {(byte) b}, 0, 1);
                }

                @Override
                public void write(byte[] b, int from, int n) throws IOException {
                    try {
                        out.write(b, from, n);
                    } catch (SocketException e) {
                        broken = true;
                    }
                }
            };
        }
    }

    /**
     * Receives bytes into room, from an index on, and returns how many have come; -1: the server has closed the
     * connection. It is a SocketTimeoutException after timeoutMs; 0: there is no limit.
     */
    int read(byte[] room, int from, int timeoutMs) throws IOException {
        socket.setSoTimeout(timeoutMs);
        return socket.getInputStream().read(room, from, room.length - from);
    }

    /** Sends a message. If the network does not take it within {@link #SENDING}, the connection is closed. */
    void write(byte[] message) throws IOException {
        ScheduledFuture<?> late = limit();
        try {
            socket.getOutputStream().write(message);
        } finally {
            if (!late.cancel(false)) {
                throw new IOException("the network takes nothing");
            }
        }
        if (network.broken) {
            socket.setSoTimeout(ALERT);
            int n = socket.getInputStream().read(); // throws the reason
            throw new IOException(n < 0 ? "the server closed it" : "the server takes nothing");
        }
    }

    /** Closes the connection. TLS says so to the other side, which may take nothing any more. */
    void close() {
        ScheduledFuture<?> late = limit();
        closeQuietly(socket);
        late.cancel(false);
    }

    /** Closes the connection unless the result is cancelled within {@link #SENDING}. */
    private ScheduledFuture<?> limit() {
        return SEND_LIMIT.schedule(() -> closeQuietly(network), SENDING, TimeUnit.MILLISECONDS);
    }

    private static void closeQuietly(Socket s) {
        try {
            s.close();
        } catch (IOException e) {
            // The descriptor is released in any case, and the server notices.
        }
    }
}
