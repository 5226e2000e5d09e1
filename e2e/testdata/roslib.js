// A program with npm's roslib. It asks what there is, subscribes to all topics, calls
// services and drives the robot, until it is killed, and prints what it has got, a line
// each.
//
//   node roslib.js URL
import { Ros, Service, Topic } from "roslib";

const seen = new Set();

// print prints a line once.
function print(...words) {
  const line = words.join(" ");
  if (!seen.has(line)) process.stdout.write(line + "\n");
  seen.add(line);
}

const ros = new Ros({ url: process.argv[2] });
ros.on("error", (error) => print("error", error.message ?? error));
ros.on("close", () => print("closed"));
ros.on("status", (status) => print("status", status.level, status.msg));
const failed = (error) => print("failed", error);
const call = (name, serviceType, request) =>
  new Service({ ros, name, serviceType }).callService(request, (r) => print("service", name, r.success), failed);

ros.on("connection", () => {
  ros.getNodes((nodes) => print("nodes", nodes), failed);
  ros.getServices((services) => print("services", services.length), failed);
  ros.getMessageDetails("sensor_msgs/msg/LaserScan", ([scan]) => {
    const kind = (field) => `${field}:${scan.fieldtypes[scan.fieldnames.indexOf(field)]}`;
    print("details", scan.type, kind("header"), kind("ranges"));
  }, failed);
  ros.getTopicsAndRawTypes(({ topics, types, typedefs_full_text }) => {
    topics.forEach((name, i) => print("raw", name, types[i], typedefs_full_text[i].includes("geometry_msgs/") || typedefs_full_text[i].includes("header")));
  }, failed);
  ros.getNodeDetails("/player", ({ subscribing, publishing }) => print("node", subscribing, publishing.includes("/odom")), failed);
  ros.getServicesForType("std_srvs/srv/Trigger", (services) => print("triggers", services.sort()), failed);
  ros.getServiceRequestDetails("std_srvs/srv/SetBool", ({ typedefs: [d] }) => print("request", d.type, d.fieldnames), failed);
  ros.getServiceResponseDetails("std_srvs/srv/SetBool", ({ typedefs: [d] }) => print("response", d.fieldnames), failed);
  ros.getParams((names) => print("parameters", names.length), failed);
  ros.getActionServers((names) => print("actions", names.length), failed);
  ros.getTopicType("/scan", (type) => print("type", type), failed);
  ros.getTopics(({ topics, types }) => {
    topics.forEach((name, i) => {
      if (name === "/cmd_vel") return;
      new Topic({ ros, name, messageType: types[i] }).subscribe((m) => print("message", name, types[i], m.ranges?.length ?? m.range ?? ""));
    });
    // A second subscription of the same topic, with the type's name of ROS 1.
    const once = new Topic({ ros, name: "/odom", messageType: "nav_msgs/Odometry", throttle_rate: 50, queue_length: 1 });
    once.subscribe((m) => {
      print("odometry", m.header.frame_id, m.child_frame_id, m.pose.covariance.length);
      once.unsubscribe();
    });
  }, failed);
  call("/motors", "std_srvs/srv/SetBool", { data: true });
  call("/reset_odometry", "std_srvs/srv/Trigger", {});
  call("/nothing", "std_srvs/srv/Trigger", {});
  const velocity = new Topic({ ros, name: "/cmd_vel", messageType: "geometry_msgs/msg/Twist" });
  setInterval(() => velocity.publish({ linear: { x: 0.1, y: 0, z: 0 }, angular: { x: 0, y: 0, z: 0.5 } }), 100);
});
