import type { Random } from "./random.ts";

/** A new request id: a prefix for people and a UUIDv7, so that ids sort by time. */
export const newRequestId = (random: Pick<Random, "uuid">): string => `req_${random.uuid().replaceAll("-", "")}`;
