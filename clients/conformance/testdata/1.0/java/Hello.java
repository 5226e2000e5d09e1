import java.util.Arrays;
import player.PlayerClient;

/**
 * Prints the sonar ranges in mm and drives with very limited obstacle avoidance: the program of figure 3 of the manual.
 *
 * usage: Hello [host [port [rounds]]]
 */
public class Hello {
    public static void main(String[] args) {
        String host = args.length > 0 ? args[0] : "localhost";
        int port = args.length > 1 ? Integer.parseInt(args[1]) : 6665;
        int rounds = args.length > 2 ? Integer.parseInt(args[2]) : 1000;

        try (PlayerClient robot = new PlayerClient(host, port)) {
            robot.request("srpw"); // sonar read, position write
            for (int i = 0; i < rounds; i++) {
                robot.getData(); // waits for data, ten times a second
                System.out.println(Arrays.toString(robot.sonar));
                boolean roomOnTheRight = robot.sonar[0] + robot.sonar[1] < robot.sonar[6] + robot.sonar[7];
                int turnRate = roomOnTheRight ? -20 : 20; // deg/s
                int speed = robot.sonar[3] < 500 ? 0 : 100; // mm/s
                robot.setSpeed(speed, turnRate);
            }
            robot.request("scpc"); // close both; the robot stops
        }
    }
}
