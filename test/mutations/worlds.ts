// Lives worlds until one breaks a promise, in the tree that this file lies in: node test/mutations/worlds.ts FIRST COUNT
// Prints one line of JSON. `main.ts` runs it in a copy of the tree with a mutation in it.
import { SimulatedServer } from "../simulation/database/server.ts";
import { type Settings, simulate } from "../simulation/simulate.ts";

/** What the worlds of a run found. */
export interface Lived {
  /** The worlds that were lived. */
  readonly worlds: number;
  readonly seed: number;
  /** Empty: every world kept every promise. */
  readonly violations: readonly string[];
}

/** The kinds of worlds, one after the other: small ones, so that many are lived in little time. */
const kinds: readonly Settings[] = [
  {
    requests: 300,
    trafficMs: 15,
    faultsMs: 150,
    only: ["lying engine", "one lost reply", "lost replies", "suspend", "kill in the middle", "look-ups pile up"],
  },
  { requests: 150, trafficMs: 20, faultsMs: 500 },
  { requests: 300, trafficMs: 100, faultsMs: 500, isNight: true },
  { requests: 600, trafficMs: 5, faultsMs: 300 },
  { requests: 200, trafficMs: 20, faultsMs: 500, isSqlite: true },
];

const [first, count] = process.argv.slice(2).map(Number) as [number, number];
const unheard: string[] = [];
process.on("unhandledRejection", (error) => unheard.push(`nobody heard of an error: ${String(error)}`));
const server = await SimulatedServer.open();
let lived: Lived = { worlds: 0, seed: first, violations: [] };
while (lived.worlds < count && lived.violations.length === 0) {
  const seed = first + lived.worlds;
  const violations = await live(seed, kinds[lived.worlds % kinds.length] as Settings);
  lived = { worlds: lived.worlds + 1, seed, violations: [...violations, ...unheard.splice(0)] };
}
console.log(JSON.stringify({ ...lived, violations: lived.violations.slice(0, 3).map((text) => text.slice(0, 400)) }));
process.exit(0);

async function live(seed: number, settings: Settings): Promise<readonly string[]> {
  try {
    return (await simulate(seed, server, settings)).violations;
  } catch (error) {
    return [`the simulation failed: ${error instanceof Error ? error.stack : String(error)}`];
  }
}
