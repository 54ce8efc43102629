import {
  Histogram,
  type LabelValues,
  type MetricObjectWithValues,
  type MetricValueWithName,
  type Registry,
} from "prom-client";
import { ByLabels, type LabelValue } from "./by-labels.ts";

/** The options of a histogram; see prom-client. */
interface TalliedHistogramOptions<Name extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Name[];
  /** Upper bounds in ascending order. */
  readonly buckets: readonly number[];
  readonly registers: Registry[];
}

/** A histogram for every request: it counts in plain numbers, which are read when the metrics are scraped. */
export class TalliedHistogram<Name extends string> {
  readonly #tallies: ByLabels<Name, Tally>;
  readonly #bounds: readonly number[];

  constructor(options: TalliedHistogramOptions<Name>) {
    const { buckets } = options;
    this.#bounds = buckets;
    this.#tallies = new ByLabels(options.labelNames, () => new Tally(buckets.length));
    new Shown(options, this.#tallies);
  }

  /** Notes a value under these label values, in the order of the labels' names. */
  observe(value: number, first: LabelValue, second?: LabelValue): void {
    this.#tallies.of(first, second).note(value, this.#bounds);
  }

  /** Forgets what was observed under these label values. */
  remove(first: LabelValue, second?: LabelValue): void {
    this.#tallies.remove(first, second);
  }
}

/** The values that were observed under one set of labels. */
class Tally {
  /** The number of values in each bucket alone, not cumulative. */
  readonly inBucket: number[];
  count = 0;
  sum = 0;

  constructor(buckets: number) {
    this.inBucket = Array.from({ length: buckets }, () => 0);
  }

  note(value: number, bounds: readonly number[]): void {
    this.count += 1;
    this.sum += value;
    for (let at = 0; at < bounds.length; at++) {
      if (value <= (bounds[at] as number)) {
        this.inBucket[at] = (this.inBucket[at] as number) + 1;
        return;
      }
    }
  }
}

/** The histogram as prom-client shows it. prom-client has no way to take many values at once. */
class Shown<Name extends string> extends Histogram<Name> {
  readonly #options: TalliedHistogramOptions<Name>;
  readonly #tallies: ByLabels<Name, Tally>;

  constructor(options: TalliedHistogramOptions<Name>, tallies: ByLabels<Name, Tally>) {
    super({ ...options, buckets: [...options.buckets] });
    this.#options = options;
    this.#tallies = tallies;
  }

  /** Called for JSON. */
  override async get(): Promise<MetricObjectWithValues<MetricValueWithName<Name>>> {
    const { name, help, buckets } = this.#options;
    const values = this.#tallies.all.flatMap(({ labels, value }) => lines(name, buckets, labels, value));
    const shown: unknown = { name, help, type: "histogram", values, aggregator: "sum" };
    // The type demands more fields than prom-client's own objects have.
    return shown as MetricObjectWithValues<MetricValueWithName<Name>>;
  }

  /** Called for text: prom-client asks here first for the same data in another form, which it reads faster. */
  getForPromString() {
    return this.get();
  }
}

function lines<Name extends string>(
  name: string,
  bounds: readonly number[],
  labels: LabelValues<Name>,
  { inBucket, count, sum }: Tally,
) {
  let below = 0;
  const buckets = bounds.map((le, at) => {
    below += inBucket[at] ?? 0;
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: below };
  });
  return [
    ...buckets,
    { metricName: `${name}_bucket`, labels: { le: "+Inf", ...labels }, value: count },
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
