export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** A day, counted since 1970, as YYYY-MM-DD. */
export const dayName = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 10);
