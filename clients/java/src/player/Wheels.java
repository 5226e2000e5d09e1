package player;

/** The wheels of a robot, and their odometry. */
public final class Wheels extends Sensor<Position> {
    Wheels(Connection connection, Roster.Name name) {
        super(connection, name, Position.class);
    }

    /**
     * Opens it, for its data and for commands: {@link Sensor#open()}.
     *
     * @return this
     */
    @Override
    public Wheels open() {
        return open(Access.READ_WRITE);
    }

    @Override
    public Wheels open(Access access) {
        super.open(access);
        return this;
    }

    /**
     * Drives until the next call. The server and the robot limit both speeds. The wheels stop when this client leaves,
     * and, with {@link Robot#setCommandLifetime}, unless the call is repeated in time.
     *
     * @param mmPerS mm/s, positive is forward
     * @param degPerS deg/s, positive is counterclockwise
     */
    public void drive(int mmPerS, int degPerS) {
        command(Commands.speed(mmPerS, degPerS));
    }

    /** Stops. A client with a command lifetime stops only wheels that it drives itself. */
    public void stop() {
        drive(0, 0);
    }

    /**
     * Turns the power of the motors on or off, for all clients. Be careful: the robot may start at once. A real robot
     * starts with its motors off.
     *
     * @param on true: with power
     */
    public void setMotors(boolean on) {
        connection.config('p', 'm', on ? 1 : 0);
    }

    /**
     * Controls translation and rotation separately, for all clients: smoother and slower. The default is false.
     *
     * @param on true: separately
     */
    public void setSmooth(boolean on) {
        connection.config('p', 'v', on ? 1 : 0);
    }

    /** Sets the odometry to (0, 0, 0), for all clients. */
    public void resetOdometry() {
        connection.config('p', 'R');
    }
}
