import type { ServerResponse } from "node:http";
import type { Call, Encoder, Host } from "../dialects/dialect.ts";
import { EngineError } from "../engine-error.ts";
import { sendError, sendJson } from "./reply.ts";
import { SplitWriter } from "./split-writer.ts";

/** Delivers one generation to its reader, streamed or in one piece, with its faults. */
export class Delivery {
  readonly #host: Host;
  readonly #response: ServerResponse;
  readonly #path: string;
  readonly #call: Call;
  readonly #encoder: Encoder;
  readonly #writer: SplitWriter | ServerResponse;
  /** Output tokens after which a fault happens. */
  readonly #breakAt: number;
  /** Output tokens of one piece. The first and the last one are sent at once. */
  readonly #interval: number;
  #sent = 0;
  #over = false;

  constructor(host: Host, response: ServerResponse, path: string, call: Call, encoder: Encoder) {
    const { cut, reset, error, die, split } = call.fault;
    this.#host = host;
    this.#response = response;
    this.#path = path;
    this.#call = call;
    this.#encoder = encoder;
    this.#writer = split === undefined ? response : new SplitWriter(response, split);
    this.#breakAt = Math.min(cut ?? never, reset ?? never, error ?? never, die ?? never);
    this.#interval = host.dialect.name === "vllm" ? call.request.streamInterval : 1;
    response.on("close", () => this.#abandon());
    if (!call.request.stream) {
      return;
    }
    response.writeHead(200, { "content-type": encoder.contentType, "cache-control": "no-cache" });
    // Engines send the status before they have a token, so a status does not announce one.
    if (host.settings.speed > 0) {
      response.flushHeaders();
    }
  }

  /** Takes the output tokens up to but not including `to`. */
  progress(to: number): void {
    if (this.#over) {
      return;
    }
    const { length } = this.#call.run.output;
    const breaks = this.#breakAt !== never && to >= Math.min(this.#breakAt, length);
    if (this.#call.request.stream) {
      this.#stream(Math.min(to, this.#breakAt), length, breaks);
    } else if (to === length && !breaks) {
      this.#over = true;
      sendJson(this.#response, 200, this.#encoder.gathered());
    }
    if (breaks) {
      this.#break();
    }
  }

  #stream(to: number, length: number, breaks: boolean): void {
    const encoder = this.#encoder;
    const from = this.#sent;
    if (from > 0 && to < length && to - from < this.#interval) {
      return;
    }
    this.#sent = to;
    let text = this.#call.fault.pings === undefined ? "" : ": ping\n\n";
    if (from === 0) {
      text += encoder.open();
    }
    for (let at = from; at < to; at++) {
      text += encoder.token(at);
    }
    if (to === length && !breaks) {
      this.#over = true;
      this.#writer.end(text + encoder.close());
    } else if (text !== "") {
      this.#writer.write(text);
    }
  }

  #break(): void {
    this.#over = true;
    const { fault, run, model } = this.#call;
    model.scheduler.abort(run.sequence);
    const { socket } = this.#response;
    if (fault.die !== undefined) {
      this.#host.die();
    } else if (fault.reset !== undefined) {
      socket?.resetAndDestroy();
    } else if (fault.cut !== undefined) {
      this.#hangUp();
    } else {
      this.#fail();
    }
  }

  #fail(): void {
    const { dialect } = this.#host;
    const error = new EngineError(500, "EngineCore encountered an issue. See stack trace (above) for the root cause.");
    if (!this.#call.request.stream) {
      sendError(this.#response, dialect, error, this.#path);
      return;
    }
    const end = dialect.brokenStream(error);
    if (end === undefined) {
      this.#hangUp();
    } else {
      this.#writer.end(end);
    }
  }

  /** Closes the connection after the written bytes, which Node holds until the end of the event-loop turn. */
  #hangUp(): void {
    setImmediate(() => this.#response.socket?.destroySoon());
  }

  /** The reader went away: stops the GPU's work for it. */
  #abandon(): void {
    if (this.#over) {
      return;
    }
    this.#over = true;
    this.#call.model.scheduler.abort(this.#call.run.sequence);
  }
}

const never = Number.POSITIVE_INFINITY;
