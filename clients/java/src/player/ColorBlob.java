package player;

/**
 * One patch of colour in the camera image. Coordinates are pixels, 0..254, from the top left.
 *
 * @param area pixels, 0..16777215
 * @param x    of the centre
 * @param y    of the centre
 */
public record ColorBlob(int area, int x, int y, int left, int right, int top, int bottom) {}
