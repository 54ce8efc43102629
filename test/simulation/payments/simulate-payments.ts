import type { SimulatedServer } from "../database/server.ts";
import type { Outcome } from "../simulate.ts";
import { judgePayments } from "./judge.ts";
import { PaymentWorld } from "./world.ts";

const minute = 60_000;
/** Simulated milliseconds of deeds and faults, and of peace afterwards. */
const livelyMs = 5 * minute;
const peaceMs = 3 * minute;

/** Lives one world from its beginning to its end, and judges it. Its requests are checkouts, and admitted what is paid. */
export async function simulatePayments(
  seed: number,
  server: SimulatedServer,
  tell?: (line: string) => void,
): Promise<Outcome> {
  const world = new PaymentWorld(seed, server, tell);
  const { timeline, bank, history } = world;
  world.repeat(2000, () => world.act());
  world.repeat(world.dice.pick([3000, 10_000]), () => world.harm());
  await timeline.pass(livelyMs);
  world.isHealed = true;
  for (const core of world.cores) {
    core.heal();
  }
  await timeline.pass(peaceMs);
  judgePayments(world);
  for (const core of world.cores) {
    core.process.kill();
  }
  const { violations, faults, digest } = history;
  return {
    ...{ seed, requests: bank.sessions.size, admitted: bank.payments.size, events: timeline.count, faults },
    ...{ simulatedMs: timeline.now, digest, violations },
  };
}
