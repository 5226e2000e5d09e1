import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import player.Access;
import player.Camera;
import player.DeviceKind;
import player.GoTo;
import player.Goal;
import player.Grip;
import player.Joints;
import player.Outputs;
import player.PlayerClient;
import player.Robot;
import player.Sensor;
import player.Wheels;

/** Obeys the requests for which Robot and its devices have methods. */
final class RobotAdapter implements Obeying {
    private static final Pattern NAME = Pattern.compile("([a-z]+):([0-9]+)");
    private static final Map<String, Character> LETTERS = Map.of("position", 'p', "sonar", 's', "laser", 'l', "misc", 'm',
            "gripper", 'g', "ptz", 'z', "vision", 'v', "joystick", 'j');

    private Robot robot;
    private final Map<String, Sensor<?>> opened = new HashMap<>(); // by the name, or the letter of a device that has one
    private final Map<Sensor<?>, Character> codes = new HashMap<>();

    @Override
    public String nameOf(char device) {
        return robot.nameOf(device);
    }

    @Override
    public String perform(Map<String, String> request) {
        String op = request.getOrDefault("op", "");
        Duration timeout = Duration.ofMillis(Adapter.number(request, "timeout_ms"));
        if (op.equals("connect")) {
            close();
            opened.clear();
            String host = request.get("host");
            robot = Robot.at(host, Adapter.number(request, "port")).timeout(timeout).tls(Adapter.tls(request))
                    .serverName(request.getOrDefault("server", host)).connect();
            return "";
        }
        if (robot == null) {
            throw new IllegalArgumentException("not connected");
        }
        robot.setTimeout(timeout);
        switch (op) {
            case "reconnect" -> robot.reconnect();
            case "request" -> robot.readAges(); // the only one that the cases have
            case "open" -> open(request.getOrDefault("name", ""), request.get("access"));
            case "read" -> {
                robot.read();
                return ",\"new\":" + Adapter.quote(opened.values().stream().filter(robot.latest()::isNew).map(codes::get)
                        .map(String::valueOf).collect(Collectors.joining()));
            }
            case "get" -> {
                return get(request.getOrDefault("device", ""));
            }
            case "command" -> command(sensor(request.getOrDefault("device", "")),
                    Adapter.numbers(request.getOrDefault("values", "")));
            case "config" -> config(request.getOrDefault("name", ""), Adapter.number(request, "value"),
                    request.getOrDefault("text", ""));
            case "geometry" -> {
                return Adapter.list("parts", robot.geometry().stream().map(p -> Adapter.row(Adapter.quote(nameOf(p.device())),
                        p.number(), p.x(), p.y(), p.heading(), p.length(), p.width(), p.range(), p.view())));
            }
            case "devices" -> {
                return Adapter.devices(robot.devices());
            }
            case "rays" -> {
                return Adapter.rays(this, robot.rays());
            }
            case "channels" -> {
                return Adapter.channels(this, robot.channels());
            }
            case "colors" -> {
                return Adapter.colors(this, robot.colors());
            }
            case "close" -> close();
            default -> throw new IllegalArgumentException("unknown op " + op);
        }
        return "";
    }

    private void close() {
        if (robot != null) {
            robot.close();
            robot = null;
        }
    }

    private void open(String name, String access) {
        Matcher m = NAME.matcher(name);
        if (!m.matches()) {
            throw new IllegalArgumentException(name + " is no kind with an index"); // which are values of their own here
        }
        int index = Integer.parseInt(m.group(2));
        Sensor<?> sensor = robot.device(DeviceKind.valueOf(m.group(1).toUpperCase()), index);
        sensor.open(switch (access) {
            case "r" -> Access.READ;
            case "w" -> Access.WRITE;
            default -> Access.READ_WRITE;
        });
        Character letter = index == 0 ? LETTERS.get(m.group(1)) : null;
        opened.put(letter == null ? name : letter.toString(), sensor);
        codes.put(sensor, letter != null ? letter : codeOf(name));
    }

    /** Returns the byte of a device. Only the names of devices come with errors and answers. */
    private char codeOf(String name) {
        char code = 0x80;
        while (!nameOf(code).equals(name)) {
            code++;
        }
        return code;
    }

    private Sensor<?> sensor(String device) {
        Sensor<?> sensor = opened.get(device);
        if (sensor == null) {
            throw new IllegalArgumentException(device + " is not open");
        }
        return sensor;
    }

    private String get(String device) {
        if (device.equals("y")) {
            return ",\"age_us\":null,\"data\":" + Adapter.object("time", robot.latest().time().toNanos() / 1000);
        }
        Sensor<?> sensor = opened.get(device);
        if (sensor == null) {
            return ",\"age_us\":null,\"data\":null";
        }
        Optional<?> data = sensor.latest();
        return ",\"age_us\":" + sensor.age().map(age -> String.valueOf(age.toNanos() / 1000)).orElse("null")
                + ",\"data\":" + data.map(Adapter::value).orElse("null");
    }

    private static void command(Sensor<?> sensor, long[] values) {
        long[] wide = Arrays.copyOf(values, 8);
        int[] v = Arrays.stream(wide).mapToInt(value -> (int) value).toArray();
        if (sensor instanceof Wheels wheels) {
            wheels.drive(v[0], v[1]);
        } else if (sensor instanceof Camera camera) {
            camera.point(v[0], v[1], v[2]);
        } else if (sensor instanceof Grip grip) {
            grip(grip, v[0], v[1]);
        } else if (sensor instanceof Outputs outputs) {
            outputs.set(v[0], v[1]);
        } else if (sensor instanceof Joints joints) {
            joints(joints, v[0], v[1], wide[2]);
        } else if (sensor instanceof GoTo goTo) {
            if (v[0] == Adapter.UNKNOWN) {
                goTo.stop();
            } else {
                goTo.send(new Goal(v[0], v[1], v[2], v[3], v[4], v[5], v[6]), v[7]);
            }
        } else {
            throw new IllegalArgumentException(sensor + " takes no command");
        }
    }

    private static void grip(Grip grip, int code, int argument) {
        Duration time = Duration.ofMillis(20L * argument);
        switch (code) {
            case PlayerClient.GRIPopen -> grip.openPaddles();
            case PlayerClient.GRIPclose -> grip.closePaddles();
            case PlayerClient.GRIPstop -> grip.stopPaddles();
            case PlayerClient.LIFTup -> grip.raise();
            case PlayerClient.LIFTdown -> grip.lower();
            case PlayerClient.LIFTstop -> grip.stopLift();
            case PlayerClient.GRIPstore -> grip.store();
            case PlayerClient.GRIPdeploy -> grip.deploy();
            case PlayerClient.GRIPhalt -> grip.halt();
            case PlayerClient.GRIPpress -> grip.press(time);
            case PlayerClient.LIFTcarry -> grip.carry(time);
            default -> throw new IllegalArgumentException("unknown gripper command " + code);
        }
    }

    private static void joints(Joints joints, int joint, int goal, long speed) {
        if (goal != Adapter.UNKNOWN) {
            joints.move(joint, goal, speed);
        } else if (joint == Joints.ALL) {
            joints.stop();
        } else {
            joints.stop(joint);
        }
    }

    private void config(String name, int value, String text) {
        boolean on = value != 0;
        switch (name) {
            case "frequency" -> robot.setFrequency(value);
            case "lifetime" -> robot.setCommandLifetime(Duration.ofMillis(value));
            case "mode" -> robot.setRequestReply(on);
            case "data" -> robot.requestData();
            case "fresh" -> robot.setFresh(on);
            case "motors" -> robot.wheels().setMotors(on);
            case "velocity" -> robot.wheels().setSmooth(on);
            case "reset_odometry" -> robot.wheels().resetOdometry();
            case "name" -> robot.setName(text);
            case "stop" -> robot.emergencyStop(on);
            default -> throw new IllegalArgumentException("unknown configuration " + name);
        }
    }
}
