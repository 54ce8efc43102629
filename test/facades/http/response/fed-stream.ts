import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { type FrontServer, startFront } from "../front-server.ts";
import { RawClient } from "../raw-client.ts";
import { type EventInit, scriptedCore } from "../scripted-core.ts";

/** A request for a stream, at any surface. */
export const request = JSON.stringify({
  model: "m",
  max_tokens: 9,
  prompt: "hi",
  messages: [{ role: "user", content: "hi" }],
  stream: true,
});
export const text = (value: string): EventInit => ({ event: { case: "text", value } });

/** Batches that a test sends one by one. */
class Feed {
  #wake = Promise.withResolvers<void>();
  readonly #batches: (readonly EventInit[] | Error | undefined)[] = [];
  /** Whether whoever reads has gone. */
  closed = Promise.withResolvers<void>();

  /** Sends a batch, an error, or (undefined) the end. */
  send(batch: readonly EventInit[] | Error | undefined): void {
    this.#batches.push(batch);
    this.#wake.resolve();
  }

  async *read(signal: AbortSignal): AsyncGenerator<{ events: EventInit[] }> {
    signal.addEventListener("abort", () => this.#wake.resolve());
    try {
      while (!signal.aborted) {
        while (this.#batches.length > 0) {
          const batch = this.#batches.shift();
          if (batch === undefined) {
            return;
          }
          if (batch instanceof Error) {
            throw batch;
          }
          yield { events: [...batch] };
        }
        await this.#wake.promise;
        this.#wake = Promise.withResolvers();
      }
    } finally {
      this.closed.resolve();
    }
  }
}

/** A client that has asked a front whose core answers with what is fed to it. */
interface FedStream {
  readonly front: FrontServer;
  readonly clock: ManualClock;
  readonly feed: Feed;
  readonly client: RawClient;
}

/** Resolves once the core has the request. */
export async function open(path: string, body = request): Promise<FedStream> {
  const clock = new ManualClock();
  const feed = new Feed();
  const begun = Promise.withResolvers<void>();
  const { transport } = scriptedCore({
    generate: (_request, { signal }) => {
      begun.resolve();
      return feed.read(signal);
    },
  });
  const front = await startFront(transport, { clock });
  const client = new RawClient(front.url);
  client.post(path, body);
  await begun.promise;
  return { front, clock, feed, client };
}
