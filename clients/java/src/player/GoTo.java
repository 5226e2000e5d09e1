package player;

import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import player.PlayerException.Kind;

/** A driver of the server that drives to goals around obstacles (PROTOCOL 5.6). */
public final class GoTo extends Sensor<GotoData> {
    /**
     * For data of a goal, ns. The server answers no command, so a goal that it drops is only seen by its absence. A
     * network that needs longer is lost.
     */
    private static final long TAKE_LIMIT = 3_000_000_000L;

    GoTo(Connection connection, Roster.Name name) {
        super(connection, name, GotoData.class);
    }

    /**
     * Opens it, for its data and for commands: {@link Sensor#open()}.
     *
     * @return this
     */
    @Override
    public GoTo open() {
        return open(Access.READ_WRITE);
    }

    @Override
    public GoTo open(Access access) {
        super.open(access);
        return this;
    }

    /**
     * Has the robot drive to a goal, and does not wait. The data say how far it has come. Any other command to the
     * wheels ends the goal, and so does this client when it leaves. A goal that has ended needs another tag to be given
     * again.
     *
     * @param goal where to
     * @param tag any number of yours, 0..65535, which the data repeat
     */
    public void send(Goal goal, int tag) {
        command(goal.command(tag));
    }

    /** Gives the goal up, and stops the wheels if it drives them. */
    public void stop() {
        command(Goal.stop());
    }

    /**
     * Drives to a goal, and returns when the robot has arrived: {@link #drive(Goal, Consumer)}.
     *
     * @param goal where to
     * @return the data of the arrival
     */
    public GotoData drive(Goal goal) {
        return drive(goal, data -> {});
    }

    /**
     * Drives to a goal, and returns when the robot has arrived. It reads rounds meanwhile, asks for them in
     * request/reply mode, and repeats its command, so that a command lifetime may be as short as some rounds. It takes
     * as long as the way does; a robot that sees no way gives up after two minutes, and one that comes no nearer
     * after five.
     *
     * <p>A GOAL error: the robot has given the goal up, another one has replaced it, or the server has not taken it,
     * because another client has control or the emergency stop holds. After any other error the robot stops if it
     * drives to this goal.
     *
     * @param goal where to
     * @param each is called with the data of each round of this goal; its exceptions end the drive
     * @return the data of the arrival
     */
    public GotoData drive(Goal goal, Consumer<? super GotoData> each) {
        try {
            return arrive(goal, ThreadLocalRandom.current().nextInt(1 << 16), each);
        } catch (RuntimeException e) {
            boolean ended = e instanceof PlayerException p && (p.kind == Kind.GOAL || p.kind == Kind.CLOSED);
            if (!ended && connection.can(code(), 'w')) {
                stop();
            }
            throw e;
        }
    }

    private GotoData arrive(Goal goal, int tag, Consumer<? super GotoData> each) {
        boolean taken = false;
        for (long begun = System.nanoTime();;) {
            send(goal, tag);
            if (connection.requestReply()) {
                connection.config('y', 'd');
            }
            GotoData data = decoded(connection.read());
            if (data != null && goal.is(data, tag)) {
                taken = true;
                each.accept(data);
                if (data.doing() == GotoData.State.ARRIVED) {
                    return data;
                }
                if (data.doing() == GotoData.State.STOPPED) {
                    throw new PlayerException(Kind.GOAL, "the robot has not arrived at (" + goal.xMm() + ", "
                            + goal.yMm() + ") mm: " + data.why());
                }
            } else if (taken) {
                throw new PlayerException(Kind.GOAL, "another goal has replaced this one");
            } else if (System.nanoTime() - begun > TAKE_LIMIT) {
                stop();
                throw new PlayerException(Kind.GOAL, "the server has not taken the goal");
            }
        }
    }
}
