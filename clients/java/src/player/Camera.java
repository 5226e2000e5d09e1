package player;

/** The head of a camera: it pans, tilts and zooms. */
public final class Camera extends Sensor<CameraFeedback> {
    Camera(Connection connection, Roster.Name name) {
        super(connection, name, CameraFeedback.class);
    }

    /**
     * Opens it, for its data and for commands: {@link Sensor#open()}.
     *
     * @return this
     */
    @Override
    public Camera open() {
        return open(Access.READ_WRITE);
    }

    @Override
    public Camera open(Access access) {
        super.open(access);
        return this;
    }

    /**
     * Points the camera.
     *
     * @param panDeg -100..100 deg, positive is counterclockwise
     * @param tiltDeg -25..25 deg, positive is up
     * @param zoom 0 wide .. 1023 telephoto
     */
    public void point(int panDeg, int tiltDeg, int zoom) {
        command(Commands.camera(panDeg, tiltDeg, zoom));
    }
}
