import type { Machine } from "../cores/machine.ts";
import type { Excuse, World } from "../world.ts";

/** Kills everything that runs on a machine's disk, changes the disk, and starts again. */
export function harmDisk(world: World, machine: Machine, why: Excuse, harm: () => void, meanMs: number): void {
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
