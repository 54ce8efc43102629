import { createServer } from "node:http";

// A worker that answers until it is told to stop. It hears nothing for a while before it stops, so that a connection
// handed to it in this while is still on its way when it has stopped.

const deafMs = 300;
const server = createServer((_, response) => response.end("answered"));
server.listen(0, "127.0.0.1", () => process.send?.(server.address()));
process.on("message", (order: "stop" | "die") => {
  process.send?.("deaf");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, deafMs);
  if (order === "die") {
    process.kill(process.pid, "SIGKILL");
  }
  server.close();
  process.send?.("stopped");
});
