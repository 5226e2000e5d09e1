package player;

/** The rights of a program to a device that it has opened. */
public enum Access {
    /** Its data are read. */
    READ('r'),
    /** It takes commands. */
    WRITE('w'),
    /** Both. */
    READ_WRITE('a');

    final char letter;

    Access(char letter) {
        this.letter = letter;
    }
}
