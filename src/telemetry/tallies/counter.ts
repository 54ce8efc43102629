import { Counter, type Registry } from "prom-client";
import { ByLabels, type LabelValue } from "./by-labels.ts";

/** What a counter is made with; see prom-client. */
interface TalliedCounterOptions<Name extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Name[];
  readonly registers: Registry[];
}

/** What was counted for values of labels, and how much of it the counter has been told. */
interface Tally {
  counted: number;
  told: number;
}

/** A counter of what each request brings: it counts in plain numbers, which are read when the metrics are. */
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

  /** Adds an amount, not below 0, to the values of the labels, in the order of their names. */
  add(amount: number, first: LabelValue, second?: LabelValue, third?: LabelValue): void {
    this.#tallies.of(first, second, third).counted += amount;
  }
}
