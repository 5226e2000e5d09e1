package player;

import javax.net.ssl.SSLContext;

/**
 * Where a server is.
 *
 * @param tls        null: without TLS
 * @param serverName the name in the server's certificate
 */
record Address(String host, int port, SSLContext tls, String serverName) {
    @Override
    public String toString() {
        return host + ":" + port;
    }
}
