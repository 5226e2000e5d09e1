import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import player.Position;
import player.Ranges;
import player.Robot;
import player.Sensor;
import player.Wheels;

/**
 * Drives two robots in one program, each by a thread of its own: they avoid obstacles, and each other, with their
 * sonars.
 *
 * usage: TwoRobots host port host port [rounds]
 */
public class TwoRobots {
    public static void main(String[] args) {
        if (args.length < 4) {
            System.err.println("usage: TwoRobots host port host port [rounds]");
            System.exit(2);
        }
        int rounds = args.length > 4 ? Integer.parseInt(args[4]) : 1000;

        CompletableFuture<Position> one =
                CompletableFuture.supplyAsync(() -> wander(args[0], Integer.parseInt(args[1]), rounds));
        CompletableFuture<Position> other =
                CompletableFuture.supplyAsync(() -> wander(args[2], Integer.parseInt(args[3]), rounds));
        System.out.println("one:   " + one.join()); // join throws what went wrong
        System.out.println("other: " + other.join());
    }

    /** Drives one robot, and returns where it is in the end. */
    static Position wander(String host, int port, int rounds) {
        try (Robot robot = Robot.connect(host, port)) {
            robot.setCommandLifetime(Duration.ofMillis(500)); // if this program hangs, the wheels stop
            Sensor<Ranges> sonar = robot.sonar().open();
            Wheels wheels = robot.wheels().open();
            for (int i = 0; i < rounds; i++) {
                Ranges mm = sonar.read();
                int left = mm.mm(mm.nearest(1, 3));
                int right = mm.mm(mm.nearest(4, 6));
                int speed = Math.max(0, Math.min(Math.min(left, right) / 2 - 200, 300)); // mm/s, slower the nearer
                wheels.drive(speed, left > right ? 20 : -20); // deg/s, to the side with more room
            }
            return wheels.read();
        }
    }
}
