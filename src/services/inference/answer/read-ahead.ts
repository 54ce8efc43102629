import type { ConnectError } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import type { GenerateResponse } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { Clock } from "#lib/time/clock.ts";
import { GatheredAnswer } from "./gathered-answer.ts";
import { Patience, type ReaderLimits } from "./patience.ts";
import type { ReadAheadMemory } from "./read-ahead-memory.ts";

export interface Dependencies {
  readonly accountId: string;
  readonly memory: ReadAheadMemory;
  readonly limits: ReaderLimits;
  readonly clock: Clock;
  /** The call's own signal. */
  readonly signal: AbortSignal;
  /** Ends the call of a reader that is too slow to receive the error. Undefined: it gets the error when it reads on. */
  readonly hangUp: ((error: ConnectError) => void) | undefined;
}

/** Waiting text is passed on in messages of about this many bytes, so that no later buffer gets all of it at once. */
const pieceBytes = 4096;

/** Waiting events of one answer, which become one message. */
interface Piece {
  readonly answer: GatheredAnswer;
  readonly choice: number;
}

const end: IteratorReturnResult<undefined> = { done: true, value: undefined };
type Result = IteratorResult<GenerateResponse, undefined>;

/**
 * Reads an answer ahead of its reader into bounded memory, so that the engine's place is free as soon as the engine is
 * done, whatever the reader's pace. Waiting messages are joined. A reader that stays below the least rate for too long
 * is given up: the source is stopped, which bills what ran. For a reader that keeps up it costs one promise for each
 * message.
 */
export class ReadAhead implements AsyncIterableIterator<GenerateResponse, undefined> {
  readonly #open: (signal: AbortSignal, stop: () => void) => Promise<AsyncGenerator<GenerateResponse>>;
  readonly #parts: Dependencies;
  readonly #controller = new AbortController();
  readonly #onAbort = () => this.#controller.abort(this.#parts.signal.reason);
  #source: AsyncGenerator<GenerateResponse> | undefined;
  #opening: Promise<unknown> | undefined;
  readonly #pieces: Piece[] = [];
  #bytes = 0;
  #isFetching = false;
  #isOver = false;
  #isClosed = false;
  #failure: { readonly error: unknown } | undefined;
  #resolve: ((result: Result) => void) | undefined;
  #reject: (error: unknown) => void = ignore;
  readonly #patience: Patience;

  /**
   * `open` starts the answer, at the first read. It gets the signal that stops the answer, and the function that aborts
   * that signal.
   */
  constructor(
    open: (signal: AbortSignal, stop: () => void) => Promise<AsyncGenerator<GenerateResponse>>,
    parts: Dependencies,
  ) {
    this.#open = open;
    this.#parts = parts;
    const { limits, clock } = parts;
    this.#patience = new Patience(limits, clock, {
      isBehind: () => this.#pieces.length > 0,
      isOver: () => this.#giveUp(),
    });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    if (this.#opening === undefined) {
      return this.#start();
    }
    const piece = this.#pieces.shift();
    if (piece !== undefined) {
      const { answer, choice } = piece;
      this.#count(-answer.bytes);
      this.#patience.took(answer.bytes);
      if (this.#isOver) {
        this.#end();
      }
      this.#fetch();
      return Promise.resolve({ done: false, value: response(answer.end(), choice) });
    }
    this.#patience.caughtUp();
    const failed = this.#failure;
    if (failed !== undefined) {
      this.#failure = undefined;
      return Promise.reject(failed.error);
    }
    if (this.#isOver) {
      return Promise.resolve(end);
    }
    const result = new Promise<Result>(this.#wait);
    this.#fetch();
    return result;
  }

  /** The reader stops early: stops the source. Resolves when the source has cleaned up. */
  async return(): Promise<IteratorReturnResult<undefined>> {
    await this.#close(undefined);
    return end;
  }

  async #start(): Promise<Result> {
    const { signal } = this.#parts;
    if (this.#isClosed) {
      return end;
    }
    if (signal.aborted) {
      this.#onAbort();
    } else {
      signal.addEventListener("abort", this.#onAbort, { once: true });
    }
    const opening = this.#open(this.#controller.signal, () => this.#controller.abort());
    this.#opening = opening;
    try {
      this.#source = await opening;
    } catch (error) {
      this.#end();
      throw error;
    }
    if (!this.#isClosed) {
      return this.next();
    }
    // A generator that never began would not clean up. This begins it; the aborted signal then ends it.
    await this.#source.next().catch(ignore);
    await this.#source.return(undefined);
    return end;
  }

  readonly #wait = (resolve: (result: Result) => void, reject: (error: unknown) => void): void => {
    this.#resolve = resolve;
    this.#reject = reject;
  };

  /** Reads on where there is room, or where the reader waits. */
  #fetch(): void {
    if (this.#isFetching || this.#isOver || !this.#mayFetch() || this.#source === undefined) {
      return;
    }
    this.#isFetching = true;
    this.#source.next().then(this.#arrived, this.#failed);
  }

  #mayFetch(): boolean {
    if (this.#bytes === 0) {
      return true;
    }
    const { limits, memory, accountId } = this.#parts;
    return this.#bytes < limits.answerBytes && memory.hasRoom(accountId);
  }

  readonly #arrived = (result: IteratorResult<GenerateResponse>): void => {
    this.#isFetching = false;
    if (this.#isClosed) {
      return;
    }
    if (result.done) {
      this.#end();
    }
    const resolve = this.#resolve;
    if (resolve !== undefined) {
      this.#resolve = undefined;
      resolve(result.done ? end : result);
    } else if (!result.done) {
      this.#keep(result.value);
    }
    this.#fetch();
  };

  readonly #failed = (error: unknown): void => {
    this.#isFetching = false;
    this.#end();
    const waits = this.#resolve !== undefined;
    this.#resolve = undefined;
    if (waits) {
      this.#reject(error);
    } else if (!this.#isClosed) {
      this.#failure = { error };
    }
  };

  #keep({ events, choice }: GenerateResponse): void {
    let piece = this.#pieces.at(-1);
    if (piece === undefined || piece.choice !== choice || piece.answer.bytes >= pieceBytes) {
      piece = { answer: new GatheredAnswer(), choice };
      this.#pieces.push(piece);
    }
    const { answer } = piece;
    const before = answer.bytes;
    answer.add(events);
    this.#count(answer.bytes - before);
    this.#patience.watch();
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#parts.memory.add(this.#parts.accountId, bytes);
  }

  #giveUp(): void {
    const error = failure(Reason.TIMEOUT, "The answer was read too slowly and was broken off.");
    this.#failure = { error };
    this.#close(error).catch(ignore); // nobody is left who could receive an error of the clean-up
    this.#parts.hangUp?.(error);
  }

  /** Stops the source and drops the waiting events. */
  async #close(reason: unknown): Promise<void> {
    if (this.#isClosed) {
      return;
    }
    this.#isClosed = true;
    this.#drop();
    const wasOver = this.#isOver;
    if (!wasOver) {
      this.#controller.abort(reason);
    }
    this.#end();
    if (!wasOver) {
      await this.#source?.return(undefined);
    }
  }

  #drop(): void {
    this.#count(-this.#bytes);
    this.#pieces.length = 0;
  }

  #end(): void {
    this.#isOver = true;
    this.#parts.signal.removeEventListener("abort", this.#onAbort);
    if (this.#pieces.length === 0) {
      this.#patience.stop();
    }
  }
}

const response = (events: GenerationEvent[], choice: number): GenerateResponse => ({
  $typeName: "tollgate.inference.v1.GenerateResponse",
  events,
  choice,
});

function ignore(): void {}
