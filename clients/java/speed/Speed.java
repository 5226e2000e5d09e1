import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import player.PlayerClient;
import player.PlayerException;

/** Reads many robots, one thread each, for the benchmarks (docs/CLIENTS.md). */
public final class Speed extends Thread {
    private static final int RATE = 50; // Hz
    private static final int LIMIT = 10_000; // ms for each call that waits

    private static volatile boolean stop;
    private static long begin, end; // ns

    private final PlayerClient robot;
    private final List<Long> intervals = new ArrayList<>(); // us

    private Speed(String host, int port) {
        robot = new PlayerClient(host, port, LIMIT);
        robot.setFrequency(RATE);
        robot.request("lrsrprgrmrvrzr");
    }

    @Override
    public void run() {
        long last = 0;
        while (!stop) {
            try {
                robot.getData();
            } catch (PlayerException e) {
                System.err.println(e.getMessage());
                Runtime.getRuntime().halt(1);
            }
            long now = System.nanoTime();
            if (now - begin >= 0 && now - end < 0 && last != 0) {
                intervals.add((now - last) / 1000);
            }
            last = now;
        }
    }

    private static void sleepUntil(long ns) throws InterruptedException {
        Thread.sleep(Math.max(0, (ns - System.nanoTime()) / 1_000_000));
    }

    public static void main(String[] args) throws InterruptedException, IOException {
        if (args.length != 5) {
            System.err.println("usage: Speed HOST PORT COUNT WARMUP SECONDS");
            System.exit(2);
        }
        int port = Integer.parseInt(args[1]);
        List<Speed> readers = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[2]); i++) {
            readers.add(new Speed(args[0], port + i));
        }
        begin = System.nanoTime() + (long) (Double.parseDouble(args[3]) * 1e9);
        end = begin + (long) (Double.parseDouble(args[4]) * 1e9);
        for (Speed reader : readers) {
            reader.start();
        }
        sleepUntil(begin);
        System.out.println("begin");
        sleepUntil(end);
        System.out.println("end");
        System.in.readAllBytes();
        stop = true;
        List<Long> all = new ArrayList<>();
        for (Speed reader : readers) {
            reader.join();
            all.addAll(reader.intervals);
        }
        Collections.sort(all);
        int n = all.size();
        if (n == 0) {
            all.add(0L);
        }
        System.out.printf("{\"runtime\":\"Java %s\",\"frames\":%d,\"p50_us\":%d,\"p99_us\":%d,\"max_us\":%d}%n",
                Runtime.version().feature(), n, all.get(n / 2), all.get((int) (n * 99L / 100)), all.get(all.size() - 1));
    }
}
