package player;

import static player.PlayerException.Kind.PROTOCOL;
import static player.Tests.equal;
import static player.Tests.fails;
import static player.Tests.unhex;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;

/** Compact rounds. The cases of clients/conformance have one. */
final class CompactTest {
    private CompactTest() {}

    private static DeviceKind[] kinds() {
        DeviceKind[] kinds = new DeviceKind[256];
        for (DeviceKind kind : DeviceKind.values()) {
            kinds[kind == DeviceKind.RANGER ? 'R' : kind.letter()] = kind;
        }
        kinds[0] = null;
        return kinds;
    }

    /** Blocks of the encoder, each before the plain blocks that it stands for. */
    static void testGolden() throws IOException {
        List<String> golden = Files.readAllLines(Path.of("../../codec/compact/testdata/golden.txt"));
        equal("many", golden.size() > 10, true);
        for (int i = 0; i + 1 < golden.size(); i += 2) {
            StringBuilder plain = new StringBuilder();
            Compact items = new Compact(unhex(golden.get(i)), kinds());
            while (items.next()) {
                plain.append(Tests.block(items.device(), HexFormat.of().formatHex(items.payload())));
            }
            equal("block " + i / 2, plain.toString(), golden.get(i + 1));
        }
    }

    /** An error is the end. */
    static void testWrong() {
        for (String item : List.of("7A05", "7A0700", "7A0502", "7A", "67090202", "7A" + "FF".repeat(12), "6C1200000101",
                "7A158080040000")) {
            Compact items = new Compact(unhex("7300", item), kinds());
            equal("the item before", items.next(), true);
            fails(item, PROTOCOL, items::next);
            equal("after it", items.next(), false);
        }
    }
}
