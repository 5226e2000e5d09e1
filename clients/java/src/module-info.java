/** A client of the Player robot device server: {@link player.Robot}. */
module player {
    requires java.net.http;

    exports player;
}
