import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { model } from "./bodies.ts";

/** A request as it came to the engine. */
interface Reached {
  readonly line: string;
  readonly rawHeaders: string[];
  readonly body: string;
}

/** A server on loopback. */
interface Listening {
  /** http://host:port */
  readonly url: string;
  close(): void;
}

/** An inference server that writes down what reaches it. */
export interface WritingEngine extends Listening {
  /** Since the caller emptied it. */
  readonly reached: Reached[];
}

export async function startEngine(): Promise<WritingEngine> {
  const reached: Reached[] = [];
  const listening = await listen((request, response) => void answer(request, response, reached));
  return { ...listening, reached };
}

/** A server that nobody has a reason to call. */
export interface Canary extends Listening {
  /** The number of calls, all of them. */
  readonly fetched: number;
}

export async function startCanary(): Promise<Canary> {
  let fetched = 0;
  const listening = await listen((_, response) => {
    fetched += 1;
    response.end();
  });
  return {
    ...listening,
    get fetched() {
      return fetched;
    },
  };
}

async function listen(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<Listening> {
  const server: Server = createServer(handle).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => server.close().closeAllConnections(),
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, reached: Reached[]): Promise<void> {
  const body = Buffer.concat(await request.toArray()).toString();
  if (request.method === "POST") {
    reached.push({ line: `${request.method} ${request.url}`, rawHeaders: request.rawHeaders, body });
    response.setHeader("content-type", "text/event-stream");
    const usage = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 };
    const choices = [{ index: 0, delta: { content: "fine" }, finish_reason: "stop" }];
    response.write(`data: ${JSON.stringify({ choices, usage })}\n\n`);
    response.end(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`);
  } else {
    response.end(JSON.stringify({ object: "list", data: [{ id: model, object: "model" }] }));
  }
}
