import type { World } from "../world.ts";
import { type Fault, second } from "./fault.ts";

/** Degrades a machine's network for a while. */
function badNetwork(world: World, how: Partial<World["machines"][number]["network"]>): void {
  const { dice, timeline } = world;
  const { network, name } = dice.pick(world.machines);
  const before = { ...network };
  world.history.fault(`${name}: network ${JSON.stringify(how)}`);
  Object.assign(network, how);
  timeline.after(dice.exponential(5 * second), () => {
    for (const key of Object.keys(how) as (keyof typeof before)[]) {
      Object.assign(network, { [key]: world.isHealed ? (key === "isDown" ? false : 0) : before[key] });
    }
  });
}

/** The database is hard to reach, or not to be reached. */
export const networkFaults: readonly Fault[] = [
  { name: "lost calls", weight: 2, strike: (world) => badNetwork(world, { lost: world.dice.pick([0.01, 0.1, 0.5]) }) },
  {
    name: "lost replies",
    weight: 3,
    strike: (world) => badNetwork(world, { replyLost: world.dice.pick([0.01, 0.1, 0.5]) }),
  },
  {
    name: "one lost reply",
    weight: 3,
    strike({ dice, machines, server, history }) {
      const { network, name } = dice.pick(machines);
      network.losesReplyOf = dice.pick(["commit", "orm transactional", ...server.done.keys()]);
      history.note(`${name}: the next reply to ${network.losesReplyOf} is to be lost`);
    },
  },
  { name: "late calls", weight: 1, strike: (world) => badNetwork(world, { late: world.dice.pick([0.005, 0.05]) }) },
  { name: "slow calls", weight: 2, strike: (world) => badNetwork(world, { slow: world.dice.pick([0.05, 0.5]) }) },
  { name: "cut off", weight: 1, strike: (world) => badNetwork(world, { isDown: true }) },
  {
    name: "server away",
    weight: 1,
    strike(world) {
      const { dice, timeline, machines, history } = world;
      history.fault("the server is away");
      world.breakConnections();
      for (const { network } of machines) {
        network.isDown = true;
      }
      timeline.after(dice.chance(0.7) ? dice.exponential(3 * second) : dice.between(20, 60) * second, () => {
        history.note("the server is back");
        for (const { network } of machines) {
          network.isDown = false;
        }
      });
    },
  },
];
