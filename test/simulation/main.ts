// Lives worlds of the ledger on a simulated network, disk, database and clock, and judges them.
//   npm run simulate -- --seed N [--history]            one world, with all that happens in it
//   npm run simulate -- --seeds 1000 [--seed FIRST]     so many worlds, on all CPUs; tells the seeds that break a promise
//   npm run simulate -- --hours 8                       a night's run
//   [--requests 20000] a world at most, [--traffic-ms N] and [--faults-ms N] from one to the next in the mean, [--sqlite],
//   [--payments] for worlds of payments alone, otherwise one in 20,
//   [--threads 2], [--without "FAULT"] again and again, [--break "GUARANTEE"] that is taken out (test/simulation/breaks)
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { exitAsSet } from "../../scripts/test-services/workarounds/embedded-postgres.ts";
import { simulateBroken } from "./breaks/simulate-broken.ts";
import { SimulatedServer } from "./database/server.ts";
import { addOutcome, type Figures, noFigures } from "./figures.ts";
import { sampleReplays } from "./replay/sample.ts";
import { mostRequests } from "./simulate.ts";
import { liveInThreads } from "./threads.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string" },
    hours: { type: "string" },
    requests: { type: "string" },
    "traffic-ms": { type: "string" },
    "faults-ms": { type: "string" },
    sqlite: { type: "boolean", default: false },
    payments: { type: "boolean" },
    threads: { type: "string", default: String(availableParallelism()) },
    history: { type: "boolean", default: false },
    without: { type: "string", multiple: true, default: [] },
    break: { type: "string" },
  },
});
const first = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const requests = Number(values.requests ?? mostRequests);
const [threads, hours] = [Number(values.threads), Number(values.hours ?? 0)];
const seeds = Number(values.seeds ?? (hours > 0 ? Number.MAX_SAFE_INTEGER : 1));
if (![first, seeds, requests, threads].every(Number.isSafeInteger) || !(hours >= 0) || threads < 1) {
  console.error("simulate: --seed, --seeds, --requests and --threads are whole numbers, --hours is a number");
  process.exit(1);
}

const toNumber = (text: string | undefined) => (text === undefined ? undefined : Number(text));
const settings = {
  ...{ requests, without: values.without, isSqlite: values.sqlite, isPayments: values.payments },
  ...{ trafficMs: toNumber(values["traffic-ms"]), faultsMs: toNumber(values["faults-ms"]) },
};
process.exitCode = (await (seeds === 1 ? liveOne() : liveMany())) > 0 ? 1 : 0;
exitAsSet();

/** Lives one world in this thread. Returns how many promises it broke. */
async function liveOne(): Promise<number> {
  const server = await SimulatedServer.open();
  let unheard = 0;
  process.on("unhandledRejection", (error) => {
    unheard++;
    console.log("nobody heard of an error:", error);
  });
  const tell = values.history ? { tell: (line: string) => console.log(line) } : {};
  const outcome = await simulateBroken(values.break, first, server, { ...settings, ...tell });
  console.log(outcome);
  await server.close();
  return outcome.violations.length + unheard;
}

async function liveMany(): Promise<number> {
  const began = performance.now();
  const seconds = () => Math.round((performance.now() - began) / 1000);
  const until = hours > 0 ? began + hours * 3_600_000 : Number.POSITIVE_INFINITY;
  console.log(`seeds from ${first}, on ${threads} threads`);
  let figures: Figures = noFigures;
  let toldAt = began;
  let [last, hasEnded] = [first, false];
  const sampled = values.sqlite
    ? undefined // its worlds already use the real SQLite
    : sampleReplays(
        () => last,
        () => hasEnded,
        (found) => console.log(found),
      );
  const task = { first, seeds, threads, settings, broken: values.break };
  await liveInThreads({ ...task, mayGoOn: () => performance.now() < until }, (outcome) => {
    figures = addOutcome(figures, outcome);
    last = outcome.seed;
    if (outcome.violations.length > 0) {
      console.log(outcome);
    }
    if (performance.now() - toldAt > 60_000) {
      toldAt = performance.now();
      console.log({ ...figures, seconds: seconds() });
    }
  });
  const cpuSeconds = Math.round(process.cpuUsage().user / 1_000_000);
  hasEnded = true;
  const sample = await sampled;
  console.log({ ...figures, ...sample, seconds: seconds(), cpuSeconds });
  return figures.violations + (sample?.differences ?? 0);
}
