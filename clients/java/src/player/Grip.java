package player;

import java.time.Duration;

/** A gripper with two paddles on a lift. */
public final class Grip extends Sensor<Gripper> {
    Grip(Connection connection, Roster.Name name) {
        super(connection, name, Gripper.class);
    }

    /**
     * Opens it, for its data and for commands: {@link Sensor#open()}.
     *
     * @return this
     */
    @Override
    public Grip open() {
        return open(Access.READ_WRITE);
    }

    @Override
    public Grip open(Access access) {
        super.open(access);
        return this;
    }

    /** Opens the paddles. */
    public void openPaddles() {
        send(PlayerClient.GRIPopen);
    }

    /** Closes the paddles. */
    public void closePaddles() {
        send(PlayerClient.GRIPclose);
    }

    /** Stops the paddles. */
    public void stopPaddles() {
        send(PlayerClient.GRIPstop);
    }

    /**
     * Has the paddles press for a time.
     *
     * @param time at most 5.1 s, in steps of 20 ms
     */
    public void press(Duration time) {
        command(Commands.gripper(PlayerClient.GRIPpress, steps(time)));
    }

    /** Raises the lift. */
    public void raise() {
        send(PlayerClient.LIFTup);
    }

    /** Lowers the lift. */
    public void lower() {
        send(PlayerClient.LIFTdown);
    }

    /** Stops the lift. */
    public void stopLift() {
        send(PlayerClient.LIFTstop);
    }

    /**
     * Has the lift carry for a time.
     *
     * @param time at most 5.1 s, in steps of 20 ms
     */
    public void carry(Duration time) {
        command(Commands.gripper(PlayerClient.LIFTcarry, steps(time)));
    }

    /** Stops paddles and lift. */
    public void halt() {
        send(PlayerClient.GRIPhalt);
    }

    /** Puts the gripper away: paddles closed, lift up. */
    public void store() {
        send(PlayerClient.GRIPstore);
    }

    /** Makes the gripper ready: paddles open, lift down. */
    public void deploy() {
        send(PlayerClient.GRIPdeploy);
    }

    /** Returns a time in the unit of the commands, which is a USAGE error if it does not fit. */
    private static int steps(Duration time) {
        return (int) Math.max(Integer.MIN_VALUE, Math.min(time.toMillis() / 20, Integer.MAX_VALUE));
    }

    private void send(int code) {
        command(Commands.gripper(code, 0));
    }
}
