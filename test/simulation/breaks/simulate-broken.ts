import type { SimulatedServer } from "../database/server.ts";
import { simulatePayments } from "../payments/simulate-payments.ts";
import { type Outcome, type Settings, simulate } from "../simulate.ts";
import { breaks } from "./breaks.ts";

/** One seed of so many lives a world of payments. */
const paymentsEvery = 20;

/** Lives a world without the guarantee of this name, as `simulate` does. Undefined: every guarantee is there. */
export async function simulateBroken(
  name: string | undefined,
  seed: number,
  server: SimulatedServer,
  world: Settings,
): Promise<Outcome> {
  if (name === undefined) {
    const { isPayments = !world.isSqlite && seed % paymentsEvery === 0 } = world;
    return isPayments ? simulatePayments(seed, server, world.tell) : simulate(seed, server, world);
  }
  const broken = breaks.find((one) => one.name === name);
  if (broken === undefined) {
    throw new Error(`there is no guarantee to be taken out by the name of ${name}`);
  }
  const { apply, only, settings, instead, alter } = broken;
  const restore = apply?.();
  try {
    return await simulate(seed, server, {
      ...world,
      only,
      ...settings,
      ...(instead && { instead }),
      ...(alter && { alter }),
    });
  } finally {
    restore?.();
  }
}
