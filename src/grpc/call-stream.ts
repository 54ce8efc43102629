import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Metadata, StatusObject } from "@grpc/grpc-js";
import type { CallSignal } from "./call-signal.ts";
import { headersOf } from "./metadata.ts";
import { errorOf } from "./status.ts";

/** What a streaming grpc-js call of either kind offers to its reader. */
export interface ReadableCall {
  read(): Message | null;
  on(event: "readable" | "error", listener: () => void): unknown;
  on(event: "metadata", listener: (metadata: Metadata) => void): unknown;
  on(event: "status", listener: (status: StatusObject) => void): unknown;
}

const end: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * The messages that arrive over a grpc-js call. Reads only what is asked for, which is what holds a fast
 * sender back, and by one reader at a time. Goes by the call's status: a Readable's own iterator misses an error that comes before it starts.
 */
export class CallStream implements AsyncIterableIterator<Message, undefined> {
  readonly header = new Headers();
  readonly trailer = new Headers();
  /** Resolves when the headers are there, or the status that came instead of them. */
  readonly opened: Promise<void>;
  readonly #call: ReadableCall;
  readonly #life: CallSignal;
  #status: StatusObject | undefined;
  #over = false;
  #wake: () => void = ignore;

  constructor(call: ReadableCall, life: CallSignal) {
    this.#call = call;
    this.#life = life;
    this.opened = new Promise((resolve) => {
      call.on("metadata", (metadata) => {
        headersOf(metadata, this.header);
        resolve();
      });
      call.on("status", (status) => {
        this.#status = status;
        headersOf(status.metadata, this.trailer);
        resolve();
        this.#wake();
      });
    });
    call.on("readable", () => this.#wake());
    call.on("error", ignore); // the status tells the same
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Message, undefined>> {
    while (!this.#over) {
      const message = this.#call.read();
      if (message !== null) return { done: false, value: message };
      if (this.#status) return this.#finish(this.#status);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return end;
  }

  /** The caller wants no more: the call is cancelled. */
  async return(): Promise<IteratorReturnResult<undefined>> {
    this.#over = true;
    this.#life.abort(new ConnectError("the caller cancelled the call", Code.Canceled));
    return end;
  }

  #finish(status: StatusObject): IteratorReturnResult<undefined> {
    this.#over = true;
    if (status.code !== 0) {
      // The caller's own reason to give up says more than the status that came of it.
      this.#life.abort(errorOf(status));
      throw this.#life.signal.reason;
    }
    this.#life.complete();
    return end;
  }
}

function ignore(): void {}
