import type { Random } from "./random.ts";
import { markId } from "./shard.ts";

/**
 * A new request id: a prefix for people and a UUIDv7, so that ids sort by time. For a shard other than 0 it has the
 * shard's mark.
 */
export const newRequestId = (random: Pick<Random, "uuid">, shard = 0): string =>
  `req_${markId(random.uuid(), shard).replaceAll("-", "")}`;

/**
 * The creation time of an id made by Tollgate, in milliseconds since the epoch. Undefined: the id was made elsewhere.
 */
export function readRequestTime(requestId: string): number | undefined {
  const [, time] = /^req_([0-9a-f]{12})[78][0-9a-f]{3}[89ab][0-9a-f]{15}$/.exec(requestId) ?? [];
  return time === undefined ? undefined : Number.parseInt(time, 16);
}
