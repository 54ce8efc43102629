const pattern = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d))?$/;

/** Reads a UTC day or a time of RFC 3339. Undefined: the text is neither, or the calendar has no such day. */
export function parseMoment(text: string): Date | undefined {
  const [, day = ""] = pattern.exec(text) ?? [];
  const time = new Date(text);
  // A day that a month does not have would be read as a day of the next month.
  const midnight = new Date(`${day}T00:00:00Z`);
  const isDay = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
  return isDay && !Number.isNaN(time.getTime()) ? time : undefined;
}
