import { surfaceNames } from "#lib/inference/surface-names.ts";
import { deliveries, finishNames } from "#src/storage/entities/metering/usage.ts";
import type { RunFacts } from "./settlement.ts";

/** The longest name of a server that a column takes, in characters. */
const longest = 255;

const isOneOf = (names: readonly string[]) => (value: unknown) => names.includes(value as string);
const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;

/** The valid values of each fact. */
const judges: Readonly<Record<keyof RunFacts, (value: unknown) => boolean>> = {
  finish: isOneOf(finishNames),
  delivery: isOneOf(deliveries),
  surface: isOneOf(surfaceNames),
  firstTokenMs: isCount,
  durationMs: isCount,
  reasoningTokens: isCount,
  cachedInputTokens: isCount,
  server: (value) => typeof value === "string" && value.length <= longest && !value.includes("\0"),
};

const factNames = Object.keys(judges) as (keyof RunFacts)[];

/** Keeps the facts that every database takes and leaves the others out: facts only inform. Trusts no type. */
export function readFacts(facts: unknown): RunFacts | undefined {
  if (typeof facts !== "object" || facts === null) {
    return undefined;
  }
  const known: Record<string, unknown> = {};
  for (const name of factNames) {
    const value = (facts as RunFacts)[name];
    if (value !== undefined && judges[name](value)) {
      known[name] = value;
    }
  }
  return known;
}
