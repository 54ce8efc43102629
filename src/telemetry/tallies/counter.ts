import { Counter, type Registry } from "prom-client";
import { ByLabels, type LabelValue } from "./by-labels.ts";

/** The options of a counter; see prom-client. */
interface TalliedCounterOptions<Name extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Name[];
  readonly registers: Registry[];
}

/** The count for one combination of label values, and the part of it that prom-client already has. */
interface Tally {
  counted: number;
  told: number;
}

/** A counter for every request: it counts in plain numbers, which are read when the metrics are scraped. */
export class TalliedCounter<Name extends string> {
  readonly #tallies: ByLabels<Name, Tally>;

  constructor(options: TalliedCounterOptions<Name>) {
    const tallies = new ByLabels<Name, Tally>(options.labelNames, () => ({ counted: 0, told: 0 }));
    this.#tallies = tallies;
    new Counter({
      ...options,
      collect() {
        for (const { labels, value: tally } of tallies.all) {
          this.inc(labels, tally.counted - tally.told);
          tally.told = tally.counted;
        }
      },
    });
  }

  /** Adds an amount of at least 0 under these label values, in the order of the labels' names. */
  add(amount: number, first: LabelValue, second?: LabelValue, third?: LabelValue): void {
    this.#tallies.of(first, second, third).counted += amount;
  }
}
