import { type Margin, MarginSpan } from "#gen/tollgate/metering/v1/margin_service_pb.js";
import { margins } from "../../../contract/clients.ts";
import { type Span, toEnds } from "../../../parts/usage/span.ts";
import { secondsAt } from "../../../parts/usage/sums.ts";

/** What was earned, and what the servers cost. */
export interface Earned {
  readonly revenue: bigint;
  /** Undefined: a server has no configured cost, or there is none. */
  readonly cost: bigint | undefined;
}

/** One model's margin over time. */
export interface ModelMargin {
  readonly model: string;
  readonly total: Earned;
  /** By the start of the hour or day, in Unix seconds. */
  readonly times: ReadonlyMap<number, Earned>;
}

/** Loads the margin of each model by the hour or day, that of the highest revenue first. */
export async function loadMargins(span: Span, signal: AbortSignal): Promise<readonly ModelMargin[]> {
  const by = span.step === "hour" ? MarginSpan.HOUR : MarginSpan.DAY;
  const models = new Map<string, Map<number, Earned>>();
  for await (const piece of margins.streamMargins({ ...toEnds(span), by }, { signal })) {
    for (const margin of piece.margins) {
      const times = models.get(margin.model) ?? new Map<number, Earned>();
      models.set(margin.model, times.set(secondsAt(margin.hour || margin.day), toEarned(margin)));
    }
  }
  const all = [...models].map(([model, times]) => ({ model, times, total: addUp([...times.values()]) }));
  return all.sort((one, other) => compare(other.total.revenue, one.total.revenue));
}

/** Adds up what is known of costs. Undefined: nothing is. */
export function addUp(all: readonly Earned[]): Earned {
  const costs = all.flatMap(({ cost }) => (cost === undefined ? [] : [cost]));
  return {
    revenue: all.reduce((sum, { revenue }) => sum + revenue, 0n),
    cost: costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0n),
  };
}

function toEarned({ revenuePicoUsd, costPicoUsd }: Margin): Earned {
  return { revenue: BigInt(revenuePicoUsd), cost: costPicoUsd === undefined ? undefined : BigInt(costPicoUsd) };
}

function compare(one: bigint, other: bigint): number {
  return one < other ? -1 : Number(one > other);
}
