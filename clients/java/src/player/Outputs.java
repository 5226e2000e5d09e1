package player;

/** Inputs and outputs. {@link Robot#channels} describes them. */
public final class Outputs extends Sensor<IO> {
    Outputs(Connection connection, Roster.Name name) {
        super(connection, name, IO.class);
    }

    /**
     * Opens it, for its data and for commands: {@link Sensor#open()}.
     *
     * @return this
     */
    @Override
    public Outputs open() {
        return open(Access.READ_WRITE);
    }

    @Override
    public Outputs open(Access access) {
        super.open(access);
        return this;
    }

    /**
     * Sets an output. The server limits the value, and ignores a channel that is no output.
     *
     * @param channel its number in the data, from 0
     * @param value in the unit of the channel; of a digital one 0 or 1
     */
    public void set(int channel, int value) {
        command(Commands.output(channel, value));
    }
}
