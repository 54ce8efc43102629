import { dayMs, hourMs } from "#lib/time/days.ts";
import type { Storage } from "#src/storage/storage.ts";
import { allAccounts } from "../../store/rollups.ts";
import type { TimeSpan } from "../proof/scope.ts";

/** Receipts of a step: proving and reading them takes a second or so on a machine that does nothing else. */
const stepSize = 10_000;

/** The requests of each hour of a day, as far as they are summed up. */
export async function readHours(storage: Storage, day: number): Promise<ReadonlyMap<number, number>> {
  const rows = await storage.orm.em.fork().execute<{ slot: number; requests: string | number }[]>(
    `select slot, sum(requests) as requests from usage_rollup
     where account_id = '${allAccounts}' and span = 'hour' and slot >= ? and slot < ? group by slot`,
    [day * 24, (day + 1) * 24],
  );
  return new Map(rows.map(({ slot, requests }) => [Number(slot), Number(requests)]));
}

/** Receipts whose hours are compared with their sums at once: to add them up takes a second at most. */
const hoursSize = 100_000;

/** Cuts a day into spans of whole hours, of few receipts where one hour does not have more. */
export function cutHoursOf(day: number, hours: ReadonlyMap<number, number>, size = hoursSize): TimeSpan[] {
  const spans: { from: number; to: number }[] = [];
  let receipts = 0;
  for (let hour = day * 24; hour < (day + 1) * 24; hour++) {
    const requests = hours.get(hour) ?? 0;
    const last = spans.at(-1);
    if (last === undefined || receipts + requests > size) {
      spans.push({ from: hour * hourMs, to: (hour + 1) * hourMs });
      receipts = requests;
    } else {
      last.to += hourMs;
      receipts += requests;
    }
  }
  return spans;
}

/** Cuts a day into spans of so many receipts at most, if those of an hour come evenly. */
export function cutDay(day: number, hours: ReadonlyMap<number, number>, size = stepSize): TimeSpan[] {
  const spans: TimeSpan[] = [];
  let from = day * dayMs;
  let receipts = 0;
  const cut = (to: number) => {
    spans.push({ from, to });
    from = to;
    receipts = 0;
  };
  for (let hour = day * 24; hour < (day + 1) * 24; hour++) {
    const requests = hours.get(hour) ?? 0;
    if (receipts > 0 && receipts + requests > size) {
      cut(hour * hourMs);
    }
    const parts = Math.ceil(requests / size);
    for (let at = 1; at < parts; at++) {
      cut(hour * hourMs + Math.floor((at * hourMs) / parts));
    }
    receipts += requests / Math.max(1, parts);
  }
  cut((day + 1) * dayMs);
  return spans;
}
