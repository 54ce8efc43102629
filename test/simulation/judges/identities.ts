import type { Run } from "../cores/run.ts";
import type { World } from "../world.ts";

/** Milliseconds after which every core refuses an id that was charged. */
const knownMs = 12_000;

/** Judges that one request id does not run twice: at once on one core, or again once it was charged. */
export class IdentityJudge {
  readonly #world: World;
  readonly #admitted = new Map<string, Run[]>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Call it for each request that is let in. */
  look(run: Run): void {
    const { history } = this.#world;
    const key = `${run.accountId} ${run.requestId}`;
    const others = this.#admitted.get(key) ?? [];
    if (
      others.some((other) => other.process === run.process && (other.state === "held" || other.state === "settling"))
    ) {
      history.violation("identities", `${run.requestId} runs twice at once on ${run.machine}`);
    }
    const before = others.find(({ settledAt = Number.POSITIVE_INFINITY }) => settledAt < run.askedAt - knownMs);
    if (before?.state === "acknowledged" && this.#isStored(before)) {
      history.violation("identities", `${run.requestId} was charged and runs once more on ${run.machine}`);
    }
    this.#admitted.set(key, [...others, run]);
  }

  #isStored({ hold }: Run): boolean {
    return this.#world.server.tables.get("select 1 from usage where run_id = ?", hold?.runId ?? "") !== undefined;
  }
}
