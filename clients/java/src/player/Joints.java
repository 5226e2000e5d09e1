package player;

/** Joints that servos move. {@link Robot#channels} describes them. */
public final class Joints extends Sensor<Servo> {
    /** Instead of a joint's number: all of them. */
    public static final int ALL = PlayerClient.ALL_JOINTS;

    Joints(Connection connection, Roster.Name name) {
        super(connection, name, Servo.class);
    }

    /**
     * Opens it, for its data and for commands: {@link Sensor#open()}.
     *
     * @return this
     */
    @Override
    public Joints open() {
        return open(Access.READ_WRITE);
    }

    @Override
    public Joints open(Access access) {
        super.open(access);
        return this;
    }

    /**
     * Moves a joint at the speed of its driver.
     *
     * @param joint its number in the data, from 0, or {@link #ALL}
     * @param goal in the unit of the joint, for example mdeg
     */
    public void move(int joint, int goal) {
        move(joint, goal, 0);
    }

    /**
     * Moves a joint.
     *
     * @param joint its number in the data, from 0, or {@link #ALL}
     * @param goal in the unit of the joint, for example mdeg
     * @param speed in that unit each second, 0..4294967295; 0: as its driver moves it
     */
    public void move(int joint, int goal, long speed) {
        command(Commands.joint(joint, goal, speed));
    }

    /**
     * Stops a joint where it is.
     *
     * @param joint its number in the data, from 0
     */
    public void stop(int joint) {
        move(joint, Payload.UNKNOWN, 0);
    }

    /** Stops all joints where they are. */
    public void stop() {
        stop(ALL);
    }
}
