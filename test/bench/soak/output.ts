import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

/** From which level on a line of a log is an error. */
const errorLevel = 50;

/**
 * What a process said that it should not have: errors in its log, and lines that are none of its log, which is
 * where Node writes warnings and unhandled rejections. Each line once, with how often it came.
 */
export async function grievances(log: string): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  for await (const line of createInterface({ input: createReadStream(log) })) {
    const text = grievance(line);
    if (text !== undefined) {
      found.set(text, (found.get(text) ?? 0) + 1);
    }
  }
  return found;
}

function grievance(line: string): string | undefined {
  if (line.trim() === "") {
    return undefined;
  }
  try {
    const { level, msg, err } = JSON.parse(line);
    if (typeof level === "number") {
      return level < errorLevel ? undefined : `${msg} ${err?.message ?? ""}`.trim();
    }
  } catch {
    // no line of the log
  }
  return line;
}
