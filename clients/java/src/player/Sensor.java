package player;

import java.time.Duration;
import java.util.Optional;

/**
 * A device of a robot, with data of one type. {@link Robot} has them; those that also take commands have classes of
 * their own. It is only a name until {@link #open}: before, the robot may not even have it.
 *
 * @param <T> its data, which never change
 */
public sealed class Sensor<T> permits Wheels, Camera, Grip, Outputs, Joints, GoTo {
    final Connection connection;
    private final Roster.Name name;
    private final Class<T> type;
    private volatile char code; // 0: it was never open, and has no letter

    Sensor(Connection connection, Roster.Name name, Class<T> type) {
        this.connection = connection;
        this.name = name;
        this.type = type;
        code = name.letter();
    }

    /** {@return its name, for example laser:1} */
    public final String name() {
        return name.toString();
    }

    /**
     * Opens it: for reading, or, if it takes commands, for both. It waits for the server, which may have to set the
     * device up: that can take seconds. A REFUSED error says why the robot does not grant it; from then on the
     * connection is as it was.
     *
     * @return this
     */
    public Sensor<T> open() {
        return open(Access.READ);
    }

    /**
     * Opens it for reading, for commands, or for both.
     *
     * @param access the requested access
     * @return this
     */
    public Sensor<T> open(Access access) {
        if (name.letter() != 0) {
            connection.request(new String(new char[] {name.letter(), access.letter}));
        } else {
            code = connection.open(name, access.letter);
        }
        return this;
    }

    /** Closes it. If it is the wheels, and this client drives them, the robot stops. */
    public final void close() {
        if (code != 0) {
            connection.request(new String(new char[] {code, 'c'}));
        }
    }

    /** {@return the newest data that have arrived} It does not wait. It is empty before the first data. */
    public final Optional<T> latest() {
        return connection.latest().get(this);
    }

    /**
     * Waits for the next round with data of this sensor, which must be open, and returns them. The data of all others
     * arrive, too. After a TIMEOUT error, call again.
     *
     * @return the data
     */
    public final T read() {
        Deadline deadline = connection.deadline(); // one for all rounds without these data
        while (true) {
            Round round = connection.read(deadline);
            T data = decoded(round);
            if (data != null && round.isNew(this)) {
                return data;
            }
        }
    }

    /** {@return the age of the newest data when the server sent them: {@link Round#age}} */
    public final Optional<Duration> age() {
        return connection.latest().age(this);
    }

    /** Returns its byte; 0: it was never open. */
    final char code() {
        return code;
    }

    /** Returns its data in a round, or null. */
    final T decoded(Round round) {
        return round.has(code) ? type.cast(round.value(code)) : null;
    }

    /** Sends a command. If the device is not open for commands, it is a USAGE error. */
    final void command(byte[] payload) {
        if (code == 0) {
            throw new PlayerException(PlayerException.Kind.USAGE, name + " is not open");
        }
        connection.command(code, payload);
    }

    @Override
    public final String toString() {
        return name.toString();
    }
}
