import { type Fault, second } from "./fault.ts";
import { harmDisk } from "./harm-disk.ts";

/** Disks refuse, lie, or lose journals. */
export const diskFaults: readonly Fault[] = [
  {
    name: "disk full",
    weight: 1,
    strike({ dice, timeline, machines, history }) {
      const { disk, name } = dice.pick(machines);
      history.fault(`${name}: disk full`);
      disk.faults.room = dice.between(0, 2000);
      timeline.after(dice.exponential(10 * second), () => {
        disk.faults.room = Number.POSITIVE_INFINITY;
      });
    },
  },
  {
    name: "disk fails to sync",
    weight: 1,
    strike({ dice, timeline, machines, history }) {
      const { disk, name } = dice.pick(machines);
      history.fault(`${name}: disk fails to sync`);
      disk.faults.failsToSync = true;
      timeline.after(dice.exponential(5 * second), () => {
        disk.faults.failsToSync = false;
      });
    },
  },
  {
    name: "lying disk",
    weight: 0.5,
    strike(world) {
      const { dice, machines, history } = world;
      const machine = dice.pick(machines);
      history.fault(`${machine.name}: the disk lies about syncing`);
      machine.disk.faults.lies = true;
      world.plan(dice.exponential(5 * second), () => {
        history.fault(`${machine.name}: power cut`);
        machine.disk.faults.lies = false;
        harmDisk(world, machine, "lost journal", () => machine.disk.cutPower(), 5 * second);
      });
    },
  },
  {
    name: "rotten journal",
    weight: 0.5,
    strike(world) {
      const { dice, machines, history } = world;
      const machine = dice.pick(machines);
      history.fault(`${machine.name}: killed, and its journal has rotten bytes`);
      const rot = () => machine.disk.rot("/data/cores/1/journal", dice.between(1, 20));
      harmDisk(world, machine, "lost journal", rot, 5 * second);
    },
  },
  {
    name: "old journal",
    weight: 0.5,
    strike(world) {
      const { dice, machines, history } = world;
      const machine = dice.pick(machines);
      const old = machine.disk.copy();
      world.plan(dice.exponential(10 * second), () => {
        history.fault(`${machine.name}: killed, and its disk is an older one`);
        harmDisk(world, machine, "lost journal", () => machine.disk.restore(old), 5 * second);
      });
    },
  },
  {
    name: "journal gone",
    weight: 0.5,
    strike(world) {
      const { dice, machines, history } = world;
      const machine = dice.pick(machines);
      history.fault(`${machine.name}: killed, and its disk is empty`);
      harmDisk(world, machine, "lost journal", () => machine.disk.restore(new Map()), 5 * second);
    },
  },
];
