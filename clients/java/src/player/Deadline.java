package player;

import static player.PlayerException.Kind.TIMEOUT;
import static player.PlayerException.Kind.USAGE;

import java.time.Duration;

/** A point in time until which a call may wait. */
final class Deadline {
    private final int limitMs; // 0: there is no limit
    private final long end; // ns, of System.nanoTime

    Deadline(int limitMs) {
        this.limitMs = limitMs;
        end = System.nanoTime() + limitMs * 1_000_000L;
    }

    /** Returns a limit in ms, rounded up, because 0 means that there is none. */
    static int milliseconds(Duration limit) {
        if (limit.isNegative()) {
            throw new PlayerException(USAGE, "a limit of " + limit + " is negative");
        }
        if (limit.compareTo(Duration.ofMillis(Integer.MAX_VALUE)) >= 0) {
            return Integer.MAX_VALUE;
        }
        return (int) limit.plusNanos(999_999).toMillis();
    }

    /** Reports whether no more than some ms are left. */
    boolean isWithin(int ms) {
        return limitMs != 0 && end - System.nanoTime() <= ms * 1_000_000L;
    }

    /** Returns the ms left, rounded up; 0 means that there is no limit. After the end it is a TIMEOUT error. */
    int left() {
        if (limitMs == 0) {
            return 0;
        }
        long ns = end - System.nanoTime();
        if (ns <= 0) {
            throw new PlayerException(TIMEOUT, "no answer from the server within " + limitMs + " ms");
        }
        return (int) ((ns + 999_999) / 1_000_000);
    }
}
