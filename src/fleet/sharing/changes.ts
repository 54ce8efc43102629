import { encode } from "./messages/encode.ts";
import { type Load, nothing } from "./news.ts";
import type { SharedFleet } from "./shared-fleet.ts";
import type { Head } from "./standing.ts";

/** Encodes what has changed since it was last sent: this core's loads, and the heads of its queues. */
export class Changes {
  readonly #fleet: SharedFleet;
  readonly #loads = new Map<string, Load>();
  readonly #heads = new Map<string, Head>();

  constructor(fleet: SharedFleet) {
    this.#fleet = fleet;
  }

  /** Everything has to be told again. */
  clear(): void {
    this.#loads.clear();
    this.#heads.clear();
  }

  /** The head of a model's queue has to be told again. */
  forgetHead(model: string): void {
    this.#heads.delete(model);
  }

  /** What has changed, as pieces of a message, which is sent now. */
  take(now: number): Buffer[] {
    return [...this.#changedLoads(), ...this.#changedHeads(now)];
  }

  *#changedLoads(): Iterable<Buffer> {
    for (const [server, load] of this.#fleet.loads()) {
      if (!isSameLoad(this.#loads.get(server) ?? nothing, load)) {
        this.#loads.set(server, load);
        yield encode({ kind: "load", server, load });
      }
    }
  }

  *#changedHeads(now: number): Iterable<Buffer> {
    const empty = new Set(this.#heads.keys());
    for (const { model, head, times } of this.#fleet.queues()) {
      empty.delete(model);
      if (!isSameHead(this.#heads.get(model), head)) {
        this.#heads.set(model, head);
        yield encode({ kind: "head", model, head: { ...head, waitedMs: now - head.since }, times });
      }
    }
    for (const model of empty) {
      this.#heads.delete(model);
      yield encode({ kind: "empty", model });
    }
  }
}

function isSameLoad(one: Load, other: Load): boolean {
  return (
    one.inFlight === other.inFlight &&
    one.unreadTokens === other.unreadTokens &&
    one.tokensInFlight === other.tokensInFlight
  );
}

function isSameHead(one: Head | undefined, other: Head): boolean {
  return (
    one?.since === other.since &&
    one.rank === other.rank &&
    one.serviceClass === other.serviceClass &&
    one.total === other.total
  );
}
