import type { SimulatedServer } from "../database/server.ts";
import { type Outcome, type Settings, simulate } from "../simulate.ts";
import { breaks } from "./breaks.ts";

/** Lives a world without the guarantee of this name, as `simulate` does. Undefined: every guarantee is there. */
export async function simulateBroken(
  name: string | undefined,
  seed: number,
  server: SimulatedServer,
  world: Settings,
): Promise<Outcome> {
  if (name === undefined) {
    return simulate(seed, server, world);
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
