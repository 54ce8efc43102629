import type { Clock } from "#lib/time/clock.ts";
import type { RefusedRequest } from "#src/money/model/store/request.ts";

/** Beyond so many refusals of one caller for one reason, an interval keeps only the last one, with the count of the others. */
const intervalMs = 10_000;
const mostWhole = 50;
/** Groups that are counted at a time. The rest counts together. */
const mostGroups = 5000;

interface Group {
  count: number;
  /** The last one beyond the bound. */
  last: RefusedRequest | undefined;
}

/** Lets through as many like refusals as people read, so that a flood of one caller leaves room for others. */
export class Sampling {
  readonly #clock: Pick<Clock, "after">;
  readonly #keep: (request: RefusedRequest) => void;
  readonly #leftOut: () => void;
  #groups = new Map<string, Group>();

  /** `keep` gets what is to be recorded, now or at an interval's end. `leftOut` is called for each that is not. */
  constructor(clock: Pick<Clock, "after">, keep: (request: RefusedRequest) => void, leftOut: () => void) {
    this.#clock = clock;
    this.#keep = keep;
    this.#leftOut = leftOut;
  }

  /** `network`: that of the client, which stands for callers without an account. */
  add(request: RefusedRequest, network: string): void {
    const group = this.#find(`${request.accountId ?? network} ${request.reason}`);
    group.count += 1;
    if (group.count <= mostWhole) {
      this.#keep(request);
      return;
    }
    if (group.last !== undefined) {
      this.#leftOut();
    }
    group.last = request;
  }

  /** Ends the interval: keeps the last ones. */
  close(): void {
    const groups = this.#groups;
    this.#groups = new Map();
    for (const { count, last } of groups.values()) {
      if (last !== undefined) {
        this.#keep({ ...last, leftOut: count - mostWhole - 1 });
      }
    }
  }

  #find(name: string): Group {
    if (this.#groups.size === 0) {
      this.#clock.after(intervalMs, () => this.close());
    }
    const key = this.#groups.has(name) || this.#groups.size < mostGroups ? name : "";
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = { count: 0, last: undefined };
      this.#groups.set(key, group);
    }
    return group;
  }
}
