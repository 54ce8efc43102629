import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type {
  GenerateResponse,
  GenerateResponseSchema,
  InferenceService,
} from "#gen/tollgate/inference/v1/inference_service_pb.js";

type Responses = AsyncIterable<MessageInitShape<typeof GenerateResponseSchema>>;

/** What a test wants to know about a handler whose caller went away. */
export interface Witness {
  /** How often the handler was started. */
  started: number;
  /** Messages that the handler produced. */
  produced: number;
  /** Resolves with the reason once the handler's signal aborts. */
  readonly aborted: Promise<unknown>;
  /** Resolves once the handler's finally block has run. */
  readonly finished: Promise<void>;
}

/** An InferenceService that does what a test says, and tells what became of it. */
export class ScriptedService implements ServiceImpl<typeof InferenceService>, Witness {
  started = 0;
  produced = 0;
  readonly aborted: Promise<unknown>;
  readonly finished: Promise<void>;
  readonly #abort = Promise.withResolvers<unknown>();
  readonly #finish = Promise.withResolvers<void>();
  readonly #count: (context: HandlerContext, model: string) => Promise<number> | number;
  readonly #stream: (context: HandlerContext, model: string) => Responses;

  constructor(script: {
    readonly countTokens?: (context: HandlerContext, model: string) => Promise<number> | number;
    readonly generate?: (context: HandlerContext, model: string) => Responses;
  }) {
    this.#count = script.countTokens ?? (() => 0);
    this.#stream = script.generate ?? (() => texts([]));
    this.aborted = this.#abort.promise;
    this.finished = this.#finish.promise;
  }

  async countTokens({ model }: { model: string }, context: HandlerContext) {
    this.#start(context);
    try {
      return { inputTokens: BigInt(await this.#count(context, model)) };
    } finally {
      this.#finish.resolve();
    }
  }

  async *generate({ model }: { model: string }, context: HandlerContext) {
    this.#start(context);
    try {
      for await (const response of this.#stream(context, model)) {
        this.produced += 1;
        yield response;
      }
    } finally {
      this.#finish.resolve();
    }
  }

  #start({ signal }: HandlerContext): void {
    this.started += 1;
    const onAbort = () => this.#abort.resolve(signal.reason);
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) {
      onAbort();
    }
  }
}

/** A stream of texts, as a handler may yield them: plain and partial. */
export async function* texts(values: Iterable<string>): Responses {
  for (const value of values) {
    yield { events: [{ event: { case: "text", value } }] };
  }
}

/** Never answers; ends as a good handler does when its caller has gone. */
export function untilAborted({ signal }: HandlerContext): Promise<never> {
  return new Promise((_resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) {
      onAbort();
    }
  });
}

/** The texts of a response. */
export function textsOf({ events }: GenerateResponse): unknown[] {
  return events.map(({ event }) => event.value);
}
