import player.PlayerClient;
import player.PlayerException;

/**
 * Prints one line for each round of new data from all sensors, with its age. If the connection is lost, it waits for
 * the server to return. It never drives the robot.
 *
 * usage: Watch [host [port [rounds]]]
 */
public class Watch {
    static final String DEVICES = "pslmgzvj";

    public static void main(String[] args) {
        String host = args.length > 0 ? args[0] : "localhost";
        int port = args.length > 1 ? Integer.parseInt(args[1]) : 6665;
        int rounds = args.length > 2 ? Integer.parseInt(args[2]) : Integer.MAX_VALUE;

        try (PlayerClient robot = new PlayerClient(host, port)) {
            try {
                robot.request("yr" + DEVICES.replaceAll(".", "$0r"));
            } catch (PlayerException e) {
                if (e.kind != PlayerException.Kind.REFUSED) {
                    throw e;
                }
                System.out.println(e.getMessage()); // the rest is read
            }
            robot.setFresh(true);
            for (int i = 0; i < rounds; i++) {
                try {
                    robot.getData();
                } catch (PlayerException e) {
                    if (e.kind != PlayerException.Kind.CLOSED) {
                        throw e;
                    }
                    System.out.println(e.getMessage());
                    robot.reconnect();
                    continue;
                }
                System.out.println(line(robot));
            }
        }
    }

    static String line(PlayerClient robot) {
        StringBuilder line = new StringBuilder(String.format("%.3f s", robot.serverTime() / 1e6));
        for (char device : DEVICES.toCharArray()) {
            if (robot.isNew(device) && robot.has(device)) {
                double age = robot.age(device).getAsLong() / 1e3;
                line.append(String.format("  %s (%.1f ms old)", text(robot, device), age));
            }
        }
        return line.toString();
    }

    static String text(PlayerClient robot, char device) {
        return switch (device) {
            case 'p' -> String.format("at %d,%d mm %d deg%s", robot.position.x(), robot.position.y(),
                    robot.position.heading(), robot.position.stalled() ? " STALLED" : "");
            case 's' -> "sonar ahead " + Math.min(robot.sonar[3], robot.sonar[4]) + " mm";
            case 'l' -> "laser ahead " + robot.laser[180] + " mm";
            case 'm' -> String.format("%.1f V", robot.misc.battery() / 10.0);
            case 'g' -> robot.gripper.paddlesOpen() ? "paddles open" : "paddles not open";
            case 'z' -> "camera pan " + robot.camfeedback.pan() + " deg";
            case 'v' -> robot.howManyColorsInCameraImage() + " colours";
            default -> "joystick " + robot.joystick.axes();
        };
    }
}
