import type { Random } from "./random.ts";
import { markId } from "./shard.ts";

/** A new request id: a prefix for people and a UUIDv7, so that ids sort by time; of a shard other than 0 it has its mark. */
export const newRequestId = (random: Pick<Random, "uuid">, shard = 0): string =>
  `req_${markId(random.uuid(), shard).replaceAll("-", "")}`;

/** When an id that was made here was made, in milliseconds since the epoch. Undefined: it was made elsewhere. */
export function readRequestTime(requestId: string): number | undefined {
  const [, time] = /^req_([0-9a-f]{12})[78][0-9a-f]{3}[89ab][0-9a-f]{15}$/.exec(requestId) ?? [];
  return time === undefined ? undefined : Number.parseInt(time, 16);
}
