import java.time.Duration;
import player.PlayerClient;

/**
 * Drives around obstacles, as in C.4 of the manual: the nearer an obstacle, the slower it drives; it turns towards the
 * side with more room; without room it backs off. It has the manual's names, as PlayerClient.
 *
 * usage: ObstacleAvoidanceUsingSonar [host [port [rounds]]]
 */
public class ObstacleAvoidanceUsingSonar {
    public static void main(String[] args) {
        String host = args.length > 0 ? args[0] : "localhost";
        int port = args.length > 1 ? Integer.parseInt(args[1]) : 6665;
        int rounds = args.length > 2 ? Integer.parseInt(args[2]) : 400;

        try (PlayerClient ant = new PlayerClient(host, port, Duration.ofSeconds(15))) {
            ant.setCommandLifetime(Duration.ofMillis(500)); // if this program hangs, the wheels stop
            ant.request("srpw"); // sonar read, position write
            for (int i = 0; i < rounds; i++) {
                ant.getData();
                int left = push(nearest(ant.sonar, 1, 4));
                int right = push(nearest(ant.sonar, 4, 7));
                // Room on both sides adds up to speed, the difference to turning.
                ant.setSpeed(left + right, left - right);
            }
        }
    }

    /** Returns the smallest range in mm of the sonars from first to before end. Those at 0 have not fired yet. */
    static int nearest(int[] sonar, int first, int end) {
        int mm = Integer.MAX_VALUE;
        for (int i = first; i < end; i++) {
            if (sonar[i] != 0) {
                mm = Math.min(mm, sonar[i]);
            }
        }
        return mm == Integer.MAX_VALUE ? 300 : mm; // without readings: neither forward nor back
    }

    /** Returns how much one side drives the robot on: -100 at the wall, 0 at 300 mm, 150 from 750 mm on. */
    static int push(int mm) {
        return (int) Math.min(100L * mm / 300 - 100, 150);
    }
}
