import type { GenerateResponse } from "#gen/tollgate/inference/v1/inference_service_pb.js";

/**
 * Runs the answers of a batch concurrently and passes their messages on as they come, each with the number of its
 * answer. When one fails, or the reader leaves, the others are stopped. What ran of all of them is settled before this
 * ends.
 */
export async function* batch(
  answers: readonly AsyncGenerator<GenerateResponse>[],
  stop: () => void,
  settled: () => Promise<void>,
): AsyncGenerator<GenerateResponse> {
  const arrivals = new Arrivals(answers);
  try {
    for (let next = await arrivals.next(); next !== undefined; next = await arrivals.next()) {
      yield next;
    }
  } finally {
    stop();
    await Promise.allSettled(answers.map((answer) => answer.return(undefined)));
    await Promise.allSettled([settled()]); // the charge is durable before the reader sees the end
  }
}

interface Arrival {
  readonly choice: number;
  readonly result: IteratorResult<GenerateResponse>;
}

/** The messages of several answers in the order of arrival. At most one message of each answer waits. */
class Arrivals {
  readonly #answers: readonly AsyncGenerator<GenerateResponse>[];
  readonly #ready: Arrival[] = [];
  #failure: { readonly error: unknown } | undefined;
  #wake = (): void => {};
  #open: number;

  /** Starts all answers. */
  constructor(answers: readonly AsyncGenerator<GenerateResponse>[]) {
    this.#answers = answers;
    this.#open = answers.length;
    for (const choice of answers.keys()) {
      this.#read(choice);
    }
  }

  /** The next message. Undefined: all answers are complete. Throws as soon as an answer has failed. */
  async next(): Promise<GenerateResponse | undefined> {
    while (this.#open > 0) {
      if (this.#failure !== undefined) {
        throw this.#failure.error;
      }
      const arrival = this.#ready.shift();
      if (arrival === undefined) {
        await new Promise<void>((resolve) => (this.#wake = resolve));
      } else if (arrival.result.done) {
        this.#open--;
      } else {
        this.#read(arrival.choice);
        return { ...arrival.result.value, choice: arrival.choice };
      }
    }
    return undefined;
  }

  #read(choice: number): void {
    this.#answers[choice]?.next().then(
      (result) => {
        this.#ready.push({ choice, result });
        this.#wake();
      },
      (error: unknown) => {
        this.#failure ??= { error };
        this.#wake();
      },
    );
  }
}
