import type { Random } from "./random.ts";

/** A new request id: a prefix for people and a UUIDv7, so that ids sort by time. */
export const newRequestId = (random: Pick<Random, "uuid">): string => `req_${random.uuid().replaceAll("-", "")}`;

/** Whether a caller may name its request so: what engines take as a header and every database as text. */
export function isRequestId(text: string): boolean {
  return pattern.test(text);
}

const pattern = /^[\w-]{1,64}$/;
