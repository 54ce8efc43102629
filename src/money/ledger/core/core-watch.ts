import { type CoreBeat, deadAfterMs } from "../../model/store/core.ts";

/**
 * After a longer pause between two checks every core's time begins anew: the cause of the pause may have affected the
 * others, too.
 */
const mostBetweenLooksMs = 15_000;

/**
 * Judges which cores' epochs are dead: those whose heartbeat counter stood still for 30 s of this core's own monotonic
 * clock. No other clock is asked, so no changed clock can make a core look dead or alive. Nothing is kept beyond the
 * process: a new process waits 30 s before it judges any core.
 */
export class CoreWatch {
  /** Each epoch's heartbeat counter, and when it was first seen at that value. */
  #seen = new Map<string, { readonly beat: CoreBeat; readonly since: number }>();
  #lookedAt = Number.NEGATIVE_INFINITY;

  /**
   * Takes in the other cores' heartbeat counters, read at some moment between two times of the monotonic clock. Returns
   * the dead epochs, each seen at least twice.
   */
  look(others: readonly CoreBeat[], askedAt: number, answeredAt: number): CoreBeat[] {
    const before = askedAt - this.#lookedAt > mostBetweenLooksMs ? undefined : this.#seen;
    this.#lookedAt = answeredAt;
    this.#seen = new Map(
      others.map((beat) => {
        const known = before?.get(toKey(beat));
        const still = known?.beat.beats === beat.beats;
        return [toKey(beat), known !== undefined && still ? known : { beat, since: answeredAt }];
      }),
    );
    return others.filter((beat) => askedAt - (this.#seen.get(toKey(beat))?.since ?? askedAt) >= deadAfterMs);
  }
}

/** Each epoch of a core has its own heartbeat counter. */
function toKey({ coreId, epoch }: CoreBeat): string {
  return `${coreId} ${epoch}`;
}
