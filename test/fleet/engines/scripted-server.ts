import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request that reached the server. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked into as they come
  readonly body: any;
}

/** An HTTP server that answers as a test tells it. */
export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  readonly received: Received[];
}

/** Starts a server; a path without an answer gets 404. */
export async function scriptedServer(
  answers: Readonly<Record<string, (request: Received, response: ServerResponse) => void>>,
): Promise<ScriptedServer> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece) => pieces.push(piece));
    request.on("end", () => {
      const text = Buffer.concat(pieces).toString();
      const { method = "", url = "", headers } = request;
      const one = { method, path: url, headers, body: text === "" ? undefined : JSON.parse(text) };
      received.push(one);
      const answer = answers[url];
      if (answer === undefined) {
        response.writeHead(404).end();
      } else {
        answer(one, response);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers with JSON. */
export function json(
  response: ServerResponse,
  body: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}
