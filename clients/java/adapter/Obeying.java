import java.util.Map;

/** A class of the library that obeys requests. */
interface Obeying {
    /** Obeys a request and returns the members of the answer, each after a comma. */
    String perform(Map<String, String> request);

    /** Returns the name of a device, by its letter or its byte. */
    String nameOf(char device);
}
