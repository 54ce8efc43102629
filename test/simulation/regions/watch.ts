import type { World } from "./world.ts";

/** Measures from time to time how much money is stranded, and how old the proof is. */
export class Watch {
  readonly #world: World;
  readonly #since = new Map<string, number>();
  /** The worst values so far. */
  readonly worst = { quarantineMs: 0, quarantined: 0, proofAgeMs: 0 };

  constructor(world: World) {
    this.#world = world;
  }

  look(): void {
    const { homeState, timeline, isHealed } = this.#world;
    const silent = this.#quarantine();
    for (const region of homeState.regions.keys()) {
      this.#note(region, silent.has(region));
    }
    for (const { region, epoch, at } of homeState.statements.values()) {
      if (!isHealed && homeState.regions.get(region)?.epoch === epoch) {
        this.worst.proofAgeMs = Math.max(this.worst.proofAgeMs, Math.round(timeline.now - at));
      }
    }
  }

  /** Measures the money in quarantine. Returns the regions that have it. */
  #quarantine(): Set<string> {
    const { lots, regions } = this.#world.homeState;
    const silent = new Set<string>();
    let [all, inQuarantine] = [0, 0];
    for (const { amount, slices } of [...lots.values()].filter(({ facts }) => facts.kind === "money")) {
      all += amount;
      for (const { region, granted, spent, returned } of slices.values()) {
        const left = regions.get(region)?.isSilent ? granted - spent - returned : 0;
        if (left > 0) {
          inQuarantine += left;
          silent.add(region);
        }
      }
    }
    this.worst.quarantined = Math.max(this.worst.quarantined, all === 0 ? 0 : inQuarantine / all);
    return silent;
  }

  #note(region: string, isSilent: boolean): void {
    if (!isSilent) {
      this.#since.delete(region);
      return;
    }
    const since = this.#since.get(region) ?? this.#world.timeline.now;
    this.#since.set(region, since);
    this.worst.quarantineMs = Math.max(this.worst.quarantineMs, Math.round(this.#world.timeline.now - since));
  }
}
