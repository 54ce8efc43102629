import type { OverviewSample } from "#gen/tollgate/overview/v1/overview_service_pb.js";

/** How many requests were refused or failed for a reason. */
export interface Refused {
  readonly reason: string;
  readonly requests: bigint;
}

/** The refusals of all samples, the most frequent reason first. */
export function addRefusals(samples: readonly OverviewSample[]): readonly Refused[] {
  const sums = new Map<string, bigint>();
  for (const { reason, requests } of samples.flatMap(({ refusals }) => refusals)) {
    sums.set(reason, (sums.get(reason) ?? 0n) + requests);
  }
  return [...sums]
    .map(([reason, requests]) => ({ reason, requests }))
    .toSorted((one, other) => Number(other.requests - one.requests));
}
