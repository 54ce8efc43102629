// Lives worlds of the ledger on a simulated network, disk, database and clock, and judges them.
//   npm run simulate -- --seed N [--history]            one world, with all that happens in it
//   npm run simulate -- --seeds 100000 [--seed FIRST]   a night's run; prints the seeds whose worlds break a promise
//   [--requests 5000] a world, [--without "FAULT"] again and again
import { parseArgs } from "node:util";
import { SimulatedServer } from "./database/server.ts";
import { simulate } from "./simulate.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string", default: "1" },
    requests: { type: "string", default: "5000" },
    history: { type: "boolean", default: false },
    without: { type: "string", multiple: true, default: [] },
  },
});
const first = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const [seeds, requests] = [Number(values.seeds), Number(values.requests)];
if (![first, seeds, requests].every(Number.isSafeInteger)) {
  console.error("simulate: --seed, --seeds and --requests are whole numbers");
  process.exit(1);
}

let broken = 0;
process.on("unhandledRejection", (error) => {
  broken++;
  console.log("nobody heard of an error:", error);
});
const server = await SimulatedServer.open();
const sum = { worlds: 0, requests: 0, admitted: 0, faults: 0, events: 0, simulatedHours: 0 };
const began = performance.now();
for (let seed = first; seed < first + seeds; seed++) {
  const tell = values.history ? { tell: (line: string) => console.log(line) } : {};
  const outcome = await simulate(seed, server, { requests, without: values.without, ...tell });
  sum.worlds++;
  sum.requests += outcome.requests;
  sum.admitted += outcome.admitted;
  sum.faults += outcome.faults;
  sum.events += outcome.events;
  sum.simulatedHours += outcome.simulatedMs / 3_600_000;
  broken += outcome.violations.length;
  if (seeds === 1 || outcome.violations.length > 0) {
    console.log(outcome);
  }
  if (sum.worlds % 100 === 0) {
    tellSum();
  }
}
tellSum();
await server.close();
process.exitCode = broken > 0 ? 1 : 0;

function tellSum(): void {
  const seconds = Math.round((performance.now() - began) / 1000);
  const cpuSeconds = Math.round(process.cpuUsage().user / 1_000_000);
  console.log({ ...sum, violations: broken, seconds, cpuSeconds });
}
