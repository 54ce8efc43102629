import type { MeteringObserver } from "../../metering/observer.ts";
import type { CoreMetrics } from "../../telemetry/core-metrics.ts";

/** The metrics that the parts of each shard keep. */
type ShardMetrics = Pick<CoreMetrics, "metering" | "deliveries" | "usageEvents" | "retention">;

/**
 * Lets several shards keep one core's metrics: counters add up by themselves; a gauge shows the sum of all shards or
 * the worst of them; the books count as wrong while those of any shard are.
 */
export class ShardObservers {
  readonly #whole: CoreMetrics;
  readonly #failed = new Set<number>();
  readonly #deadLetters = new Map<number, number>();
  readonly #deliveries = new Map<number, Backlog>();
  readonly #usageEvents = new Map<number, Backlog>();
  readonly #retention = new Map<number, { readonly keptFrom: number; readonly overdueMs: number }>();

  constructor(whole: CoreMetrics) {
    this.#whole = whole;
  }

  /** The metrics of one shard's parts. */
  of(number: number): ShardMetrics {
    const { metering, deliveries, usageEvents, retention } = this.#whole;
    return {
      metering: this.#observeBooks(number, metering),
      deliveries: { ...deliveries, backlog: addBacklog(this.#deliveries, number, deliveries) },
      usageEvents: { ...usageEvents, backlog: addBacklog(this.#usageEvents, number, usageEvents) },
      retention: {
        ...retention,
        looked: (keptFrom, overdueMs) => {
          this.#retention.set(number, { keptFrom, overdueMs });
          const all = [...this.#retention.values()];
          retention.looked(Math.max(...all.map((one) => one.keptFrom)), Math.max(...all.map((one) => one.overdueMs)));
        },
      },
    };
  }

  #observeBooks(number: number, metering: MeteringObserver): MeteringObserver {
    return {
      ...metering,
      deadLetters: (waiting) => {
        this.#deadLetters.set(number, waiting);
        metering.deadLetters([...this.#deadLetters.values()].reduce((sum, one) => sum + one, 0));
      },
      reconciled: (proof) => {
        if (proof.ok) {
          this.#failed.delete(number);
        } else {
          this.#failed.add(number);
        }
        metering.reconciled({ ...proof, ok: this.#failed.size === 0 });
      },
    };
  }
}

interface Backlog {
  readonly waiting: number;
  readonly oldestMs: number;
}

function addBacklog(
  all: Map<number, Backlog>,
  number: number,
  whole: { backlog(waiting: number, oldestMs: number): void },
): (waiting: number, oldestMs: number) => void {
  return (waiting, oldestMs) => {
    all.set(number, { waiting, oldestMs });
    const backlogs = [...all.values()];
    whole.backlog(
      backlogs.reduce((sum, one) => sum + one.waiting, 0),
      Math.max(...backlogs.map((one) => one.oldestMs)),
    );
  };
}
