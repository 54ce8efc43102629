// Lives worlds of the ledger on a simulated network, disk, database and clock, and judges them.
//   npm run simulate -- [--seed N] [--seeds 100] [--requests 2000] [--history]
import { parseArgs } from "node:util";
import { SimulatedServer } from "./database/server.ts";
import { simulate } from "./simulate.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string", default: "1" },
    requests: { type: "string", default: "2000" },
    history: { type: "boolean", default: false },
  },
});
process.on("unhandledRejection", (error) => {
  console.log("UNHANDLED", error);
  process.exitCode = 1;
});
const server = await SimulatedServer.open();
const first = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const began = performance.now();
const sum = { requests: 0, faults: 0, events: 0, violations: 0 };
for (let seed = first; seed < first + Number(values.seeds); seed++) {
  const outcome = await simulate(seed, server, {
    requests: Number(values.requests),
    ...(values.history && { tell: (line: string) => console.log(line) }),
  });
  sum.requests += outcome.requests;
  sum.faults += outcome.faults;
  sum.events += outcome.events;
  sum.violations += outcome.violations.length;
  if (outcome.violations.length > 0 || Number(values.seeds) === 1) {
    console.log({ ...outcome, violations: outcome.violations.slice(0, 4) });
  }
}
console.log(sum, `${Math.round(performance.now() - began)} ms`);
process.exitCode = sum.violations > 0 ? 1 : 0;
await server.close();
