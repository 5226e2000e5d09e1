// Reads an MCAP file with npm's @mcap/core, by its index or as a stream, and prints its
// messages, sorted: topic, log time, publish time, schema, payload in hexadecimal.
//
//   node read.js indexed|stream FILE
import { open, readFile } from "node:fs/promises";
import { McapIndexedReader, McapStreamReader } from "@mcap/core";
import { decompress } from "fzstd";

const decompressHandlers = { zstd: (bytes, size) => decompress(bytes, new Uint8Array(Number(size))) };
const [mode, path] = process.argv.slice(2);
const schemas = new Map(), channels = new Map(), lines = [];

function message(m) {
  const channel = channels.get(m.channelId);
  const schema = schemas.get(channel.schemaId);
  lines.push([channel.topic, m.logTime, m.publishTime, schema.name, Buffer.from(m.data).toString("hex")].join(" "));
}

if (mode === "indexed") {
  const file = await open(path);
  const readable = {
    size: async () => BigInt((await file.stat()).size),
    read: async (offset, size) => {
      const buffer = new Uint8Array(Number(size));
      await file.read(buffer, 0, buffer.length, Number(offset));
      return buffer;
    },
  };
  const reader = await McapIndexedReader.Initialize({ readable, decompressHandlers });
  for (const [id, schema] of reader.schemasById) schemas.set(id, schema);
  for (const [id, channel] of reader.channelsById) channels.set(id, channel);
  let last = 0n;
  for await (const m of reader.readMessages()) {
    if (m.logTime < last) throw new Error(`${m.logTime} after ${last}`);
    last = m.logTime;
    message(m);
  }
  if (BigInt(lines.length) !== reader.statistics.messageCount) throw new Error(`${reader.statistics.messageCount} messages in the statistics`);
  await file.close();
} else {
  const reader = new McapStreamReader({ decompressHandlers });
  reader.append(await readFile(path));
  for (let record; (record = reader.nextRecord()); ) {
    if (record.type === "Schema") schemas.set(record.id, record);
    if (record.type === "Channel") channels.set(record.id, record);
    if (record.type === "Message") message(record);
  }
  if (!reader.done()) throw new Error("the stream reader is not done");
}
process.stdout.write(lines.sort().join("\n") + "\n");
