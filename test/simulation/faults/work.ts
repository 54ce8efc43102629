import { giveManyLots, moveManyPrices } from "../cores/crowds.ts";
import { type Fault, second } from "./fault.ts";

/** What cores are given to do is much, or wrong. */
export const workFaults: readonly Fault[] = [
  {
    name: "many lots",
    weight: 0.5,
    strike(world) {
      const { dice, history } = world;
      const { accountId } = dice.pick(world.customers);
      const count = dice.pick([100, 100, 100, 1000, 10_000]);
      if (world.mayCrowd("lots")) {
        history.fault(`${count} lots for account ${accountId}`);
        giveManyLots(world, accountId, count);
      }
    },
  },
  {
    name: "many price lists",
    weight: 0.5,
    strike(world) {
      const { dice, history } = world;
      const count = dice.pick([20, 20, 200]);
      if (world.mayCrowd("prices")) {
        history.fault(`${count} price lists, one after the other`);
        moveManyPrices(world, count);
      }
    },
  },
  {
    name: "other prices configured",
    weight: 1,
    strike(world) {
      const { dice, machines, history } = world;
      const machine = dice.pick(machines);
      const price = dice.pick(["1.00", "2.00", "2.50"]);
      history.fault(`${machine.name}: killed, and started with another price, ${price}`);
      machine.kill();
      machine.configure(price);
      machine.startAfter(dice.exponential(5 * second));
    },
  },
  {
    name: "lying engine",
    weight: 1,
    strike({ dice, timeline, traffic, history }) {
      history.fault("an engine lies");
      traffic.engines.lies = 0.2;
      traffic.engines.nonsense = 0.1;
      timeline.after(dice.exponential(5 * second), () => {
        traffic.engines.lies = 0;
        traffic.engines.nonsense = 0;
      });
    },
  },
  {
    name: "look-ups pile up",
    weight: 1,
    strike({ dice, timeline, machines, history }) {
      const machine = dice.pick(machines);
      const ms = dice.between(20, 60) * second;
      history.fault(`${machine.name}: cut off for ${ms} ms, and requests wait for their keys`);
      machine.network.isDown = true;
      machine.pileUp(ms + dice.between(0, 30));
      timeline.after(ms, () => {
        machine.network.isDown = false;
      });
    },
  },
];
