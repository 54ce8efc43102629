import { Code, ConnectError } from "@connectrpc/connect";
import type { GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import type { GenerateResponse } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { watchEnd } from "#lib/net/send-whole.ts";
import type { Exchange } from "../exchange.ts";
import { FramedChunks } from "../workarounds/framed-chunks.ts";
import { drained } from "./drained.ts";
import { escapeLineEnds } from "./line-ends.ts";

/** Milliseconds for which the status is held back while the core has not begun to answer. */
const maxHeldMs = 30_000;
/** Milliseconds of silence after which a keep-alive is sent. */
const silenceMs = 15_000;
/** Milliseconds after which a client that reads nothing is given up. */
const maxStalledMs = 60_000;

/** How a surface writes an answer as server-sent events. Has the state of one stream. */
export interface EventEncoder {
  /**
   * The text of the events for a batch of one answer, ending at an event's end. Empty: nothing to send. `choice`: the
   * answer's index.
   */
  encode(events: readonly GenerationEvent[], choice?: number): string;
  /** The end of a stream that fails after its head was sent. */
  fail(error: unknown): string;
  /** Sent during silence. May come between any two events. */
  readonly keepAlive: string;
}

/**
 * Streams an answer. The status waits for the first batch, so that an early failure is thrown here and gets its own
 * status. A later failure ends the stream in the surface's way. Resolves when everything is sent or the client has
 * left, which ends the core's work, too. `answers` is the number of answers from the core. Reads the core no faster
 * than the client reads us.
 */
export async function sendEvents(
  exchange: Exchange,
  answer: AsyncIterable<GenerateResponse>,
  encoder: EventEncoder,
  answers = 1,
): Promise<void> {
  const stream = new EventStream(exchange, encoder.keepAlive);
  try {
    let finished = 0;
    for await (const { events, choice } of answer) {
      stream.begin();
      if (events.at(-1)?.event.case === "finished") {
        finished++;
      }
      if (!stream.write(encoder.encode(events, choice))) {
        await drained(exchange.response);
      }
    }
    if (finished < answers) {
      throw new ConnectError("the answer broke off", Code.Internal);
    }
  } catch (error) {
    if (exchange.isGone) {
      return;
    }
    if (!stream.hasBegun) {
      throw error;
    }
    if (readDetail(error) === undefined) {
      exchange.logUnexpected(error);
    }
    stream.write(encoder.fail(error));
  } finally {
    stream.end();
  }
}

class EventStream {
  hasBegun = false;
  #isFlushed = false;
  /** Undefined: the head is not sent, or the client has left. */
  #body: FramedChunks | undefined;
  readonly #exchange: Exchange;
  readonly #keepAlive: string;
  /** When something was last written, on the monotonic clock. */
  #spokeAt: number;
  #stopTimer: () => void;

  constructor(exchange: Exchange, keepAlive: string) {
    const { clock } = exchange.runtime;
    this.#exchange = exchange;
    this.#keepAlive = keepAlive;
    this.#spokeAt = clock.monotonic();
    this.#stopTimer = clock.after(maxHeldMs, () => {
      this.begin();
      this.write(keepAlive);
    });
  }

  /** Sends the head, once. */
  begin(): void {
    if (this.hasBegun) {
      return;
    }
    this.hasBegun = true;
    if (this.#exchange.isGone) {
      return;
    }
    this.#exchange.begin(200, "text/event-stream; charset=utf-8", {
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    });
    this.#body = new FramedChunks(this.#exchange.response);
    this.#stopTimer();
    this.#stopTimer = this.#exchange.runtime.clock.after(silenceMs, () => this.#watch());
  }

  /**
   * Writes at once. The head is sent even when there is no text yet. Returns false when the client reads more slowly
   * than we write.
   */
  write(text: string): boolean {
    if (text === "") {
      if (!this.#isFlushed) {
        this.#exchange.response.flushHeaders();
      }
      this.#isFlushed = true;
      return true;
    }
    this.#isFlushed = true;
    this.#spokeAt = this.#exchange.runtime.clock.monotonic();
    return this.#body?.write(escapeLineEnds(text)) ?? true;
  }

  end(): void {
    this.#stopTimer();
    if (this.hasBegun) {
      const exchange = this.#exchange;
      this.#body?.end();
      watchEnd(exchange.response, () => exchange.network, exchange.bodyLimits.unread);
    }
  }

  /** One timer for each stream: it checks the length of the silence, instead of being reset at each write. */
  #watch(): void {
    const { clock } = this.#exchange.runtime;
    const { response } = this.#exchange;
    const silence = clock.monotonic() - this.#spokeAt;
    if (silence >= maxStalledMs && response.writableNeedDrain) {
      this.#exchange.runtime.observer.refused("slow_reader");
      response.destroy();
    } else if (silence >= silenceMs && !response.writableNeedDrain) {
      this.write(this.#keepAlive);
    }
    const rest = silence < silenceMs ? silenceMs - silence : silenceMs;
    this.#stopTimer = clock.after(rest, () => this.#watch());
  }
}
