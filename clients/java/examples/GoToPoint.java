import java.time.Duration;
import player.Goal;
import player.GotoData;
import player.PlayerException;
import player.Robot;

/**
 * Drives to a point around obstacles. The point is in mm from where the robot's odometry began: x ahead, y to the left.
 * The server has the planner, with -goto or a driver in its configuration.
 *
 * usage: GoToPoint host port x y
 */
public class GoToPoint {
    public static void main(String[] args) {
        if (args.length != 4) {
            System.err.println("usage: GoToPoint host port x y");
            System.exit(2);
        }
        Goal goal = Goal.at(Integer.parseInt(args[2]), Integer.parseInt(args[3]));

        try (Robot robot = Robot.connect(args[0], Integer.parseInt(args[1]))) {
            robot.setCommandLifetime(Duration.ofMillis(500)); // if this program hangs, the wheels stop
            GotoData end = robot.goTo().open().drive(goal, now -> System.out.println(now.distanceMm() + " mm to go"));
            System.out.println("arrived, " + end.distanceMm() + " mm from the point");
        } catch (PlayerException e) {
            System.err.println(e.getMessage()); // for example that there is no way
            System.exit(1);
        }
    }
}
