import { SeededRandom } from "../../fleet/seeded-random.ts";
import { Cores, type Met } from "../../fleet/sharing/simulation/cores.ts";
import { spread } from "../report/statistics.ts";
import type { Figure, Scenario } from "../scenario.ts";

/** Servers and clients of whom each asks again at once: there are about four times as many as places. */
const fleet = { servers: 4, capacity: 8, delayMs: 2, lost: 0, reserve: 0 } as const;
const cores = 8;
const clients = 20;
/** The last core has a fifth of the others' clients. */
const fewClients = clients / 5;
const warmUpMs = 10_000;

/** What came of a run. */
interface Outcome {
  /** The p99 wait of the core with few clients, and its mean, as multiples of all requests' p99 and mean. */
  readonly p99: number;
  readonly mean: number;
  /** Requests that were refused. */
  readonly refused: number;
  /** Requests that were served, as a multiple of what one core serves. */
  readonly served: number;
}

/** How evenly cores share a fleet that all of them keep full, in virtual time. */
export const eightCores: Scenario = {
  name: "eight-cores",
  shows: "waits on eight cores with one full fleet, of which one has a fifth of the load",
  async run({ options: { quick, rounds }, progress }) {
    const outcomes: Outcome[] = [];
    for (let seed = 1; seed <= rounds; seed++) {
      progress(`eight-cores: seed ${seed}`);
      outcomes.push(await compare(seed, quick ? 1 : 5));
    }
    const figure = (name: string, unit: string, of: (outcome: Outcome) => number, limit: number): Figure => ({
      scenario: "eight-cores",
      name,
      unit,
      value: spread(outcomes.map(of)),
      better: "lower",
      limit,
    });
    return {
      figures: [
        figure("p99 wait on the core with a fifth of the load", "× of all", ({ p99 }) => p99, 1.3),
        figure("mean wait on the core with a fifth of the load", "× of all", ({ mean }) => mean, 1.3),
        figure("refused", "requests", ({ refused }) => refused, 0),
        { ...figure("served", "× of one core", ({ served }) => served, 0.97), better: "higher" },
      ],
    };
  },
};

async function compare(seed: number, minutes: number): Promise<Outcome> {
  const several = await simulate(seed, cores, minutes);
  const one = await simulate(seed, 1, minutes);
  const few = several.met.filter(({ account }) => account.startsWith(`${cores - 1} `));
  return {
    p99: toP99(few) / toP99(several.met),
    mean: toMean(few) / toMean(several.met),
    refused: several.met.filter(({ isServed }) => !isServed).length,
    served: several.served / one.served,
  };
}

/** The same clients, on so many cores. */
async function simulate(seed: number, count: number, minutes: number) {
  const simulated = new Cores({ ...fleet, seed });
  const started = Array.from({ length: count }, () => simulated.start());
  await simulated.run(100);
  const random = new SeededRandom(seed);
  for (let at = 0; at < cores; at++) {
    const core = started[at % count] as (typeof started)[number];
    for (let client = 0; client < (at === cores - 1 ? fewClients : clients); client++) {
      const ask = async (): Promise<void> => {
        for (;;) {
          const tokens = random.between(200, 1800);
          await core.ask({ account: `${at} ${client}`, tokens, ms: tokens });
        }
      };
      simulated.clock.after(random.between(0, 500), () => void ask());
    }
  }
  await simulated.run(warmUpMs);
  simulated.met.length = 0; // at first, cores do not know of each other's requests
  const before = simulated.served;
  await simulated.run(60_000 * minutes);
  return { met: simulated.met, served: simulated.served - before };
}

function toMean(met: readonly Met[]): number {
  return met.reduce((sum, { waitedMs }) => sum + waitedMs, 0) / met.length;
}

function toP99(met: readonly Met[]): number {
  return met.map(({ waitedMs }) => waitedMs).toSorted((one, other) => one - other)[Math.floor(0.99 * met.length)] ?? 0;
}
