// One thread of a long run. Lives the worlds that it is sent, one after the other.
import { parentPort } from "node:worker_threads";
import { simulateBroken } from "./breaks/simulate-broken.ts";
import { SimulatedServer } from "./database/server.ts";
import { noOutcome } from "./simulate.ts";
import type { Turn } from "./threads.ts";

const unheard: string[] = [];
process.on("unhandledRejection", (error) => {
  unheard.push(`nobody heard of an error: ${tell(error)}`);
});
const server = await SimulatedServer.open();

parentPort?.on("message", async ({ seed, settings, broken }: Turn) => {
  const outcome = await simulateBroken(broken, seed, server, settings).catch((error: unknown) => ({
    ...{ ...noOutcome, seed, violations: [`the simulation failed: ${tell(error)}`] },
  }));
  parentPort?.postMessage({ ...outcome, violations: [...outcome.violations, ...unheard.splice(0)] });
});

function tell(error: unknown): string {
  return error instanceof Error ? String(error.stack) : String(error);
}
