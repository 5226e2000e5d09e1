package player;

/**
 * What can go wrong between a program and a Player server. It is unchecked: a control loop without a handler ends, and
 * the server stops the robot when the connection ends.
 */
public final class PlayerException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The kinds of errors. */
    public enum Kind {
        /** The server granted other access than asked for; {@link #granted} is in force. */
        REFUSED,
        /** The time limit of {@link PlayerClient#setTimeout} passed. The connection is still usable. */
        TIMEOUT,
        /** The connection cannot be made, is lost or is closed: {@link PlayerClient#reconnect}. */
        CLOSED,
        /** The server sent bytes that do not match the protocol. The next call continues after them. */
        PROTOCOL,
        /** The call is wrong at this point. Nothing was sent. */
        USAGE
    }

    /** The kind of this error. */
    public final Kind kind;

    /** For REFUSED, the pairs of the server's reply, for example "srpe". Otherwise null. */
    public final String granted;

    PlayerException(Kind kind, String text) {
        this(kind, text, null, null);
    }

    PlayerException(Kind kind, String text, Throwable cause) {
        this(kind, text, null, cause);
    }

    PlayerException(String text, String granted) {
        this(Kind.REFUSED, text, granted, null);
    }

    private PlayerException(Kind kind, String text, String granted, Throwable cause) {
        super(text, cause);
        this.kind = kind;
        this.granted = granted;
    }
}
