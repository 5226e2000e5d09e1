import player.Access;
import player.Misc;
import player.Position;
import player.Robot;
import player.Round;
import player.Sensor;
import player.Wheels;

/**
 * Prints where a robot is, and its battery, as CSV, while other programs drive it. It never drives itself.
 *
 * usage: LogRun [host [port [rounds]]] >run.csv
 */
public class LogRun {
    public static void main(String[] args) {
        String host = args.length > 0 ? args[0] : "localhost";
        int port = args.length > 1 ? Integer.parseInt(args[1]) : Robot.PORT;
        int rounds = args.length > 2 ? Integer.parseInt(args[2]) : Integer.MAX_VALUE;

        try (Robot robot = Robot.connect(host, port)) {
            Wheels wheels = robot.wheels().open(Access.READ);
            Sensor<Misc> misc = robot.misc().open();
            System.out.println("time_ms,x_mm,y_mm,heading_deg,battery_dV");
            for (Round round : robot.rounds()) {
                if (rounds-- == 0) {
                    break;
                }
                Position at = round.get(wheels).orElse(null); // null: no data yet
                Misc power = round.get(misc).orElse(null);
                if (at != null && power != null) {
                    System.out.printf("%d,%d,%d,%d,%d%n", at.time(), at.x(), at.y(), at.heading(), power.battery());
                }
            }
        }
    }
}
