// A viewer with npm's @foxglove/ws-protocol. It subscribes to all topics, calls
// services, sets parameters and drives the robot, until it is killed, and prints what it
// has got, a line each.
//
//   node view.js URL SUBPROTOCOL
import protocol from "@foxglove/ws-protocol";
import { WebSocket } from "ws";

const [url, subprotocol] = process.argv.slice(2);
const client = new protocol.FoxgloveClient({ ws: new WebSocket(url, [subprotocol]) });
const seen = new Set();
const topics = new Map(), services = new Map();

// print prints a line once.
function print(...words) {
  const line = words.join(" ");
  if (!seen.has(line)) process.stdout.write(line + "\n");
  seen.add(line);
}

const json = (data) => JSON.parse(new TextDecoder().decode(data));

client.on("error", (error) => print("error", error.message));
client.on("close", (event) => print("closed", event.code));
client.on("status", (status) => print("status", status.level, status.message));
client.on("serverInfo", (info) => print("serverInfo", info.capabilities.join(), info.supportedEncodings.join()));
client.on("advertise", (channels) => {
  for (const c of channels) {
    JSON.parse(c.schema);
    topics.set(client.subscribe(c.id), c);
    print("topic", c.topic, c.encoding, c.schemaName, c.schemaEncoding);
  }
});
client.on("message", (m) => {
  const channel = topics.get(m.subscriptionId), message = json(m.data);
  const lag = Date.now() - Number(m.timestamp / 1000000n);
  const timely = channel.topic === "/log" || (lag > -1000 && lag < 60000);
  print("message", channel.topic, timely ? "timely" : `${lag} ms old`, message.ranges?.length ?? "");
});
client.on("advertiseServices", (list) => {
  for (const s of list) {
    services.set(s.id, s.name);
    const request = new TextEncoder().encode(s.type === "std_srvs/SetBool" ? '{"data":true}' : "{}");
    client.sendServiceCallRequest({ serviceId: s.id, callId: s.id, encoding: "json", data: new DataView(request.buffer) });
  }
});
client.on("serviceCallResponse", (r) => print("service", services.get(r.serviceId), r.callId === r.serviceId, json(r.data).success));
client.on("serviceCallFailure", (f) => print("service", services.get(f.serviceId), f.message));
client.on("parameterValues", (p) => print("parameters", p.id ?? "update", JSON.stringify(p.parameters)));
client.on("open", () => {
  client.getParameters([], "all");
  client.subscribeParameterUpdates(["/r0.rate"]);
  client.setParameters([{ name: "/r0.rate", value: 20 }], "set");
  const channel = client.advertise({ topic: "/r0/cmd_vel", encoding: "json", schemaName: "geometry_msgs/Twist" });
  setInterval(() => {
    const twist = { linear: { x: 0.1, y: 0, z: 0 }, angular: { x: 0, y: 0, z: 0.5 } };
    client.sendMessage(channel, new TextEncoder().encode(JSON.stringify(twist)));
  }, 200);
});
