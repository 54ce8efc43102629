import { type Fault, second } from "./fault.ts";
import { goBack } from "./go-back.ts";

/** The database loses what it had. */
export const databaseFaults: readonly Fault[] = [
  {
    name: "failover",
    weight: 1,
    strike(world) {
      if (!world.mayGoBack()) {
        return;
      }
      world.server.remember();
      const ms = world.dice.exponential(0.5 * second);
      world.plan(ms, () => goBack(world, "the server fails over into the past"));
    },
  },
  {
    name: "old backup",
    weight: 0.5,
    strike(world) {
      if (!world.mayGoBack()) {
        return;
      }
      world.server.remember();
      const ms = world.dice.exponential(20 * second);
      world.plan(ms, () => goBack(world, "the server is restored from a backup"));
    },
  },
];
