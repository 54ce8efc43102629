import { readDetail } from "#lib/errors/detail.ts";
import type { EngineOutput } from "../../interface.ts";
import { OutputQueue } from "../answer/output-queue.ts";
import { unreadable } from "../faults.ts";
import type { HttpCall, ResponseHandler } from "./client/interface.ts";
import { connectionFailed, type HttpConnection, type HttpRequest, type HttpResponse } from "./connection.ts";

/** Makes outputs from a streamed answer. One for each call: it holds the stream's state. Its methods throw failures. */
export interface StreamReader {
  /** Takes the next bytes of the body. */
  push(piece: Buffer): void;
  /** The output of the bytes since the last call. Undefined: none yet. */
  take(): EngineOutput | undefined;
  /** The body is over. Throws unless the answer is complete. */
  end(): void;
  /** Whether the answer is complete. What follows does not matter. */
  readonly complete: boolean;
  /** Whether the answer was ended on our side while the engine goes on. */
  readonly isCut?: boolean;
  /** The failure for a status other than 200. */
  refusal(response: HttpResponse): Error;
}

/** The most characters of an error's body that are read. */
const longestRefusal = 64 * 1024;

/**
 * The most that may follow a complete answer before its connection is closed. Only the end of the body should follow.
 */
const mostAfterwards = { pieces: 16, bytes: 64 * 1024 };

/** Streams a call's answer. All that one socket read brings becomes one output. */
export function openStream(
  connection: HttpConnection,
  request: HttpRequest,
  reader: StreamReader,
  signal: AbortSignal,
): AsyncIterableIterator<EngineOutput> {
  const handler = new StreamHandler(connection.origin, reader, signal);
  handler.start(connection, request);
  return handler.queue;
}

/** An answer with a status other than 200, as far as it has arrived. */
interface Refused {
  readonly status: number;
  readonly headers: HttpResponse["headers"];
  text: string;
}

class StreamHandler implements ResponseHandler {
  readonly queue: OutputQueue;
  readonly #origin: string;
  readonly #reader: StreamReader;
  readonly #signal: AbortSignal;
  // Not assigned by the constructor: V8's scavenger does not free an object that got a closure over itself that way, so
  // that it and all of its call would stay until the next full collection.
  readonly #onAbort = () => {
    this.queue.fail(this.#signal.reason);
    this.#stop();
  };
  #call: HttpCall | undefined;
  #refused: Refused | undefined;
  #over = false;
  /** Bytes of the answer since the last output. */
  #bytesOfRead = 0;
  #piecesAfterwards = 0;
  #bytesAfterwards = 0;

  constructor(origin: string, reader: StreamReader, signal: AbortSignal) {
    this.#origin = origin;
    this.#reader = reader;
    this.#signal = signal;
    this.queue = new OutputQueue({
      pause: () => this.#call?.pause(),
      resume: () => this.#call?.resume(),
      cancel: () => this.#stop(),
    });
  }

  start(connection: HttpConnection, request: HttpRequest): void {
    if (this.#signal.aborted) {
      this.#onAbort();
      return;
    }
    this.#signal.addEventListener("abort", this.#onAbort, { once: true });
    this.#call = connection.dispatch(request, this);
  }

  onStart(status: number, headers: HttpResponse["headers"]): void {
    if (status !== 200) {
      this.#refused = { status, headers, text: "" };
    }
  }

  onData(piece: Buffer): void {
    if (this.#over) {
      this.#afterwards(piece.length);
    } else if (this.#refused === undefined) {
      this.#bytesOfRead += piece.length;
      this.#read(() => this.#reader.push(piece));
    } else {
      this.#readRefusal(this.#refused, piece);
    }
  }

  onRead(): void {
    if (!this.#over) {
      this.#hand();
    }
  }

  onEnd(): void {
    if (this.#over) {
      return;
    }
    if (this.#refused === undefined) {
      this.#read(() => this.#reader.end());
      this.onRead();
    } else {
      this.#refuse(this.#refused);
    }
  }

  onError(error: Error): void {
    if (!this.#over) {
      this.#fail(connectionFailed(this.#origin, error));
    }
  }

  #readRefusal(refused: Refused, piece: Buffer): void {
    refused.text += piece.toString("utf8");
    if (refused.text.length >= longestRefusal) {
      this.#refuse(refused);
    }
  }

  #refuse(refused: Refused): void {
    this.#read(() => {
      throw this.#reader.refusal(refused);
    });
  }

  /** Lets the rest of a body arrive, unless it is endless. */
  #afterwards(bytes: number): void {
    this.#piecesAfterwards++;
    this.#bytesAfterwards += bytes;
    if (this.#piecesAfterwards <= mostAfterwards.pieces && this.#bytesAfterwards <= mostAfterwards.bytes) {
      return;
    }
    this.#call?.abort();
  }

  /** An error that the answer causes in our own code is the engine's fault. */
  #read(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#fail(readDetail(error) === undefined ? unreadable(this.#origin, error) : error);
      return;
    }
    if (this.#reader.complete) {
      this.#hand();
      this.#finish();
    }
  }

  #hand(): void {
    const output = this.#reader.take();
    const bytes = this.#bytesOfRead;
    this.#bytesOfRead = 0;
    if (output !== undefined) {
      this.queue.push(output, bytes);
    }
  }

  /** Passes on the output read before the error, for its counted tokens, and then the error. */
  #fail(error: unknown): void {
    this.#hand();
    this.queue.fail(error);
    this.#stop();
  }

  /**
   * The answer is complete. The rest of the body may arrive, so that the connection can be reused, also while a slow
   * reader has not taken all: it may leave, and nobody would read on.
   */
  #finish(): void {
    this.#over = true;
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.queue.end();
    if (this.#reader.isCut) {
      this.#call?.abort();
    } else {
      this.#call?.resume();
    }
  }

  #stop(): void {
    if (this.#over) {
      return;
    }
    this.#over = true;
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#call?.abort();
  }
}
