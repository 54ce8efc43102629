import type { Duration, Timestamp } from "@bufbuild/protobuf/wkt";
import { decimalsOf } from "./numbers.ts";

const near = new Intl.DateTimeFormat(undefined, {
  hourCycle: "h23",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});
const full = new Intl.DateTimeFormat(undefined, {
  hourCycle: "h23",
  year: "numeric",
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
});
const secondMs = 1000;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

export function toDate(timestamp: Timestamp): Date {
  return new Date(Number(timestamp.seconds) * 1000 + timestamp.nanos / 1_000_000);
}

export function toMs(duration: Duration): number {
  return Number(duration.seconds) * 1000 + duration.nanos / 1_000_000;
}

/** Formats a time in the reader's zone: without its date when it is today. */
export function formatTime(date: Date): string {
  return date.toDateString() === new Date().toDateString() ? near.format(date) : full.format(date);
}

/** Formats a time in UTC, such as "2026-11-22 09:37:21 UTC". */
export function formatUtc(date: Date): string {
  return `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** Formats how long ago a time was, in the largest unit: "12 s ago", "5 min ago", "3 d ago". */
export function formatAgo(date: Date, now = Date.now()): string {
  const ms = Math.max(0, now - date.getTime());
  return ms < 1000 ? "just now" : `${formatSpan(ms)} ago`;
}

/** Formats a duration in the largest unit: "12 s", "5 min", "3 h", "2 d". */
export function formatSpan(ms: number): string {
  if (ms < minuteMs) {
    return `${Math.round(ms / 1000)} s`;
  }
  if (ms < hourMs) {
    return `${Math.round(ms / minuteMs)} min`;
  }
  return ms < 2 * dayMs ? `${Math.round(ms / hourMs)} h` : `${Math.round(ms / dayMs)} d`;
}

/**
 * Formats a duration: to a millisecond below a second, otherwise to a tenth of a second: "84 ms", "3.2 s". With `step`,
 * formats a label of an axis for that step.
 */
export function formatMs(ms: number, step?: number): string {
  if (step !== undefined && step >= secondMs / 2) {
    return `${(ms / secondMs).toFixed(decimalsOf(step / secondMs))} s`;
  }
  if (step !== undefined) {
    return `${ms.toFixed(decimalsOf(step))} ms`;
  }
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** The value of a browser's date-and-time field, in the reader's zone: "2026-11-22T09:37". */
export function toLocalTime(date: Date): string {
  const local = new Date(date.getTime() - date.getTimezoneOffset() * minuteMs);
  return local.toISOString().slice(0, "2026-11-22T09:37".length);
}

/** The time in such a field's value. Undefined: the value is not a time. */
export function fromLocalTime(text: string): Date | undefined {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
