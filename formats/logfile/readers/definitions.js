// Compares definitions of messages with the definitions of ROS 2. Standard input has them as JSON, by
// name, for example {"geometry_msgs/Point": "float x, float y, float z"}: each field with the type
// that it has in Python. Prints each that is of ROS 2 and equal.
//
//   node definitions.js <FILE
import { readFileSync } from "node:fs";
import { ros2jazzy } from "@foxglove/rosmsg-msgs-common";

const python = { bool: "bool", string: "str", float32: "float", float64: "float", time: "builtin_interfaces/Time" };

function typeOf(field) {
  return field.isArray ? "list" : (python[field.type] ?? (/^u?int\d+$/.test(field.type) ? "int" : field.type.replace("/msg/", "/")));
}

for (const [name, given] of Object.entries(JSON.parse(readFileSync(0, "utf8")))) {
  const real = ros2jazzy[name] ?? ros2jazzy[name.replace("/", "/msg/")];
  const want = real?.definitions.filter((d) => !d.isConstant).map((d) => `${typeOf(d)} ${d.name}`).join(", ");
  if (given.replaceAll("bytes ", "int ") !== want) // the package has int8 for ROS's byte
    throw new Error(`${name}: ${given}, want ${want}`);
  console.log(name);
}
