package player;

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

    /** Raises the lift. */
    public void raise() {
        send(PlayerClient.LIFTup);
    }

    /** Lowers the lift. */
    public void lower() {
        send(PlayerClient.LIFTdown);
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

    private void send(int code) {
        command(Commands.gripper(code, 0));
    }
}
