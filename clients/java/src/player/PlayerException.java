package player;

import java.util.Map;

/**
 * A failure between a program and a Player server. It is unchecked: a control loop without a handler ends, and
 * the server stops the robot when the connection ends.
 */
public final class PlayerException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The kinds of errors. */
    public enum Kind {
        /** The server granted less than asked for; {@link #granted} is in force, {@link #reasons} say why. */
        REFUSED,
        /** The time limit of {@link PlayerClient#setTimeout} passed. The connection is still usable. */
        TIMEOUT,
        /** The connection cannot be made, is lost or is closed: {@link PlayerClient#reconnect}. */
        CLOSED,
        /** The server sent bytes that do not match the protocol. The next call continues after them. */
        PROTOCOL,
        /** The call is wrong at this point. Nothing was sent. */
        USAGE,
        /** The robot does not drive to the goal any more: {@link GoTo#drive}. */
        GOAL
    }

    /** The kind of this error. */
    public final Kind kind;

    /** For REFUSED, the pairs of the server's reply, for example "srpe". Otherwise null. */
    public final String granted;

    /** For REFUSED, why devices are e in granted, as far as the server says. Otherwise empty. */
    public final Map<Character, Reason> reasons;

    /**
     * Why a device was refused.
     *
     * @param why a word of PROTOCOL 8.9.1: missing, right, hardware, used, ...
     * @param text the same for people
     */
    public record Reason(String why, String text) {}

    PlayerException(Kind kind, String text) {
        this(kind, text, null, Map.of(), null);
    }

    PlayerException(Kind kind, String text, Throwable cause) {
        this(kind, text, null, Map.of(), cause);
    }

    PlayerException(String text, String granted, Map<Character, Reason> reasons) {
        this(Kind.REFUSED, text, granted, reasons, null);
    }

    private PlayerException(Kind kind, String text, String granted, Map<Character, Reason> reasons, Throwable cause) {
        super(text, cause);
        this.kind = kind;
        this.granted = granted;
        this.reasons = Map.copyOf(reasons);
    }
}
