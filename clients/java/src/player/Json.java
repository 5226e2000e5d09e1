package player;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** JSON (RFC 8259): objects are Maps, arrays Lists, numbers Doubles. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** Returns the value, or throws an IllegalArgumentException. */
    static Object parse(String text) {
        Json json = new Json(text);
        try {
            Object value = json.value();
            if (json.at == text.length()) {
                return value;
            }
        } catch (IndexOutOfBoundsException e) {
            // it ends too early
        }
        throw new IllegalArgumentException("no JSON: at " + json.at);
    }

    static String quote(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c < ' ' || c == '"' || c == '\\') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }

    private Object value() {
        space();
        Object value;
        switch (text.charAt(at)) {
            case '{' -> {
                Map<String, Object> object = new HashMap<>();
                for (at++; !ends('}', object.isEmpty()); ) {
                    space();
                    String name = string();
                    space();
                    take(":");
                    object.put(name, value());
                }
                value = object;
            }
            case '[' -> {
                List<Object> array = new ArrayList<>();
                for (at++; !ends(']', array.isEmpty()); ) {
                    array.add(value());
                }
                value = array;
            }
            case '"' -> value = string();
            case 't' -> value = word("true", true);
            case 'f' -> value = word("false", false);
            case 'n' -> value = word("null", null);
            default -> {
                int start = at;
                while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) {
                    at++;
                }
                value = Double.valueOf(text.substring(start, at)); // a NumberFormatException is an IllegalArgumentException
            }
        }
        space();
        return value;
    }

    /** Reports whether an object or array ends here; otherwise it takes the comma before the next member. */
    private boolean ends(char end, boolean first) {
        space();
        if (text.charAt(at) == end) {
            at++;
            return true;
        }
        if (!first) {
            take(",");
        }
        return false;
    }

    private String string() {
        take("\"");
        StringBuilder s = new StringBuilder();
        for (char c; (c = text.charAt(at++)) != '"'; ) {
            if (c == '\\') {
                c = text.charAt(at++);
                int escape = "bfnrt".indexOf(c);
                if (escape >= 0) {
                    c = "\b\f\n\r\t".charAt(escape);
                } else if (c == 'u') {
                    c = (char) Integer.parseInt(text.substring(at, at + 4), 16);
                    at += 4;
                }
            }
            s.append(c);
        }
        return s.toString();
    }

    private Object word(String word, Object value) {
        take(word);
        return value;
    }

    private void take(String want) {
        if (!text.startsWith(want, at)) {
            throw new IllegalArgumentException("no JSON: no " + want + " at " + at);
        }
        at += want.length();
    }

    private void space() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }
}
