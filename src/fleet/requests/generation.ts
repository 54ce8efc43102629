import type { ServedModel } from "../catalogue/interface.ts";
import type { EngineOutput } from "../engines/interface.ts";
import { toFailure } from "../health/failures.ts";
import type { KnownTemplates } from "../health/known-templates.ts";
import { Plausibility } from "../health/plausibility.ts";
import type { Watchdog } from "../health/watchdog.ts";
import type { FleetRequest } from "../interface.ts";
import type { Place } from "../servers/place.ts";
import type { Attempts } from "./attempts.ts";

interface Dependencies {
  readonly model: ServedModel;
  readonly request: FleetRequest;
  readonly templates: KnownTemplates;
  readonly signal: AbortSignal;
  /** Creates the request's tries. Called at the first read. */
  readonly openAttempts: () => Attempts;
  /** Starts the time limits of one try. */
  readonly watch: () => Watchdog;
}

/** A try that is running. */
interface RunningAttempt {
  readonly place: Place;
  readonly watchdog: Watchdog;
  readonly plausibility: Plausibility;
  readonly source: AsyncIterator<EngineOutput>;
  began: boolean;
}

type Result = IteratorResult<EngineOutput, undefined>;
const end: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * The outputs of one request. Servers are tried in turn until one begins to answer, and each try ends in one place.
 * This is not an async generator, which would cost two more promises and three microtask turns for each output. For one
 * reader at a time.
 */
export class FleetGeneration implements AsyncIterableIterator<EngineOutput, undefined> {
  readonly #parts: Dependencies;
  #attempts: Attempts | undefined;
  #attempt: RunningAttempt | undefined;
  #isOver = false;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    if (this.#isOver) {
      return Promise.resolve(end);
    }
    const attempt = this.#attempt;
    if (attempt === undefined) {
      return this.#begin();
    }
    attempt.watchdog.await();
    return attempt.source.next().then(this.#arrived, this.#failed);
  }

  /** The reader stops early: stops the engine. */
  async return(): Promise<Result> {
    this.#isOver = true;
    try {
      await this.#attempt?.source.return?.();
    } finally {
      this.#close();
    }
    return end;
  }

  /** Begins a try, and waits for a place where necessary. */
  async #begin(): Promise<Result> {
    try {
      this.#attempts ??= this.#parts.openAttempts();
      const place = this.#attempts.begin(this.#parts.signal);
      return this.#start(this.#attempts, place instanceof Promise ? await place : place);
    } catch (error) {
      this.#isOver = true;
      throw error;
    }
  }

  #start(attempts: Attempts, place: Place): Promise<Result> {
    const { model, request, templates, watch } = this.#parts;
    const { member } = place;
    if (this.#isOver) {
      attempts.end(place);
      return Promise.resolve(end);
    }
    request.onServer?.(member.id);
    const watchdog = watch();
    const plausibility = new Plausibility(model, request, templates, (what) => attempts.doubted(member, what));
    request.onSent?.();
    const source = open(() => member.engine.generate(member.toRequest(request), watchdog.signal));
    this.#attempt = { place, watchdog, plausibility, source, began: false };
    return source.next().then(this.#arrived, this.#failed);
  }

  readonly #arrived = (result: IteratorResult<EngineOutput>): Result | Promise<Result> => {
    const attempt = this.#attempt;
    if (attempt === undefined || this.#isOver) {
      return end;
    }
    if (result.done) {
      if (attempt.plausibility.holds) {
        attempt.place.member.breaker.cleared();
      }
      this.#isOver = true;
      this.#close();
      return end;
    }
    try {
      return { done: false, value: this.#believe(attempt, result.value) };
    } catch (error) {
      return this.#breakOff(attempt, error);
    }
  };

  #believe(attempt: RunningAttempt, output: EngineOutput): EngineOutput {
    const { place, watchdog, plausibility } = attempt;
    watchdog.arrived();
    if (!attempt.began) {
      attempt.began = true;
      this.#attempts?.began(place);
    }
    const believed = plausibility.check(output);
    if (believed.usage !== undefined) {
      place.counted(believed.usage);
    }
    return believed;
  }

  /** Stops the engine because of its own output. */
  async #breakOff({ source }: RunningAttempt, error: unknown): Promise<Result> {
    await source.return?.().catch(() => {}); // the earlier error says more
    return this.#failed(error);
  }

  readonly #failed = (thrown: unknown): Promise<Result> | Result => {
    const [attempts, attempt] = [this.#attempts, this.#attempt];
    if (attempts === undefined || attempt === undefined) {
      return end;
    }
    const { member } = attempt.place;
    const { signal } = this.#parts;
    const error = toFailure(thrown, member.id, signal);
    attempts.failed(member, error, signal);
    const mayRetry = !attempt.began && attempts.mayRetry(error);
    this.#close();
    if (mayRetry && !this.#isOver) {
      return this.#begin();
    }
    this.#isOver = true;
    throw attempts.told(error);
  };

  #close(): void {
    const attempt = this.#attempt;
    this.#attempt = undefined;
    if (attempt !== undefined) {
      attempt.watchdog.close();
      this.#attempts?.end(attempt.place);
    }
  }
}

/** Opens the engine's outputs. An engine that throws at once fails at the first read. */
function open(generate: () => AsyncIterable<EngineOutput>): AsyncIterator<EngineOutput> {
  try {
    return generate()[Symbol.asyncIterator]();
  } catch (error) {
    return { next: () => Promise.reject(error) };
  }
}
