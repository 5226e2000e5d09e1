import java.time.Duration;
import player.Position;
import player.Robot;
import player.Wheels;

/**
 * Drives a square of a metre by the odometry, to the left.
 *
 * usage: Square [host [port [sides]]]
 */
public class Square {
    static final int SIDE = 1000; // mm
    static final int SPEED = 300; // mm/s
    static final int CORNER = 90; // deg
    static final int MAX_TURN = 40; // deg/s

    public static void main(String[] args) {
        String host = args.length > 0 ? args[0] : "localhost";
        int port = args.length > 1 ? Integer.parseInt(args[1]) : Robot.PORT;
        int sides = args.length > 2 ? Integer.parseInt(args[2]) : 4;

        try (Robot robot = Robot.connect(host, port)) {
            robot.setCommandLifetime(Duration.ofMillis(500)); // if this program hangs, the wheels stop
            Wheels wheels = robot.wheels().open();
            Position here = wheels.read();
            for (int side = 1; side <= sides; side++) {
                Position corner = here;
                while (Math.hypot(here.x() - corner.x(), here.y() - corner.y()) < SIDE) {
                    wheels.drive(SPEED, 0);
                    here = wheels.read();
                }
                int wanted = here.heading() + CORNER;
                for (int left = CORNER; left > 1; left = degreesTo(wanted, here)) {
                    wheels.drive(0, Math.min(left, MAX_TURN)); // slower towards the end
                    here = wheels.read();
                }
                System.out.printf("side %d: x %d mm, y %d mm, %d deg%n", side, here.x(), here.y(), here.heading());
            }
            wheels.stop();
        }
    }

    /** Returns by how much to turn to a heading, -180..179 deg. */
    static int degreesTo(int heading, Position here) {
        return Math.floorMod(heading - here.heading() + 180, 360) - 180;
    }
}
