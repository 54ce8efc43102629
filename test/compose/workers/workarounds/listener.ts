import { createServer } from "node:http";

// A worker that answers until it is told to stop listening.

const server = createServer((_, response) => response.end("answered"));
server.listen(0, "127.0.0.1", () => process.send?.(server.address()));
process.on("message", () => {
  server.close();
  process.send?.("stopped");
});
