// Checks a log for viewers: its schemas named foxglove.* against npm's
// @foxglove/schemas, and each message against the schema of its topic. It prints what is
// wrong, or "valid" and the number of messages.
//
//   node validate.js FILE
import { readFile } from "node:fs/promises";
import { McapStreamReader } from "@mcap/core";
import * as official from "@foxglove/schemas/jsonschema.js";
import { decompress } from "fzstd";

const wrong = new Set();

// compare reports where our schema is not a part of the official one. A list that is
// always empty has elements without properties.
function compare(ours, theirs, path) {
  if (!theirs) return wrong.add(`${path}: not in the official schema`);
  const type = theirs.type ?? (theirs.oneOf?.every((o) => Number.isInteger(o.const)) ? "integer" : "unknown");
  if (ours.type !== type) return wrong.add(`${path}: ${ours.type}, officially ${type}`);
  if (ours.type === "array") return compare(ours.items, theirs.items, path + "[]");
  if (ours.type !== "object" || (path.endsWith("[]") && Object.keys(ours.properties).length === 0)) return;
  for (const name of new Set([...Object.keys(ours.properties), ...Object.keys(theirs.properties)])) {
    if (!ours.properties[name]) wrong.add(`${path}.${name}: missing`);
    else compare(ours.properties[name], theirs.properties[name], `${path}.${name}`);
  }
}

// conform reports where a value is not of its schema.
function conform(value, schema, path) {
  const type = Array.isArray(value) ? "array" : Number.isInteger(value) && schema.type === "integer" ? "integer" : value === null ? "null" : typeof value;
  if (type !== schema.type) return wrong.add(`${path}: ${type}, want ${schema.type}`);
  if (type === "array") return value.forEach((v) => conform(v, schema.items, path + "[]"));
  if (type !== "object") return;
  for (const name of new Set([...Object.keys(value), ...Object.keys(schema.properties)])) {
    if (!(name in value) || !schema.properties[name]) wrong.add(`${path}.${name}: not in both`);
    else conform(value[name], schema.properties[name], `${path}.${name}`);
  }
}

const reader = new McapStreamReader({ decompressHandlers: { zstd: (bytes, size) => decompress(bytes, new Uint8Array(Number(size))) } });
reader.append(await readFile(process.argv[2]));
const schemas = new Map(), channels = new Map();
let messages = 0;
for (let record; (record = reader.nextRecord()); ) {
  if (record.type === "Schema") {
    if (record.encoding !== "jsonschema") wrong.add(`${record.name}: encoding ${record.encoding}`);
    const schema = JSON.parse(new TextDecoder().decode(record.data));
    schemas.set(record.id, schema);
    const [space, name] = record.name.split(".");
    if (space === "foxglove") compare(schema, official[name], record.name);
  }
  if (record.type === "Channel") channels.set(record.id, record);
  if (record.type === "Message") {
    const channel = channels.get(record.channelId);
    const value = JSON.parse(new TextDecoder().decode(record.data));
    conform(value, schemas.get(channel.schemaId), channel.topic);
    messages++;
  }
}
console.log(wrong.size ? [...wrong].join("\n") : `valid: ${messages} messages`);
