import { once } from "node:events";
import { request as ask, createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A request that went through, and the engine's bytes. */
export interface Exchange {
  readonly path: string;
  readonly body: string;
  status: number;
  readonly pieces: Buffer[];
  /** Whether the answer came to its end. */
  whole: boolean;
}

/** Stands between Tollgate and an engine, changes nothing, and keeps what passed. */
export interface Tee extends AsyncDisposable {
  readonly url: string;
  /** Generations and embeddings since the last call of this. */
  take(): Exchange[];
  /** The last answer to a call of a path. Undefined: it was never called. */
  latest(path: string): Exchange | undefined;
  /** Where requests go from now on. */
  target: string;
  /** Whether it promises to keep its connections and closes each after an answer, as llama-server and proxies do. */
  closes: boolean;
}

const kept = /\/(completions|chat|generate|embeddings|embed)$/;

export async function startTee(): Promise<Tee> {
  let exchanges: Exchange[] = [];
  const byPath = new Map<string, Exchange>();
  const tee = { target: "", closes: false };
  const server = createServer((request, response) => {
    const { method = "GET", url: path = "/", headers } = request;
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      const exchange: Exchange = { path, body: body.toString(), status: 0, pieces: [], whole: false };
      byPath.set(path, exchange);
      if (kept.test(path) && method === "POST") {
        exchanges.push(exchange);
      }
      const { host: _, ...others } = headers;
      const upstream = ask(tee.target + path, { method, headers: others, agent: false }, (answer) => {
        exchange.status = answer.statusCode ?? 0;
        response.writeHead(exchange.status, {
          ...answer.headers,
          ...(tee.closes && { connection: "keep-alive", "keep-alive": "timeout=5, max=100" }),
        });
        response.flushHeaders();
        answer.on("data", (piece: Buffer) => {
          exchange.pieces.push(piece);
          response.write(piece);
        });
        answer.on("end", () => {
          exchange.whole = answer.complete;
          response.end(() => tee.closes && response.socket?.destroySoon());
        });
        answer.on("error", () => response.destroy());
      });
      upstream.on("error", () => response.destroy());
      response.on("close", () => upstream.destroy());
      upstream.end(body);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return Object.assign(tee, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    take() {
      const taken = exchanges;
      exchanges = [];
      return taken;
    },
    latest: (path: string) => byPath.get(path),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  });
}
