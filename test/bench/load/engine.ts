/**
 * A load target, not a model: it answers in the vLLM dialect as fast as it can, from bytes that were encoded before,
 * whatever it is asked. It runs in a process of its own and reports its port to the parent.
 *
 * The `model` of a request picks how its tokens leave:
 * - `burst`: the whole answer in one write;
 * - `eager`: a write per token, or for each `stream_interval` of them, one each turn of the event loop;
 * - `steady`, `paced`, `slow`: a write per token every 5 ms, 20 ms, 1 s, each stream in its own phase, the end with the last
 *   one; a whole answer comes when its last token would.
 */
import { createServer, type ServerResponse } from "node:http";
import { listenAndReport } from "../measure/processes.ts";
import { embeddingsAnswer, plainAnswer, streamChunks } from "./engine-answers.ts";

const models = ["burst", "eager", "steady", "paced", "slow"];

interface Stream {
  readonly response: ServerResponse;
  /** The write of each token, and the end. Undefined: the token leaves with a later one. */
  readonly chunks: readonly (Buffer | undefined)[];
  next: number;
}

/** Writes one chunk of each of its streams every period; streams keep the phase in which they came. */
class Pacer {
  readonly #slots: Set<Stream>[];
  #current = 0;

  constructor(periodMs: number, slots: number) {
    this.#slots = Array.from({ length: slots }, () => new Set<Stream>());
    setInterval(() => this.#tick(), periodMs / slots);
  }

  add(stream: Stream): void {
    const slot = this.#slots[this.#current];
    slot?.add(stream);
    stream.response.on("close", () => slot?.delete(stream));
  }

  #tick(): void {
    this.#current = (this.#current + 1) % this.#slots.length;
    for (const stream of this.#slots[this.#current] ?? []) {
      writeNext(stream);
    }
  }
}

const pacers: Readonly<Record<string, Pacer>> = {
  steady: new Pacer(5, 5),
  paced: new Pacer(20, 20),
  slow: new Pacer(1000, 200),
};

/** The first chunk leaves at once, the rest as the model says. */
function stream(response: ServerResponse, model: string, chunks: Stream["chunks"]): void {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  const pacer = pacers[model];
  if (pacer) {
    pace(pacer, response, [...chunks.slice(0, -2), joined(chunks.slice(-2))]);
  } else if (model === "eager") {
    writeEagerly({ response, chunks, next: 0 });
  } else {
    response.end(joined(chunks));
  }
}

function pace(pacer: Pacer, response: ServerResponse, chunks: Stream["chunks"]): void {
  const started: Stream = { response, chunks, next: 0 };
  writeNext(started);
  pacer.add(started);
}

const joined = (chunks: Stream["chunks"]) => Buffer.concat(chunks.filter((chunk) => chunk !== undefined));

function writeNext(stream: Stream): void {
  const chunk = stream.chunks[stream.next++];
  if (stream.next === stream.chunks.length) {
    stream.response.end(chunk);
  } else if (chunk !== undefined) {
    stream.response.write(chunk);
  }
}

function writeEagerly(stream: Stream): void {
  if (stream.response.destroyed) {
    return;
  }
  writeNext(stream);
  if (stream.next < stream.chunks.length) {
    setImmediate(writeEagerly, stream);
  }
}

/** Found by its bytes rather than parsed, so that a long prompt costs the load target nothing. */
function field(body: Buffer, name: string, otherwise: string): string {
  const key = `"${name}":`;
  const at = body.lastIndexOf(key);
  if (at === -1) {
    return otherwise;
  }
  return /^\s*"?([^",}\s]*)/.exec(body.toString("latin1", at + key.length, at + key.length + 100))?.[1] ?? otherwise;
}

/** Longer bodies hold an input beyond the embedding model's context, which a server worth having refuses. */
const longestEmbeddings = 32_768;

/** What a route answers whole; nothing for a route that is not there. */
function whole(url: string | undefined, body: Buffer): Buffer | string | undefined {
  switch (url) {
    case "/v1/embeddings": {
      const { input, encoding_format } = JSON.parse(body.toString());
      return embeddingsAnswer(Array.isArray(input) ? input.length : 1, encoding_format === "base64");
    }
    case "/v1/models":
      return JSON.stringify({
        object: "list",
        data: [...models, "embed"].map((id) => ({ id, object: "model", owned_by: "bench", max_model_len: 131_072 })),
      });
    case "/tokenize":
      return JSON.stringify({ count: 16, max_model_len: 131_072, tokens: Array(16).fill(1) });
    case "/version":
      return JSON.stringify({ version: "0.22.0" });
    case "/health":
    case "/metrics":
      return "";
    default:
      return undefined;
  }
}

function answer(url: string | undefined, body: Buffer, response: ServerResponse): void {
  if (url === "/v1/embeddings" && body.length > longestEmbeddings) {
    const message = "This model's maximum context length is 8192 tokens. Please reduce the length of the input.";
    response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message, type: "BadRequestError", param: null, code: 400 } }));
    return;
  }
  if (url === "/v1/chat/completions" || url === "/v1/messages") {
    const model = field(body, "model", "burst");
    const tokens = Number(field(body, "max_completion_tokens", field(body, "max_tokens", "16")));
    if (field(body, "stream", "false") === "true") {
      const runningUsage = field(body, "continuous_usage_stats", "false") === "true";
      const interval = Number(field(body, "stream_interval", "1"));
      stream(response, model, streamChunks(model, tokens, { runningUsage, interval }));
      return;
    }
    const pacer = pacers[model];
    const content = plainAnswer(model, tokens);
    if (pacer === undefined || tokens === 1) {
      send(response, 200, content);
    } else {
      writeHead(response, 200, content);
      pace(pacer, response, [...Array(tokens - 1).fill(undefined), content]);
    }
    return;
  }
  const found = whole(url, body);
  const content = found ?? JSON.stringify({ error: { message: `no route ${url}`, type: "NotFoundError" } });
  send(response, found === undefined ? 404 : 200, content);
}

function send(response: ServerResponse, status: number, content: Buffer | string): void {
  writeHead(response, status, content);
  response.end(content);
}

/** Leaves with the first bytes of the content. */
function writeHead(response: ServerResponse, status: number, content: Buffer | string): void {
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(content) });
}

const server = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => answer(request.url, Buffer.concat(pieces), response));
});
// Connections of a system stay open between the rounds that load it.
server.keepAliveTimeout = 600_000;
listenAndReport(server);
