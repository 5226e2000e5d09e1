import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import player.Certificates;
import player.CameraFeedback;
import player.Channel;
import player.ChannelColor;
import player.ColorBlob;
import player.Device;
import player.GPS;
import player.Goal;
import player.GotoData;
import player.Gripper;
import player.IMU;
import player.IO;
import player.Joystick;
import player.Misc;
import player.PlayerClient;
import player.PlayerException;
import player.Position;
import player.Ranger;
import player.Ranges;
import player.Rays;
import player.Servo;
import player.Simulation;
import player.Vision;

/**
 * The adapter of the Java client for the conformance suite (docs/CLIENTS.md): JSON lines on stdin and stdout. It drives
 * PlayerClient, and with the argument Robot that class.
 */
public class Adapter implements Obeying {
    private static final String LETTERS = "lspgmvzjy";

    /** One member of a request: requests are flat, and their values are strings, integers or lists of integers. */
    private static final Pattern MEMBER =
            Pattern.compile("\"(\\w+)\"\\s*:\\s*(?:\"([^\"]*)\"|(-?\\d+)|\\[([^\\]]*)\\])");

    private PlayerClient robot;
    private final Map<String, Character> opened = new HashMap<>(); // bytes of devices, by name

    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Obeying client = arguments.length > 0 && arguments[0].equals("Robot") ? new RobotAdapter() : new Adapter();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            System.out.println(answer(client, line));
        }
    }

    private static String answer(Obeying client, String line) {
        Map<String, String> request = new HashMap<>();
        Matcher m = MEMBER.matcher(line);
        while (m.find()) {
            String value = m.group(2) != null ? m.group(2) : m.group(3) != null ? m.group(3) : m.group(4);
            request.put(m.group(1), value);
        }
        try {
            if ("simulation".equals(request.get("op"))) {
                return "{\"ok\":true,\"state\":" + simulate(request, line) + "}";
            }
            return "{\"ok\":true" + client.perform(request) + "}";
        } catch (PlayerException e) {
            String why = e.reasons.entrySet().stream()
                    .map(r -> quote(client.nameOf(r.getKey())) + ":"
                            + quote(r.getValue().why() + " " + r.getValue().text()))
                    .collect(Collectors.joining(","));
            return "{\"ok\":false,\"error\":\"" + e.kind.name().toLowerCase() + "\""
                    + (e.granted == null ? "" : ",\"granted\":" + quote(e.granted) + ",\"why\":{" + why + "}")
                    + ",\"text\":" + quote(e.getMessage()) + "}";
        } catch (IllegalArgumentException e) {
            return "{\"ok\":false,\"error\":\"usage\",\"text\":" + quote(String.valueOf(e.getMessage())) + "}";
        }
    }

    @Override
    public String nameOf(char device) {
        return robot.nameOf(device);
    }

    @Override
    public String perform(Map<String, String> request) {
        String op = request.getOrDefault("op", "");
        int timeout = number(request, "timeout_ms");
        if (op.equals("connect")) {
            close();
            opened.clear();
            String host = request.get("host");
            robot = new PlayerClient(host, number(request, "port"), timeout, tls(request), request.getOrDefault("server", host));
            return "";
        }
        if (robot == null) {
            throw new IllegalArgumentException("not connected");
        }
        robot.setTimeout(timeout);
        switch (op) {
            case "reconnect" -> robot.reconnect();
            case "request" -> {
                String pairs = request.getOrDefault("pairs", "");
                return ",\"granted\":" + quote(robot.request(pairs));
            }
            case "geometry" -> {
                return ",\"parts\":[" + robot.geometry().stream()
                        .map(p -> "[\"" + p.device() + "\"," + p.number() + "," + p.x() + "," + p.y() + "," + p.heading() + ","
                                + p.length() + "," + p.width() + "," + p.range() + "," + p.view() + "]")
                        .collect(Collectors.joining(",")) + "]";
            }
            case "devices" -> {
                return devices(robot.devices());
            }
            case "open" -> {
                String name = request.getOrDefault("name", "");
                char code = robot.open(name, request.getOrDefault("access", "r").charAt(0));
                opened.put(name, code);
                return ",\"code\":" + (int) code;
            }
            case "rays" -> {
                return rays(this, robot.rays());
            }
            case "channels" -> {
                return channels(this, robot.channels());
            }
            case "colors" -> {
                return colors(this, robot.colors());
            }
            case "read" -> {
                robot.getData();
                String named = opened.values().stream().filter(c -> c >= 0x80).map(String::valueOf).distinct()
                        .collect(Collectors.joining());
                return ",\"new\":" + quote((LETTERS + named).chars().filter(c -> robot.isNew((char) c))
                        .mapToObj(Character::toString).collect(Collectors.joining()));
            }
            case "get" -> {
                char device = device(request);
                String name = request.get("device");
                byte[] raw = robot.raw(device);
                return ",\"size\":" + (raw == null ? 0 : raw.length)
                        + ",\"age_us\":" + (robot.age(device).isPresent() ? robot.age(device).getAsLong() : "null")
                        + ",\"data\":" + (!robot.has(device) ? "null"
                                : device < 0x80 && name.length() == 1 ? data(device) : value(robot.data(device, Object.class)));
            }
            case "command" -> {
                command(request.get("device"), device(request), numbers(request.getOrDefault("values", "")));
            }
            case "config" -> config(request.getOrDefault("name", ""), number(request, "value"), request.getOrDefault("text", ""));
            case "close" -> close();
            default -> throw new IllegalArgumentException("unknown op " + op);
        }
        return "";
    }

    static String devices(List<Device> devices) {
        return list("devices", devices.stream().map(d -> row(quote(d.name()), (int) d.code())));
    }

    static String rays(Obeying client, List<Rays> rays) {
        return list("rays", rays.stream().map(r -> row(quote(client.nameOf(r.device())), r.first(),
                r.count(), r.xMm(), r.yMm(), r.headingDeg(), r.stepDeg(), known(r.nearMm(), 0), known(r.farMm(), 0),
                r.coneDeg())));
    }

    static String channels(Obeying client, List<Channel> channels) {
        return list("channels", channels.stream().map(c -> row(quote(client.nameOf(c.device())),
                c.number(), quote(c.role()), quote(c.unit() == null ? "-" : c.unit()), known(c.min(), UNKNOWN),
                known(c.max(), UNKNOWN), quote(c.name()))));
    }

    static String colors(Obeying client, List<ChannelColor> colors) {
        return list("colors", colors.stream().map(c -> row(quote(client.nameOf(c.device())),
                c.channel(), c.rgb())));
    }

    /** Returns the TLS settings of a request, or null. */
    static SSLContext tls(Map<String, String> request) {
        if (!request.containsKey("authority")) {
            return null;
        }
        Path authority = Path.of(request.get("authority"));
        return request.containsKey("certificate")
                ? Certificates.trusting(authority, Path.of(request.get("certificate")), Path.of(request.get("key")))
                : Certificates.trusting(authority);
    }

    /** Reads the state of a simulation, or changes it by the order in the line, and returns the state. */
    private static String simulate(Map<String, String> request, String line) {
        Simulation world = new Simulation(request.get("host"), number(request, "port"), tls(request));
        world.setTimeout(number(request, "timeout_ms"));
        if (!line.contains("\"order\":")) {
            return state(world.state());
        }
        Simulation.Order order = new Simulation.Order();
        Matcher move = Pattern.compile(
                "\\{\"heading\":([-.\\d]+),\"name\":\"((?:[^\"\\\\]|\\\\.)*)\",\"x\":([-.\\d]+),\"y\":([-.\\d]+)\\}").matcher(line);
        while (move.find()) {
            order.move(move.group(2).replace("\\\"", "\""), Double.parseDouble(move.group(3)),
                    Double.parseDouble(move.group(4)), Double.parseDouble(move.group(1)));
        }
        Matcher word = Pattern.compile("\"(reset|seed|speed|pause|step)\":([^,}]+)").matcher(line);
        while (word.find()) {
            String value = word.group(2);
            switch (word.group(1)) {
                case "reset" -> order.reset();
                case "seed" -> order.seed(Long.parseLong(value));
                case "speed" -> order.speed(Double.parseDouble(value));
                case "pause" -> order.pause(value.equals("true"));
                default -> order.step(Integer.parseInt(value));
            }
        }
        return state(world.order(order));
    }

    private static String state(Simulation.State state) {
        List<String> movers = new ArrayList<>();
        for (Simulation.Mover m : state.movers()) {
            List<String> sees = new ArrayList<>();
            for (Simulation.Sighting s : m.sees()) {
                sees.add(object("name", quote(s.name()), "id", s.id(), "range", s.range(), "bearing", s.bearing()));
            }
            movers.add(object("name", quote(m.name()), "robot", m.robot(), "x", m.x(), "y", m.y(), "heading", m.heading(),
                    "sees", sees));
        }
        return object("time", state.time(), "speed", state.speed(), "paused", state.paused(), "finished", state.finished(),
                "seed", state.seed(), "movers", movers);
    }

    private void close() {
        if (robot != null) {
            robot.close();
            robot = null;
        }
    }

    private void command(String name, char device, long[] values) {
        long[] wide = Arrays.copyOf(values, 8);
        int[] v = Arrays.stream(wide).mapToInt(value -> (int) value).toArray();
        switch (name.split(":")[0]) {
            case "p" -> robot.setSpeed(v[0], v[1]);
            case "z" -> robot.setPTZ(v[0], v[1], v[2]);
            case "g" -> robot.setGripper(v[0], v[1]);
            case "io" -> robot.setOutput(device, v[0], v[1]);
            case "servo" -> {
                if (v[1] == UNKNOWN) {
                    robot.stopJoint(device, v[0]);
                } else {
                    robot.moveJoint(device, v[0], v[1], wide[2]);
                }
            }
            case "goto" -> {
                if (v[0] == UNKNOWN) {
                    robot.stopGoal(device);
                } else {
                    robot.setGoal(device, new Goal(v[0], v[1], v[2], v[3], v[4], v[5], v[6]), v[7]);
                }
            }
            default -> throw new IllegalArgumentException("device " + device + " takes no command");
        }
    }

    private void config(String name, int value, String text) {
        switch (name) {
            case "frequency" -> robot.setFrequency(value);
            case "lifetime" -> robot.setCommandLifetime(value);
            case "mode" -> robot.setDataMode(PlayerClient.DataMode.values()[value]);
            case "data" -> robot.requestData();
            case "fresh" -> robot.setFresh(value != 0);
            case "motors" -> robot.changeMotorState(value != 0);
            case "velocity" -> robot.changeVelocityControl(PlayerClient.VelocityMode.values()[value]);
            case "name" -> robot.setName(text);
            case "stop" -> robot.emergencyStop(value != 0);
            case "reset_odometry" -> robot.resetPosition();
            default -> throw new IllegalArgumentException("unknown configuration " + name);
        }
    }

    private String data(char device) {
        return switch (device) {
            case 'p' -> value(robot.position);
            case 's' -> value(robot.sonar);
            case 'l' -> value(robot.laser);
            case 'm' -> value(robot.misc);
            case 'g' -> value(robot.gripper);
            case 'z' -> value(robot.camfeedback);
            case 'v' -> value(new Vision(Arrays.asList(robot.channel)));
            case 'j' -> value(robot.joystick);
            case 'y' -> object("time", Long.toUnsignedString(robot.serverTime()), "ages", ages());
            default -> "{}";
        };
    }

    /** The numbers in the protocol for an unknown value: with a sign, and without. */
    static final long UNKNOWN = Integer.MIN_VALUE, UNKNOWN_AMOUNT = 0xFFFFFFFFL;

    static Object known(Number value, long unknown) {
        return value == null ? unknown : value;
    }

    /** Returns the data of any device. */
    static String value(Object data) {
        if (data instanceof int[] ranges) {
            return object("ranges", Arrays.toString(ranges));
        } else if (data instanceof Ranges d) {
            return value(d.toArray());
        } else if (data instanceof Position d) {
            return object("time", d.time(), "x", d.x(), "y", d.y(), "heading", d.heading(), "speed", d.speed(),
                    "turnrate", d.turnRate(), "compass", d.compass(), "stall", d.stall());
        } else if (data instanceof Misc d) {
            return object("front", d.frontBumpers(), "rear", d.backBumpers(), "battery", d.battery(), "voltage", d.voltage());
        } else if (data instanceof Gripper g) {
            return object("state", bits(g.paddlesOpen(), g.paddlesClosed(), g.paddlesMoving(), g.paddlesError(), g.liftUp(),
                    g.liftDown(), g.liftMoving(), g.liftError()), "beams", bits(g.gripLimitReached(), g.liftLimitReached(),
                    g.outerBeamObstructed(), g.innerBeamObstructed(), g.leftPaddleOpen(), g.rightPaddleOpen()));
        } else if (data instanceof CameraFeedback d) {
            return object("pan", d.pan(), "tilt", d.tilt(), "zoom", d.zoom());
        } else if (data instanceof Vision d) {
            List<String> channels = new ArrayList<>();
            for (int c = 0; c < d.channels().size(); c++) {
                List<String> blobs = new ArrayList<>();
                for (ColorBlob b : d.blobs(c)) {
                    blobs.add(object("color", c, "area", b.area(), "x", b.x(), "y", b.y(), "left", b.left(), "right", b.right(),
                            "top", b.top(), "bottom", b.bottom()));
                }
                channels.add(blobs.toString());
            }
            return object("channels", channels);
        } else if (data instanceof Joystick d) {
            return object("buttons", d.buttons(), "axes", d.axes());
        } else if (data instanceof Ranger d) {
            return object("unit_mm", d.unitMm(), "ranges", Arrays.toString(d.ranges()));
        } else if (data instanceof IMU d) {
            return object("roll_mdeg", known(d.rollMdeg(), UNKNOWN), "pitch_mdeg", known(d.pitchMdeg(), UNKNOWN),
                    "yaw_mdeg", known(d.yawMdeg(), UNKNOWN), "roll_rate_mdeg_per_s", known(d.rollRateMdegPerS(), UNKNOWN),
                    "pitch_rate_mdeg_per_s", known(d.pitchRateMdegPerS(), UNKNOWN),
                    "yaw_rate_mdeg_per_s", known(d.yawRateMdegPerS(), UNKNOWN),
                    "x_mm_per_s2", known(d.xMmPerS2(), UNKNOWN), "y_mm_per_s2", known(d.yMmPerS2(), UNKNOWN),
                    "z_mm_per_s2", known(d.zMmPerS2(), UNKNOWN));
        } else if (data instanceof GPS d) {
            return object("fix", known(d.fix(), 255), "satellites", known(d.satellites(), 255),
                    "latitude_e7", known(d.latitudeE7(), UNKNOWN), "longitude_e7", known(d.longitudeE7(), UNKNOWN),
                    "height_mm", known(d.heightMm(), UNKNOWN), "horizontal_mm", known(d.horizontalMm(), UNKNOWN_AMOUNT),
                    "vertical_mm", known(d.verticalMm(), UNKNOWN_AMOUNT), "time_ms", known(d.timeMs(), 0),
                    "speed_mm_per_s", known(d.speedMmPerS(), UNKNOWN_AMOUNT),
                    "course_mdeg", known(d.courseMdeg(), UNKNOWN_AMOUNT));
        } else if (data instanceof IO d) {
            return object("values", d.values().stream().map(v -> known(v, UNKNOWN)).toList());
        } else if (data instanceof Servo d) {
            return object("joints", d.joints().stream().map(j -> object("position", known(j.position(), UNKNOWN),
                    "goal", known(j.goal(), UNKNOWN), "state", j.state())).toList());
        } else if (data instanceof GotoData d) {
            return object("state", d.state(), "reason", d.reason(), "tag", d.tag(), "x_mm", known(d.xMm(), UNKNOWN),
                    "y_mm", known(d.yMm(), UNKNOWN), "heading_deg", known(d.headingDeg(), Goal.ANY),
                    "distance_mm", known(d.distanceMm(), UNKNOWN_AMOUNT));
        }
        throw new IllegalArgumentException("no data of " + data);
    }

    /** Returns a member of the answer that is a list. */
    static String list(String name, Stream<String> rows) {
        return ",\"" + name + "\":[" + rows.collect(Collectors.joining(",")) + "]";
    }

    static String row(Object... values) {
        return Arrays.toString(values);
    }

    static int bits(boolean... set) {
        int bits = 0;
        for (int i = 0; i < set.length; i++) {
            bits |= set[i] ? 1 << i : 0;
        }
        return bits;
    }

    /** Returns the ages in the block of device y, us, unsigned. */
    private String ages() {
        ByteBuffer b = ByteBuffer.wrap(robot.raw('y'));
        b.getLong(); // the time
        List<Long> ages = new ArrayList<>();
        while (b.hasRemaining()) {
            ages.add(Integer.toUnsignedLong(b.getInt()));
        }
        return ages.toString();
    }

    static String object(Object... members) {
        StringBuilder s = new StringBuilder("{");
        for (int i = 0; i < members.length; i += 2) {
            s.append(i == 0 ? "" : ",").append(quote(members[i].toString())).append(':').append(members[i + 1]);
        }
        return s.append('}').toString();
    }

    static String quote(String s) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : s.toCharArray()) {
            if (c < ' ' || c > '~' || c == '"' || c == '\\') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }

    private char device(Map<String, String> request) {
        String device = request.getOrDefault("device", "");
        if (opened.containsKey(device)) {
            return opened.get(device);
        }
        if (device.length() != 1) {
            throw new IllegalArgumentException("device " + device + " is not one letter");
        }
        return device.charAt(0);
    }

    static int number(Map<String, String> request, String name) {
        return Integer.parseInt(request.getOrDefault(name, "0"));
    }

    static long[] numbers(String list) {
        return Pattern.compile("-?\\d+").matcher(list).results().mapToLong(r -> Long.parseLong(r.group())).toArray();
    }
}
