import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** The model that a metronome serves. */
export const testModel = "metronome";
/** Each token of an answer. */
export const token = " tick";
/** What it counts for every prompt. */
export const promptTokens = 7;
/** How often it beats, and how many tokens a beat has. */
const beatMs = 100;
const beatTokens = 20;
/** How fast an answer comes. */
export const tokensASecond = (beatTokens * 1000) / beatMs;

/**
 * An inference server that keeps the same time for every answer, and knows how far each had come. A prompt is
 * "NAME TOKENS": what the test calls the request, and how long its answer shall be. "NAME TOKENS heedless" gets an
 * answer of that length whatever limit the request has.
 */
export interface Metronome {
  readonly url: string;
  /** The tokens that it has counted, by the request's name. */
  readonly counted: ReadonlyMap<string, number>;
  /** From now on beats so many times as often. */
  hasten(times: number): void;
  close(): Promise<void>;
}

interface Stream {
  readonly name: string;
  readonly length: number;
  readonly response: ServerResponse;
}

export async function startMetronome(): Promise<Metronome> {
  const counted = new Map<string, number>();
  const streams = new Set<Stream>();
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") {
      response.end(JSON.stringify({ object: "list", data: [{ id: testModel, object: "model" }] }));
      return;
    }
    if (request.url === "/tokenize") {
      response.end(
        JSON.stringify({ count: promptTokens, max_model_len: 131_072, tokens: Array(promptTokens).fill(1) }),
      );
      return;
    }
    let body = "";
    for await (const piece of request) {
      body += piece;
    }
    const { messages, max_tokens = Number.POSITIVE_INFINITY } = JSON.parse(body);
    const [name = "", tokens, heedless] = String(messages.at(-1).content).split(" ");
    const stream = {
      name,
      length: Math.min(Number(tokens), heedless ? Number.POSITIVE_INFINITY : max_tokens),
      response,
    };
    response.setHeader("content-type", "text/event-stream");
    counted.set(name, 0);
    streams.add(stream);
    response.on("close", () => streams.delete(stream));
    beat(stream);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");

  function beat(stream: Stream): void {
    const before = counted.get(stream.name) ?? 0;
    const now = Math.min(before + beatTokens, stream.length);
    counted.set(stream.name, now);
    const finishReason = now < stream.length ? null : "stop";
    const choice = { index: 0, delta: { content: token.repeat(now - before) }, finish_reason: finishReason };
    const usage = { prompt_tokens: promptTokens, completion_tokens: now, total_tokens: promptTokens + now };
    stream.response.write(`data: ${JSON.stringify({ choices: [choice], usage })}\n\n`);
    if (finishReason === null) {
      return;
    }
    streams.delete(stream);
    stream.response.end("data: [DONE]\n\n");
  }
  const beatAll = () => streams.forEach(beat);
  let beats = setInterval(beatAll, beatMs);

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counted,
    hasten(times) {
      clearInterval(beats);
      beats = setInterval(beatAll, beatMs / times);
    },
    async close() {
      clearInterval(beats);
      server.close().closeAllConnections();
      await once(server, "close");
    },
  };
}
