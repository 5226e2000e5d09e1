/**
 * A client of the Player robot device server, without dependencies.
 *
 * <p>{@link player.Robot} is where programs begin: devices are objects, data never change, and every wait has a limit.
 * {@link player.PlayerClient} is the same by the names of the Player manual's appendix C, and of Player 0.7.4a.
 * {@link player.Simulation} reads and changes a simulated world.
 *
 * <p>It needs Java 17 or a newer one, and of it sockets, threads and {@code java.net.http}: nothing of one system.
 */
package player;
