import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.imageio.ImageIO;
import player.PlayerClient;
import player.PlayerException;

/**
 * Draws a map of a building from all ranging devices in it, and serves it as a picture on a page. It commands nothing.
 *
 * <p>usage: Mapper PAGE-PORT DIRECTORY WIDTH DEPTH SENSOR...
 *
 * <p>The map is WIDTH by DEPTH metres, with the origin in the middle. Every five seconds it is also written to DIRECTORY,
 * as map-SSSS.png, where SSSS is the time in seconds since the server started. A sensor is one of
 *
 * <ul>
 *   <li>robot=HOST:PORT,HOST:PORT - a robot with sonars, and the overhead camera that tracks it
 *   <li>laser=HOST:PORT,X,Y,HEADING - a laser at a fixed place, metres and degrees
 * </ul>
 *
 * <p>The connections may be slow. Each round of data says how old it is. So a range is combined with where the robot was
 * when it was measured, and not when it arrived.
 */
public class Mapper {
    static final double CELL = 0.05; // m
    static final int PICTURE_SECONDS = 5; // between the pictures in the directory
    static final int TIMEOUT_MS = 10_000; // of each wait for a server: a far one needs less than a second

    /** Where something is: metres, radians; t is the server's time in us. */
    record Pose(long t, double x, double y, double heading) {
        /** The pose of something at x, y and heading in the frame of this pose. */
        Pose with(double px, double py, double turned) {
            double cos = Math.cos(heading), sin = Math.sin(heading);
            return new Pose(t, x + px * cos - py * sin, y + px * sin + py * cos, heading + turned);
        }

        /** The pose on the way to a later one. */
        Pose between(Pose later, long at) {
            double share = later.t == t ? 0 : (double) (at - t) / (later.t - t);
            double turn = Math.IEEEremainder(later.heading - heading, 2 * Math.PI);
            return new Pose(at, x + share * (later.x - x), y + share * (later.y - y), heading + share * turn);
        }
    }

    /** Sixteen ranges in mm, and when they were measured. */
    record Scan(long t, int[] ranges) {}

    // The sonars of a Pioneer 2: x and y in m, direction in degrees.
    static final double[][] SONARS = {
        {0.069, 0.136, 90}, {0.114, 0.119, 50}, {0.148, 0.078, 30}, {0.166, 0.027, 10},
        {0.166, -0.027, -10}, {0.148, -0.078, -30}, {0.114, -0.119, -50}, {0.069, -0.136, -90},
        {-0.157, -0.136, -90}, {-0.203, -0.119, -130}, {-0.237, -0.078, -150}, {-0.255, -0.027, -170},
        {-0.255, 0.027, 170}, {-0.237, 0.078, 150}, {-0.203, 0.119, 130}, {-0.157, 0.136, 90},
    };
    static final double CONE = Math.toRadians(15); // of a sonar's beam
    static final double SONAR_REACH = 2.5; // m: further away the beam is too wide for a map
    static final int NO_ECHO = 8183; // mm, of the laser: this and more

    // Evidence for a wall in a cell, or against it. A laser's ray is thin, and says more than a sonar's cone.
    static final int LASER_HIT = 6, LASER_PASS = -2, SONAR_HIT = 2, SONAR_PASS = -1;
    static final int CERTAIN = 40, WALL = 6, FREE = -2; // limit of the evidence; from where a cell is one or the other
    static final double ROBOT = 0.4; // m around a robot: an echo from there is the robot, and no wall

    final int columns, rows;
    final int[] evidence;
    final double left, top;
    final List<Track> tracks = new CopyOnWriteArrayList<>();
    long scans, now; // number of scans drawn, and the server's time of the newest, us

    /** A robot: where it was lately, and scans that wait for the pose after them. */
    static class Track {
        final Deque<Pose> poses = new ArrayDeque<>();
        final Deque<Scan> waiting = new ArrayDeque<>();
    }

    Mapper(double width, double depth) {
        columns = (int) Math.ceil(width / CELL);
        rows = (int) Math.ceil(depth / CELL);
        evidence = new int[columns * rows];
        left = -width / 2;
        top = depth / 2;
    }

    // --- evidence

    synchronized void sawRobot(Track track, Pose pose) {
        track.poses.addLast(pose);
        if (track.poses.size() > 100) { // ten seconds
            track.poses.removeFirst();
        }
        place(track);
    }

    synchronized void heard(Track track, Scan scan) {
        track.waiting.addLast(scan);
        if (track.waiting.size() > 100) {
            track.waiting.removeFirst();
        }
        place(track);
    }

    /** Draws the scans of a robot for which both the pose before and the pose after are known. */
    private void place(Track track) {
        while (!track.waiting.isEmpty() && !track.poses.isEmpty() && track.waiting.getFirst().t <= track.poses.getLast().t) {
            Scan scan = track.waiting.removeFirst();
            Pose before = null;
            for (Pose pose : track.poses) {
                if (before != null && before.t <= scan.t && scan.t <= pose.t) {
                    drawSonars(track, before.between(pose, scan.t), scan.ranges);
                    break;
                }
                before = pose;
            }
        }
    }

    private void drawSonars(Track self, Pose robot, int[] ranges) {
        scanned(robot.t);
        for (int i = 0; i < ranges.length; i++) {
            double range = ranges[i] / 1000.0;
            if (range == 0) {
                continue; // it has not fired yet
            }
            Pose sonar = robot.with(SONARS[i][0], SONARS[i][1], Math.toRadians(SONARS[i][2]));
            for (int ray = -1; ray <= 1; ray++) {
                draw(sonar.with(0, 0, ray * CONE / 2), range, SONAR_REACH, SONAR_PASS, SONAR_HIT, self);
            }
        }
    }

    synchronized void drawLaser(Pose laser, int[] ranges) {
        scanned(laser.t);
        for (int i = 0; i < ranges.length; i++) {
            double range = ranges[i] >= NO_ECHO ? Double.POSITIVE_INFINITY : ranges[i] / 1000.0;
            draw(laser.with(0, 0, Math.toRadians(i / 2.0 - 90)), range, NO_ECHO / 1000.0, LASER_PASS, LASER_HIT, null);
        }
    }

    synchronized long now() {
        return now;
    }

    private void scanned(long t) {
        scans++;
        now = Math.max(now, t);
    }

    /** Draws one ray: free cells up to its end, and an echo there if it is not further away than reach. */
    private void draw(Pose from, double range, double reach, int pass, int hit, Track self) {
        double cos = Math.cos(from.heading), sin = Math.sin(from.heading);
        int echo = range <= reach ? cell(from.x + range * cos, from.y + range * sin) : -1;
        double free = Math.min(range, reach) - CELL;
        for (double along = 0; along < free; along += CELL) {
            int passed = cell(from.x + along * cos, from.y + along * sin);
            if (passed >= 0 && passed != echo) {
                add(passed, pass);
            }
        }
        if (echo >= 0 && !isRobot(from.t, from.x + range * cos, from.y + range * sin, self)) {
            add(echo, hit);
        }
    }

    /** Reports whether another robot was at x, y at about the time t. */
    private boolean isRobot(long t, double x, double y, Track self) {
        for (Track track : tracks) {
            if (track == self) {
                continue;
            }
            Pose nearest = null;
            for (Pose pose : track.poses) {
                if (nearest == null || Math.abs(pose.t - t) < Math.abs(nearest.t - t)) {
                    nearest = pose;
                }
            }
            if (nearest != null && Math.hypot(nearest.x - x, nearest.y - y) < ROBOT) {
                return true;
            }
        }
        return false;
    }

    private int cell(double x, double y) {
        int column = (int) Math.floor((x - left) / CELL), row = (int) Math.floor((top - y) / CELL);
        return column < 0 || column >= columns || row < 0 || row >= rows ? -1 : row * columns + column;
    }

    private void add(int cell, int more) {
        evidence[cell] = Math.max(-CERTAIN, Math.min(evidence[cell] + more, CERTAIN));
    }

    // --- picture

    /** The map as PNG: black for walls, white for free floor, grey for unknown places. */
    synchronized byte[] picture() throws IOException {
        BufferedImage image = new BufferedImage(columns, rows, BufferedImage.TYPE_BYTE_GRAY);
        for (int i = 0; i < evidence.length; i++) {
            int grey = evidence[i] >= WALL ? 0 : evidence[i] <= FREE ? 255 : 128;
            image.getRaster().setSample(i % columns, i / columns, 0, grey);
        }
        ByteArrayOutputStream png = new ByteArrayOutputStream();
        ImageIO.write(image, "png", png);
        return png.toByteArray();
    }

    synchronized String page() {
        return """
            <!doctype html><meta charset="utf-8"><title>The map</title>
            <h1>The building, as its sensors see it</h1>
            <img id="map" src="map.png" width="%d" style="image-rendering: pixelated" alt="the map">
            <p>%d scans, the newest of %.1f s.</p>
            <script>setTimeout(() => location.reload(), 1000)</script>
            """.formatted(columns * 4, scans, now / 1e6);
    }

    void serve(int port) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress("localhost", port), 0);
        server.createContext("/", exchange -> reply(exchange, "text/html", page().getBytes(StandardCharsets.UTF_8)));
        server.createContext("/map.png", exchange -> reply(exchange, "image/png", picture()));
        server.start();
    }

    static void reply(HttpExchange exchange, String type, byte[] body) throws IOException {
        try (exchange) {
            exchange.getResponseHeaders().set("Content-Type", type);
            exchange.getResponseHeaders().set("Cache-Control", "no-store");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    /** Writes the picture, with the time of the newest scan in its name. */
    synchronized void save(Path directory) throws IOException {
        Path whole = directory.resolve("map-%04d.png".formatted(now / 1_000_000)), partial = directory.resolve("map.part");
        Files.write(partial, picture());
        Files.move(partial, whole, StandardCopyOption.REPLACE_EXISTING); // no reader sees half a picture
    }

    // --- devices

    /** A handler of new data: t is when it was measured, in us of the server's time. */
    interface Use {
        void take(long t, PlayerClient from);
    }

    /** Reads a device on a thread of its own, whenever there is new data. A lost connection ends the program. */
    static void follow(String address, char device, Use use) {
        int colon = address.lastIndexOf(':');
        String host = address.substring(0, colon);
        int port = Integer.parseInt(address.substring(colon + 1));
        Runnable reader = () -> {
            try (PlayerClient client = new PlayerClient(host, port, TIMEOUT_MS)) {
                client.request("yr" + device + "r"); // y sends the ages
                client.config('y', 'w', 'm', 'a', 'p', 'p', 'e', 'r'); // the name in the server's status
                client.setFresh(true);
                while (true) {
                    client.getData();
                    OptionalLong age = client.age(device);
                    if (client.isNew(device) && client.has(device) && age.isPresent()) {
                        use.take(client.serverTime() - age.getAsLong(), client);
                    }
                }
            } catch (PlayerException e) {
                System.err.println("mapper: " + address + ": " + e.getMessage());
                System.exit(1);
            }
        };
        new Thread(reader, address).start();
    }

    void add(String sensor) {
        String[] parts = sensor.split("[=,]");
        if (parts[0].equals("robot") && parts.length == 3) {
            Track track = new Track();
            tracks.add(track);
            follow(parts[1], 's', (t, client) -> heard(track, new Scan(t, client.sonar)));
            follow(parts[2], 'p', (t, client) -> sawRobot(track, new Pose(t, client.position.x() / 1000.0,
                    client.position.y() / 1000.0, Math.toRadians(client.position.heading()))));
        } else if (parts[0].equals("laser") && parts.length == 5) {
            double x = Double.parseDouble(parts[2]), y = Double.parseDouble(parts[3]);
            double heading = Math.toRadians(Double.parseDouble(parts[4]));
            follow(parts[1], 'l', (t, client) -> drawLaser(new Pose(t, x, y, heading), client.laser));
        } else {
            throw new IllegalArgumentException("what is " + sensor + "?");
        }
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        if (args.length < 5) {
            System.err.println("usage: Mapper PAGE-PORT DIRECTORY WIDTH DEPTH SENSOR...");
            System.exit(2);
        }
        Mapper mapper = new Mapper(Double.parseDouble(args[2]), Double.parseDouble(args[3]));
        mapper.serve(Integer.parseInt(args[0]));
        for (int i = 4; i < args.length; i++) {
            mapper.add(args[i]);
        }
        for (long saved = 0;; Thread.sleep(100)) {
            long due = mapper.now() / (PICTURE_SECONDS * 1_000_000L);
            if (due > saved) {
                mapper.save(Path.of(args[1]));
                saved = due;
            }
        }
    }
}
