import { giveManyLots, moveManyPrices } from "./cores/crowds.ts";
import type { Machine } from "./cores/machine.ts";
import type { Excuse, World } from "./world.ts";

const second = 1000;
const hour = 3_600_000;
const day = 86_400_000;

/** A fault that can strike a world. */
export interface Fault {
  readonly name: string;
  /** How often it strikes, relative to others. */
  readonly weight: number;
  /** True: it strikes only when requested by name: judges do not know yet whose journals nobody reads afterwards. */
  readonly isAsked?: true;
  strike(world: World): void;
}

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

/** Kills everything that runs on a machine's disk, changes the disk, and starts again. */
function harmDisk(world: World, machine: Machine, why: Excuse, harm: () => void, meanMs: number): void {
  const harmed = world.machines.filter(({ disk }) => disk === machine.disk);
  for (const one of harmed) {
    one.kill();
    world.excuse(why, one);
  }
  harm();
  for (const one of harmed) {
    one.startAfter(world.dice.exponential(meanMs));
  }
}

/** Restores the server's remembered tables. */
function goBack(world: World, how: string): void {
  const { history, server } = world;
  history.fault(how);
  world.wentBack = true;
  server.goBack();
  world.breakConnections();
  world.excuseWhatIsGone();
  history.unsettle();
}

export const faults: readonly Fault[] = [
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
  {
    name: "trouble while a day leaves",
    weight: 3,
    strike(world) {
      const { dice, night, history, server } = world;
      if (night?.mayTrouble !== true) {
        return;
      }
      const at = dice.pick(["sealed", "archived"] as const);
      const how = dice.pick(world.isSqlite ? (["kill"] as const) : (["kill", "sleep", "failover"] as const));
      const deeds = dice.between(0, 12);
      const ms = dice.exponential(100);
      if (how === "failover") {
        night.strikeAt("due", () => server.remember()); // the standby lacks the seal, and all that comes after it
      }
      night.strikeAt(at, (process) => {
        if (world.isHealed) {
          return;
        }
        history.fault(`${process.name}: ${how} once a day is ${at}`);
        if (how === "kill") {
          const machine = world.machines.find((one) => one.process === process);
          process.onDeath(() => machine?.startAfter(dice.exponential(3 * second)));
          process.killAfter(deeds);
        } else if (how === "sleep") {
          process.suspend(dice.between(20, 60) * second);
        } else if (world.mayGoBack()) {
          world.plan(ms, () => goBack(world, "the server fails over while a day leaves"));
        }
      });
    },
  },
  {
    name: "archive harmed",
    weight: 1,
    strike({ dice, night, history }) {
      const names = [...(night?.files.keys() ?? [])].filter((one) => !night?.harmed.has(one));
      if (night === undefined || names.length === 0) {
        return;
      }
      const name = dice.pick(names);
      const content = Buffer.from(night.files.get(name) ?? "");
      const how = dice.pick(["gone", "rotten", "cut"] as const);
      const at = dice.between(0, content.length - 1);
      content[at] = (content[at] ?? 0) ^ 1;
      night.harmed.set(name, { gone: undefined, rotten: content, cut: content.subarray(0, at) }[how]);
      history.fault(`the archive ${name} is ${how}`);
    },
  },
];

/** Faults that strike only where receipts leave the books. */
export const nightlyFaults: ReadonlySet<string> = new Set(["trouble while a day leaves", "archive harmed"]);

/** Faults that may strike a core with its own database. Its clock is the machine's, which is trusted at a start. */
export const localFaults: ReadonlySet<string> = new Set([
  ...["kill", "kill in the middle", "stop", "power cut", "suspend", "lying engine", "other prices configured"],
  ...["disk full", "disk fails to sync", "lying disk", "rotten journal", "old journal", "journal gone"],
  ...["many lots", "many price lists", ...nightlyFaults],
]);
