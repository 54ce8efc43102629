import type { Region } from "./bank/region.ts";
import type { LinkFaults } from "./wan.ts";
import type { World } from "./world.ts";

const second = 1000;

/** A fault that can strike a world. */
export interface Fault {
  readonly name: string;
  /** How often it strikes, relative to others. */
  readonly weight: number;
  strike(world: World): void;
}

/** Degrades the link to a region for a while. */
function badLink({ dice, timeline, wan, regions, history }: World, how: Partial<LinkFaults>, ms: number): void {
  const { name } = dice.pick(regions);
  const link = wan.link(name);
  history.fault(`the way to ${name}: ${JSON.stringify(how)} for ${Math.round(ms)} ms`);
  Object.assign(link, how);
  timeline.after(ms, () => {
    for (const key of Object.keys(how)) {
      Object.assign(link, { [key]: key === "isDown" ? false : 0 });
    }
  });
}

/** Restarts a region after a while, mostly soon. */
function startLater({ dice, timeline, history }: World, region: Region): void {
  const ms = dice.chance(0.7) ? dice.exponential(5 * second) : dice.between(20, 200) * second;
  timeline.after(ms, () => {
    history.note(`${region.name} may start`);
    region.start();
  });
}

function startHomeLater(world: World, ms: number): void {
  world.timeline.after(ms, () => world.startHome());
}

/** Makes a region's monotonic clock jump. */
function jump({ history }: World, { process, name }: Region, ms: number): void {
  if (process?.alive) {
    process.jumpedMs += ms;
    history.fault(`${name}'s monotonic clock jumps by ${ms} ms`);
  }
}

const rates = [0, 0.005, 0.05, 0.3];

export const faults: readonly Fault[] = [
  {
    name: "lost messages",
    weight: 4,
    strike: (world) => badLink(world, { lost: world.dice.pick(rates) }, world.dice.exponential(20 * second)),
  },
  {
    name: "doubled messages",
    weight: 4,
    strike: (world) => badLink(world, { doubled: world.dice.pick(rates) }, world.dice.exponential(20 * second)),
  },
  {
    name: "late messages",
    weight: 4,
    strike: (world) => badLink(world, { late: world.dice.pick(rates) }, world.dice.exponential(20 * second)),
  },
  {
    name: "overtaking messages",
    weight: 4,
    strike: (world) => badLink(world, { slow: world.dice.pick(rates) }, world.dice.exponential(20 * second)),
  },
  {
    name: "cut off",
    weight: 3,
    strike: (world) =>
      badLink(
        world,
        { isDown: true },
        world.dice.chance(0.5) ? world.dice.exponential(5 * second) : world.dice.between(20, 240) * second,
      ),
  },
  {
    name: "home away",
    weight: 1,
    strike(world) {
      const { dice, history } = world;
      history.fault("the home shard is away");
      world.stopHome();
      startHomeLater(world, dice.chance(0.7) ? dice.exponential(5 * second) : dice.between(20, 120) * second);
    },
  },
  {
    name: "home failover",
    weight: 2,
    strike(world) {
      const { dice, timeline, history } = world;
      if (world.home === undefined) {
        return;
      }
      const past = structuredClone(world.homeState);
      timeline.after(dice.exponential(dice.pick([0.1, 1, 5]) * second), () => {
        if (world.homeState.generation === past.generation) {
          history.fault("the home shard fails over into the past");
          world.failOver(past);
        }
      });
    },
  },
  {
    name: "home suspended",
    weight: 1,
    strike({ dice, history, home }) {
      const ms = dice.exponential(10 * second);
      history.fault(`the home shard is suspended for ${Math.round(ms)} ms`);
      home?.process.suspend(ms);
    },
  },
  {
    name: "region killed",
    weight: 3,
    strike(world) {
      const region = world.dice.pick(world.regions);
      world.history.fault(`${region.name} is killed`);
      world.kill(region, { keepsJournal: true });
      startLater(world, region);
    },
  },
  {
    name: "region killed, journals gone",
    weight: 1,
    strike(world) {
      const region = world.dice.pick(world.regions);
      world.history.fault(`${region.name} is killed, and its journals are gone`);
      world.kill(region, { keepsJournal: false });
      startLater(world, region);
    },
  },
  {
    name: "region destroyed",
    weight: 0.3,
    strike(world) {
      const region = world.dice.pick(world.regions);
      world.history.fault(`${region.name} is killed, and its store is gone`);
      world.destroy(region);
      startLater(world, region);
    },
  },
  {
    name: "region suspended",
    weight: 2,
    strike({ dice, regions, history, truth }) {
      const region = dice.pick(regions);
      const ms = dice.chance(0.5) ? dice.exponential(3 * second) : dice.between(20, 100) * second;
      history.fault(`${region.name} is suspended for ${Math.round(ms)} ms`);
      region.process?.suspend(ms);
      truth.suspended.add(region.name);
    },
  },
  {
    name: "clock drift",
    weight: 1,
    strike(world) {
      const { dice, regions, history } = world;
      const region = dice.pick(regions);
      world.kill(region, { keepsJournal: true });
      region.rate = dice.pick([0.92, 0.96, 1.04, 1.08]);
      history.fault(`${region.name} is killed, and starts on clocks that go at ${region.rate}`);
      startLater(world, region);
    },
  },
  {
    name: "clock jump",
    weight: 1,
    strike(world) {
      const region = world.dice.pick(world.regions);
      const isRare = world.timeline.now - (world.jumpedAt.get(region.name) ?? 0) > 120 * second;
      if (isRare) {
        world.jumpedAt.set(region.name, world.timeline.now);
        jump(world, region, world.dice.between(-400, 400));
      }
    },
  },
  {
    name: "clock beyond its promise",
    weight: 0.5,
    strike(world) {
      const region = world.dice.pick(world.regions);
      if (!world.truth.untimed.has(region.name)) {
        world.truth.untimed.add(region.name);
        jump(world, region, -world.dice.between(3, 60) * second);
      }
    },
  },
];
