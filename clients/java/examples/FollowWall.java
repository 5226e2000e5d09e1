import java.time.Duration;
import player.Ranges;
import player.Robot;
import player.Sensor;
import player.Wheels;

/**
 * Follows walls with the laser: it keeps the nearest wall half a metre to its right.
 *
 * usage: FollowWall [host [port [rounds]]]
 */
public class FollowWall {
    static final int WANTED = 500; // mm from the laser to the wall
    static final int FAR = 1500; // mm; a wall beyond is not followed yet
    static final int CRUISE = 250; // mm/s
    static final int MAX_TURN = 40; // deg/s

    public static void main(String[] args) {
        String host = args.length > 0 ? args[0] : "localhost";
        int port = args.length > 1 ? Integer.parseInt(args[1]) : Robot.PORT;
        int rounds = args.length > 2 ? Integer.parseInt(args[2]) : 1000;

        try (Robot robot = Robot.connect(host, port)) {
            robot.setCommandLifetime(Duration.ofMillis(500)); // if this program hangs, the wheels stop
            Sensor<Ranges> laser = robot.laser().open();
            Wheels wheels = robot.wheels().open();
            for (int i = 0; i < rounds; i++) {
                Ranges scan = laser.read(); // index i points to i/2 - 90 degrees
                wheels.drive(speed(scan), turn(scan));
            }
        }
    }

    /** Returns mm/s: slower the nearer an obstacle ahead, 20 degrees to each side. */
    static int speed(Ranges laser) {
        int ahead = laser.mm(laser.nearest(140, 220));
        return Math.max(0, Math.min((ahead - 350) / 2, CRUISE));
    }

    /** Returns deg/s: turns until the wall is at the right (index 0), and towards the wanted distance. */
    static int turn(Ranges laser) {
        int wall = laser.nearest(0, 270); // everything but the left
        if (laser.mm(wall) > FAR) {
            return 0; // straight on to the next wall
        }
        int direction = wall / 2; // deg from the right; a wall ahead must come to the right
        int distance = Math.max(-20, Math.min((WANTED - laser.mm(wall)) / 10, 20)); // too near: to the left
        return Math.max(-MAX_TURN, Math.min(direction + distance, MAX_TURN));
    }
}
