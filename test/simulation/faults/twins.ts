import { type Fault, second } from "./fault.ts";

/** A core is there twice. */
export const twinFaults: readonly Fault[] = [
  {
    name: "twin",
    weight: 0.5,
    strike(world) {
      const { dice, machines, history } = world;
      const machine = dice.pick(machines);
      if (world.addTwin(machine, dice.between(20, 90) * second)) {
        history.fault(`${machine.name}: another machine starts on a copy of its disk`);
      }
    },
  },
  {
    name: "second process",
    weight: 0.5,
    isAsked: true,
    strike(world) {
      const { dice, machines, history } = world;
      const machine = dice.pick(machines);
      if (world.addSecond(machine, dice.between(20, 90) * second)) {
        history.fault(`${machine.name}: another process starts on its disk`);
      }
    },
  },
];
