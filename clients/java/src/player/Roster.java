package player;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The names of a robot's devices: those with letters, and those that the server has listed (PROTOCOL 8.9.5). */
final class Roster {
    /** The name of a device: an interface, and perhaps an index. */
    private static final Pattern NAME = Pattern.compile("([^:]+)(?::([0-9]{1,9}))?");

    private List<Device> listed; // null: the server has not listed them
    /** Names by bytes that were listed, also before the server was started anew. */
    private Map<Character, String> seen = new TreeMap<>();

    /** A name, taken apart. */
    record Name(String interfaceName, int index) {
        /** Takes a name apart: without an index it is 0. A USAGE error: it cannot be one. */
        static Name of(String text) {
            Matcher m = NAME.matcher(text);
            if (!m.matches()) {
                throw new PlayerException(PlayerException.Kind.USAGE,
                        "\"" + text + "\" is no device: write an interface, and perhaps an index as in laser:1");
            }
            return new Name(m.group(1), m.group(2) == null ? 0 : Integer.parseInt(m.group(2)));
        }

        /** Returns the letter of the protocol for it; 0: it has none. */
        char letter() {
            DeviceKind kind = DeviceKind.of(interfaceName);
            return index == 0 && kind != null ? kind.letter() : 0;
        }

        @Override
        public String toString() {
            return interfaceName + ":" + index;
        }
    }

    /** Takes over the server's list. */
    synchronized void take(List<Device> devices) {
        listed = devices;
        devices.forEach(d -> seen.putIfAbsent(d.code(), d.name()));
    }

    /** Reports whether the server has listed the devices. */
    synchronized boolean known() {
        return listed != null;
    }

    /** Returns the devices that the server has listed. */
    synchronized List<Device> listed() {
        return listed == null ? List.of() : listed;
    }

    /**
     * Returns the error if a byte means another device than it has meant since the devices were opened, or null. A device
     * may have been away meanwhile.
     */
    synchronized PlayerException moved(List<Device> now) {
        String text = "the server was started anew with other devices: open them again by their names";
        Map<Character, PlayerException.Reason> reasons = new TreeMap<>();
        for (Device is : now) {
            if (!is.name().equals(seen.get(is.code()))) {
                reasons.put(is.code(), new PlayerException.Reason("moved", text));
            }
        }
        if (reasons.isEmpty()) {
            return null;
        }
        seen = new TreeMap<>();
        now.forEach(d -> seen.put(d.code(), d.name()));
        return new PlayerException(text, "", reasons);
    }

    /** Returns the byte of a device that the server has listed; null: it has not. */
    Character byteOf(Name name) {
        return listedAs(name.toString());
    }

    private Character listedAs(String name) {
        return listed().stream().filter(d -> d.name().equals(name)).findFirst().map(Device::code).orElse(null);
    }

    /** Returns the byte of a device by its name in an answer; null: it is not known. */
    synchronized Character byteOf(String name) {
        Character code = name.length() == 1 ? Character.valueOf(name.charAt(0)) : listedAs(name);
        if (code != null) {
            return code;
        }
        return seen.entrySet().stream().filter(e -> e.getValue().equals(name)).findFirst() // removed by a reload
                .map(Map.Entry::getKey).orElse(null);
    }

    /** Returns the name of a device for people: its letter, or its name if it has none. */
    synchronized String nameOf(char device) {
        for (Device d : listed()) {
            DeviceKind kind = DeviceKind.of(d.interfaceName());
            if (d.code() == device && (kind == null || kind.letter() != device)) {
                return d.name();
            }
        }
        boolean lettered = device >= 'A' && device <= 'Z' || device >= 'a' && device <= 'z';
        return lettered ? String.valueOf(device) : seen.getOrDefault(device, String.valueOf(device)); // removed by a reload
    }

    /** Returns pairs for people: devices without letters by their names. */
    String shown(String pairs) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i + 1 < pairs.length(); i += 2) {
            String device = nameOf(pairs.charAt(i));
            text.append(device.length() == 1 ? device : (i == 0 ? "" : " ") + device + " ").append(pairs.charAt(i + 1));
        }
        return text.toString();
    }
}
