// Lives worlds until one breaks a promise, in the tree that this file lies in:
// node test/mutations/worlds.ts FIRST COUNT CPU-SECONDS KIND...
// Prints one line of JSON. `main.ts` runs it in a copy of the tree with a mutation in it.
import { SimulatedServer } from "../simulation/database/server.ts";
import { simulatePayments } from "../simulation/payments/simulate-payments.ts";
import { type Settings, simulate } from "../simulation/simulate.ts";
import { type WorldKind, worldKinds } from "./world-kinds.ts";

/** What the worlds of a run found. */
export interface Lived {
  /** The worlds that were lived. */
  readonly worlds: number;
  readonly seed: number;
  /** Empty: every world kept every promise. */
  readonly violations: readonly string[];
}

const [first, count, seconds] = process.argv.slice(2, 5).map(Number) as [number, number, number];
const kinds = process.argv.slice(5) as WorldKind[];
const cpuSeconds = () => process.resourceUsage().userCPUTime / 1_000_000;
const endsAt = cpuSeconds() + seconds;
const unheard: string[] = [];
process.on("unhandledRejection", (error) => unheard.push(`nobody heard of an error: ${String(error)}`));
const server = await SimulatedServer.open();
let lived: Lived = { worlds: 0, seed: first, violations: [] };
while (lived.worlds < count && lived.violations.length === 0 && cpuSeconds() < endsAt) {
  const seed = first + lived.worlds;
  const violations = await live(seed, worldKinds[kinds[lived.worlds % kinds.length] as WorldKind]);
  lived = { worlds: lived.worlds + 1, seed, violations: [...violations, ...unheard.splice(0)] };
}
console.log(JSON.stringify({ ...lived, violations: lived.violations.slice(0, 3).map((text) => text.slice(0, 400)) }));
process.exit(0);

async function live(seed: number, settings: Settings): Promise<readonly string[]> {
  try {
    const outcome = settings.isPayments ? simulatePayments(seed, server) : simulate(seed, server, settings);
    return (await outcome).violations;
  } catch (error) {
    return [`the simulation failed: ${error instanceof Error ? error.stack : String(error)}`];
  }
}
