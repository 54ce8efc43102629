import type { ServerResponse } from "node:http";
import type { Call, Encoder, Host } from "../dialects/dialect.ts";
import { EngineError } from "../engine-error.ts";
import { sendError, sendJson } from "./reply.ts";
import { SplitWriter } from "./split-writer.ts";

/** Brings one generation to its reader, in a stream or whole, and lets its faults happen. */
export class Delivery {
  readonly #host: Host;
  readonly #response: ServerResponse;
  readonly #call: Call;
  readonly #encoder: Encoder;
  readonly #writer: SplitWriter | ServerResponse;
  /** Output tokens after which a fault happens. */
  readonly #breakAt: number;
  #over = false;

  constructor(host: Host, response: ServerResponse, call: Call, encoder: Encoder) {
    const { cut, reset, error, die, split } = call.fault;
    this.#host = host;
    this.#response = response;
    this.#call = call;
    this.#encoder = encoder;
    this.#writer = split === undefined ? response : new SplitWriter(response, split);
    this.#breakAt = Math.min(cut ?? never, reset ?? never, error ?? never, die ?? never);
    response.on("close", () => this.#abandon());
    if (!call.request.stream) return;
    response.writeHead(200, eventStream);
    // Engines send the status before they have a token, so it is no sign of one.
    if (host.settings.speed > 0) response.flushHeaders();
  }

  /** Takes new output tokens: `from` up to but not including `to`. */
  progress(from: number, to: number): void {
    if (this.#over) return;
    const length = this.#call.run.output.length;
    const breaks = to >= Math.min(this.#breakAt, length) && this.#breakAt !== never;
    if (this.#call.request.stream) this.#stream(from, breaks ? Math.min(to, this.#breakAt) : to, length, breaks);
    else if (!breaks && to === length) this.#finish(() => sendJson(this.#response, 200, this.#encoder.whole()));
    if (breaks) this.#break();
  }

  #stream(from: number, to: number, length: number, breaks: boolean): void {
    const encoder = this.#encoder;
    let text = this.#call.fault.pings === undefined ? "" : ": ping\n\n";
    if (from === 0) text += encoder.open();
    for (let at = from; at < to; at++) text += encoder.token(at);
    if (to < length || breaks) {
      if (text !== "") this.#writer.write(text);
      return;
    }
    text += encoder.close();
    if (this.#host.dialect.done && this.#call.fault.done === undefined) text += "data: [DONE]\n\n";
    this.#finish(() => this.#writer.end(text));
  }

  #finish(send: () => void): void {
    this.#over = true;
    send();
  }

  #break(): void {
    this.#over = true;
    const { fault, request, run, model } = this.#call;
    model.scheduler.abort(run.sequence);
    const { socket } = this.#response;
    if (fault.die !== undefined) this.#host.die();
    else if (fault.reset !== undefined) socket?.resetAndDestroy();
    else if (fault.cut !== undefined) socket?.destroySoon();
    else this.#fail(request.stream);
  }

  #fail(stream: boolean): void {
    const failure = new EngineError(
      500,
      "EngineCore encountered an issue. See stack trace (above) for the root cause.",
    );
    const { dialect } = this.#host;
    if (!stream) sendError(this.#response, dialect, failure);
    else {
      const end = dialect.done ? "data: [DONE]\n\n" : "";
      this.#writer.end(`data: ${JSON.stringify(dialect.error(failure))}\n\n${end}`);
    }
  }

  /** The reader went away: the GPU stops working for it. */
  #abandon(): void {
    if (this.#over) return;
    this.#over = true;
    this.#call.model.scheduler.abort(this.#call.run.sequence);
  }
}

const never = Number.POSITIVE_INFINITY;
const eventStream = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" };
