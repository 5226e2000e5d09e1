import java.time.Duration;
import player.Ranges;
import player.Robot;
import player.Sensor;
import player.Wheels;

/**
 * Prints the sonar ranges in mm and drives with very limited obstacle avoidance: the program of figure 3 of the manual.
 *
 * usage: Hello [host [port [rounds]]]
 */
public class Hello {
    public static void main(String[] args) {
        String host = args.length > 0 ? args[0] : "localhost";
        int port = args.length > 1 ? Integer.parseInt(args[1]) : Robot.PORT;
        int rounds = args.length > 2 ? Integer.parseInt(args[2]) : 1000;

        try (Robot robot = Robot.connect(host, port)) {
            robot.setCommandLifetime(Duration.ofMillis(500)); // if this program hangs, the wheels stop
            Sensor<Ranges> sonar = robot.sonar().open();
            Wheels wheels = robot.wheels().open();
            for (int i = 0; i < rounds; i++) {
                Ranges mm = sonar.read(); // waits for data, ten times a second
                System.out.println(mm);
                boolean roomOnTheRight = mm.mm(0) + mm.mm(1) < mm.mm(6) + mm.mm(7);
                int turnRate = roomOnTheRight ? -20 : 20; // deg/s
                int speed = mm.mm(3) < 500 ? 0 : 100; // mm/s
                wheels.drive(speed, turnRate);
            }
        } // the robot stops
    }
}
