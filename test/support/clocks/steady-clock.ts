import { type Clock, systemClock } from "#lib/time/clock.ts";

/** The machine's own clock with a fixed time of day, for answers that contain the time. */
export const steadyClock: Clock = { ...systemClock, now: () => Date.parse("2026-01-31T12:00:00Z") };
