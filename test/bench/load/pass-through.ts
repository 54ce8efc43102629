/**
 * The yardstick: the least that a Node process can do between a client and an engine. It pipes bytes both ways and
 * knows nothing of what they say. Its argument is the engine's port; it reports its own port to the parent.
 */
import { Agent, createServer, request as send } from "node:http";
import { listenAndReport } from "../measure/processes.ts";

const port = Number(process.argv[2]);
const agent = new Agent({ keepAlive: true });

const server = createServer((request, response) => {
  const upstream = send(
    { agent, host: "127.0.0.1", port, method: request.method, path: request.url, headers: request.headers },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    },
  );
  upstream.on("error", () => response.destroy());
  request.pipe(upstream);
});
server.keepAliveTimeout = 600_000;
listenAndReport(server);
