package player;

import java.time.Duration;
import java.util.Optional;

/**
 * One round of data: the newest data of every device when the round had arrived. It never changes, so several
 * threads may read it.
 */
public final class Round {
    private final Session.Block[] blocks;
    private final char[] access;
    private final long number;
    private final long timeUs;

    Round(Session session) {
        blocks = session.blocks.clone();
        access = session.access.clone();
        number = session.round;
        timeUs = session.serverTime();
    }

    /**
     * {@return the newest data of a sensor} It is empty if the sensor is not open for reading, or has no data yet.
     *
     * @param <T> of the data
     * @param sensor of the same robot
     */
    public <T> Optional<T> get(Sensor<T> sensor) {
        return Optional.ofNullable(sensor.decoded(this));
    }

    /**
     * {@return whether this round has a block of a sensor} Without freshness mode it has one of each that is read.
     *
     * @param sensor of the same robot
     */
    public boolean isNew(Sensor<?> sensor) {
        return isNew(sensor.code());
    }

    /**
     * {@return the age of a sensor's data when the server made this round, to the microsecond} It is empty if ages are
     * not read ({@link Robot#readAges}), or there is no data yet. Ages over 71 minutes are given as 71 minutes.
     *
     * @param sensor of the same robot
     */
    public Optional<Duration> age(Sensor<?> sensor) {
        return ageUs(sensor.code()).map(us -> Duration.ofNanos(us * 1000));
    }

    /** {@return the time of this round since the server was started} It is zero if ages were never read. */
    public Duration time() {
        return Duration.ofNanos(timeUs * 1000);
    }

    /** {@return the number of this round on its connection, from 1} */
    public long number() {
        return number;
    }

    Session.Block block(char device) {
        return device < blocks.length ? blocks[device] : null;
    }

    boolean can(char device, char what) {
        return device < access.length && (access[device] == what || access[device] == 'a');
    }

    boolean has(char device) {
        Session.Block b = block(device);
        return b != null && b.valid();
    }

    Object value(char device) {
        Session.Block b = block(device);
        return b == null ? null : b.value();
    }

    boolean isNew(char device) {
        Session.Block b = block(device);
        return b != null && number > 0 && b.round() == number;
    }

    Optional<Long> ageUs(char device) {
        Session.Block b = block(device);
        boolean known = b != null && b.aged() && can('y', 'r');
        return known ? Optional.of(timeUs - b.taken()) : Optional.empty();
    }

    long timeUs() {
        return timeUs;
    }
}
