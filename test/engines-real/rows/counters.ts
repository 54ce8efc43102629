import type { RealEngine } from "../engine.ts";
import type { Counts } from "../told.ts";

/** The engine's counters of all tokens so far. Undefined: it has none. */
export async function readCounters(url: string, { counters }: RealEngine): Promise<Counts | undefined> {
  if (counters === undefined) {
    return undefined;
  }
  const page = await (await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(10_000) })).text();
  const read = (name: string) => {
    const line = page.split("\n").find((one) => one.startsWith(`${name}{`) || one.startsWith(`${name} `));
    return Number(line?.split(" ").at(-1) ?? Number.NaN);
  };
  return { input: read(counters.input), output: read(counters.output) };
}
