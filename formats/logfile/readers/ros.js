// Reads a bag of ROS 2 with npm's readers: metadata.yaml, the file by its index, and each
// message from the schema in the file. Prints the messages, sorted: topic, log time, type,
// the fields as JSON. All that metadata.yaml names must be in the file, and each schema must be
// the schema of ROS 2, where npm has it.
//
//   node ros.js FOLDER
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { McapIndexedReader } from "@mcap/core";
import { parse as parseDefinition } from "@foxglove/rosmsg";
import { MessageReader } from "@foxglove/rosmsg2-serialization";
import { ros2humble, ros2jazzy } from "@foxglove/rosmsg-msgs-common";
import { decompress } from "fzstd";
import { parse as parseYAML } from "yaml";

const folder = process.argv[2];
const about = parseYAML(await readFile(join(folder, "metadata.yaml"), "utf8")).rosbag2_bagfile_information;
const file = await readFile(join(folder, about.relative_file_paths[0]));
const readable = {
  size: async () => BigInt(file.length),
  read: async (offset, size) => new Uint8Array(file.subarray(Number(offset), Number(offset + size))),
};
const decompressHandlers = { zstd: (bytes, size) => decompress(bytes, new Uint8Array(Number(size))) };
const reader = await McapIndexedReader.Initialize({ readable, decompressHandlers });

function expect(what, got, want) {
  if (JSON.stringify(got) !== JSON.stringify(want)) throw new Error(`${what}: ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
}

// fields returns the names and types of a message's fields.
function fields(definition) {
  return definition.definitions.filter((d) => !d.isConstant).map((d) => `${d.type}${d.isArray ? `[${d.arrayLength ?? ""}]` : ""} ${d.name}`);
}

const checked = new Set();
function check(name, definitions) {
  for (const d of definitions) {
    const short = (d.name ?? name).replace("/msg/", "/");
    const real = ros2jazzy[short] ?? ros2humble[short];
    if (real) {
      checked.add(short);
      expect(short, fields(d), fields(real));
    }
  }
}

expect("profile", reader.header.profile, "ros2");
const decoders = new Map();
for (const channel of reader.channelsById.values()) {
  const schema = reader.schemasById.get(channel.schemaId);
  expect(channel.topic, [channel.messageEncoding, schema.encoding], ["cdr", "ros2msg"]);
  const definitions = parseDefinition(new TextDecoder().decode(schema.data), { ros2: true });
  check(schema.name, definitions);
  decoders.set(channel.id, { topic: channel.topic, type: schema.name, reader: new MessageReader(definitions), count: 0, quality: channel.metadata.get("offered_qos_profiles") });
}
if (!checked.has("sensor_msgs/LaserScan") || !checked.has("tf2_msgs/TFMessage")) throw new Error(`only ${[...checked]} were checked`);

const plain = (key, value) =>
  typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value)) ? String(value) : ArrayBuffer.isView(value) ? Array.from(value) : value;
const lines = [];
let total = 0, first, last;
for await (const m of reader.readMessages()) {
  const d = decoders.get(m.channelId);
  const message = d.reader.readMessage(m.data);
  d.count++;
  total++;
  first ??= m.logTime;
  last = m.logTime;
  lines.push([d.topic, m.logTime, d.type, JSON.stringify(message, plain)].join(" "));
}
expect("messages", about.message_count, total);
expect("start", String(about.starting_time.nanoseconds_since_epoch), String(Number(first)));
expect("duration", about.duration.nanoseconds, Number(last - first));
const named = about.topics_with_message_count.map((t) => [t.topic_metadata.name, t.topic_metadata.type, t.topic_metadata.offered_qos_profiles, t.message_count].join(" ")).sort();
expect("topics", named, [...decoders.values()].map((d) => [d.topic, d.type, d.quality, d.count].join(" ")).sort());
for (const d of decoders.values()) {
  const [quality] = parseYAML(d.quality);
  expect(`durability of ${d.topic}`, quality.durability, d.topic.endsWith("/tf_static") ? 1 : 2);
}
process.stdout.write(lines.sort().join("\n") + "\n");
