import { type CoreBeat, deadAfterMs } from "./core-store.ts";

/** After a longer pause between two checks every core's time begins anew: the cause of the pause may have hit the others, too. */
const mostBetweenLooksMs = 15_000;

/**
 * Judges which cores' epochs are dead: those whose heart was seen at the same beat for 30 s of this core's own monotonic
 * clock. No other clock is asked, so none that is turned can make a core look dead or alive. Nothing is kept beyond
 * the process: who starts, waits 30 s before it judges anybody.
 */
export class CoreWatch {
  /** Where each epoch's heart was first seen to stand, and when. */
  #seen = new Map<string, { readonly beat: CoreBeat; readonly since: number }>();
  #lookedAt = Number.NEGATIVE_INFINITY;

  /**
   * Takes in how the others stood at some moment between two times of the monotonic clock. Returns the dead, which
   * were seen twice at least.
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

/** Each epoch of a core has a heart of its own. */
function toKey({ coreId, epoch }: CoreBeat): string {
  return `${coreId} ${epoch}`;
}
