import type { Random } from "./random.ts";

/** A new request id: a prefix for people and a UUIDv7, so that ids sort by time. */
export const newRequestId = (random: Pick<Random, "uuid">): string => `req_${random.uuid().replaceAll("-", "")}`;

/** Whether a value can be a request's id: what the contract lets callers choose. */
export function isRequestId(value: unknown): value is string {
  return typeof value === "string" && /^[\w-]{1,64}$/.test(value);
}

/**
 * The creation time of an id made by Tollgate, in milliseconds since the epoch. Undefined: the id was made elsewhere.
 */
export function readRequestTime(requestId: string): number | undefined {
  const [, time] = /^req_([0-9a-f]{12})7[0-9a-f]{3}[89ab][0-9a-f]{15}$/.exec(requestId) ?? [];
  return time === undefined ? undefined : Number.parseInt(time, 16);
}

/** The id of a request by that of its answer, which is made from it. Other texts stay as they are, such as ids made elsewhere. */
export function toRequestId(id: string): string {
  const requestId = id.replace(/^(chatcmpl-|cmpl-|msg_)/, "req_");
  return readRequestTime(requestId) === undefined ? id : requestId;
}

/**
 * The id in what somebody pasted: with the name of its header or field before it, and what stands around it in a log, an error
 * or a command's message. Other texts stay as they are, without the spaces around them.
 */
export function readPastedId(text: string): string {
  const words = text.match(/[\w-]+/g) ?? [];
  const id = words.at(-1) ?? "";
  const name = words.slice(0, -1).join(" ");
  const isNamed = /^(?:x-)?request[-_]?id$/i.test(name) || (/^(?:request)?$/i.test(name) && id.startsWith("req_"));
  return isNamed ? id : text.trim();
}
