import { type Clock, systemClock } from "../../../lib/time/clock.ts";

/** The machine's own clock, with a time of day that never moves, for answers that tell the time. */
export const steadyClock: Clock = { ...systemClock, now: () => Date.parse("2026-01-31T12:00:00Z") };
