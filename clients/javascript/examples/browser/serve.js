// Serves this folder's page and the library, and passes the page's WebSockets on to the dashboard of a
// Player server, which accepts pages of its own address only: for it, the page comes from there.
//
//   node examples/browser/serve.js 9000 localhost:8080
//
// Then open http://localhost:9000. It listens on this machine only.

import fs from "node:fs";
import http from "node:http";
import net from "node:net";

const files = {
  "/": ["index.html", "text/html"],
  "/steering.js": ["../steering.js", "text/javascript"],
};
for (const name of ["compact", "dashboard", "data", "errors", "session", "wait"]) {
  files[`/${name}.js`] = [`../../lib/${name}.js`, "text/javascript"];
}

const [port, dashboard] = [process.argv[2] ?? "9000", process.argv[3] ?? "localhost:8080"];

const server = http.createServer((request, response) => {
  const [file, type] = files[request.url] ?? [];
  if (!file) return response.writeHead(404).end();
  response.writeHead(200, { "Content-Type": type, "Cache-Control": "no-cache" });
  response.end(fs.readFileSync(new URL(file, import.meta.url)));
});

// A WebSocket begins with a request, which is sent to the dashboard unchanged: the dashboard compares its
// host with its origin. Then both sides are connected.
server.on("upgrade", (request, page) => {
  const [host, dashboardPort] = dashboard.split(":");
  const robot = net.createConnection({ host, port: Number(dashboardPort), noDelay: true });
  const headers = request.rawHeaders.flatMap((name, i, all) => (i % 2 === 0 ? [`${name}: ${all[i + 1]}`] : []));
  robot.write([`GET ${request.url} HTTP/1.1`, ...headers, "", ""].join("\r\n"));
  page.pipe(robot).pipe(page);
  for (const [socket, other] of [[page, robot], [robot, page]]) {
    socket.on("error", () => other.destroy());
    socket.on("close", () => other.destroy());
  }
});

server.listen(Number(port), "localhost", () => console.log(`http://localhost:${server.address().port}`));
