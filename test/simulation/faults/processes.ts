import { day, type Fault, hour, second } from "./fault.ts";
import { harmDisk } from "./harm-disk.ts";

/** Processes end or sleep, and clocks are wrong. */
export const processFaults: readonly Fault[] = [
  {
    name: "kill",
    weight: 4,
    strike({ dice, machines, history }) {
      const machine = dice.pick(machines);
      history.fault(`${machine.name}: kill -9`);
      machine.kill();
      machine.startAfter(dice.chance(0.85) ? dice.exponential(2 * second) : dice.between(20, 90) * second);
    },
  },
  {
    name: "kill in the middle",
    weight: 6,
    strike({ dice, machines, history }) {
      const machine = dice.pick(machines);
      history.fault(`${machine.name}: kill -9 in the middle`);
      machine.process?.onDeath(() => machine.startAfter(dice.exponential(3 * second)));
      machine.process?.killAfter(dice.between(0, 30));
    },
  },
  {
    name: "stop",
    weight: 1,
    strike({ dice, machines, history }) {
      const machine = dice.pick(machines);
      history.fault(`${machine.name}: SIGTERM`);
      void machine.stop().then(() => machine.startAfter(dice.exponential(3 * second)));
      machine.restartAfter(60 * second);
    },
  },
  {
    name: "power cut",
    weight: 1,
    strike(world) {
      const { dice, machines, history } = world;
      const machine = dice.pick(machines);
      history.fault(`${machine.name}: power cut`);
      harmDisk(world, machine, "unsynced", () => machine.disk.cutPower(), 20 * second);
    },
  },
  {
    name: "suspend",
    weight: 2,
    strike({ dice, machines, history }) {
      const machine = dice.pick(machines);
      const ms = dice.chance(0.5) ? dice.exponential(2 * second) : dice.between(15, 100) * second;
      history.fault(`${machine.name}: suspended for ${Math.round(ms)} ms`);
      machine.process?.suspend(ms);
    },
  },
  {
    name: "clock",
    weight: 1,
    strike(world) {
      const { dice, machines, history } = world;
      const machine = dice.pick(machines);
      machine.time.offsetMs = dice.pick([0, 3 * second, -3 * second, hour, -hour, day, -day]);
      world.clocksMoved = true;
      history.fault(`${machine.name}: wall clock ${machine.time.offsetMs} ms off`);
    },
  },
  {
    name: "server's clock",
    weight: 1,
    strike(world) {
      world.clocksMoved = true;
      world.serverOffsetMs = world.dice.pick([0, 0, 3 * second, -hour, hour, day, -day]);
      world.history.fault(`the server's clock is ${world.serverOffsetMs} ms off`);
    },
  },
];
