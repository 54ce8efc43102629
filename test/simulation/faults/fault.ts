import type { World } from "../world.ts";

export const second = 1000;
export const hour = 3_600_000;
export const day = 86_400_000;

/** A fault that can strike a world. */
export interface Fault {
  readonly name: string;
  /** How often it strikes, relative to others. */
  readonly weight: number;
  /** True: it strikes only when requested by name: judges do not know yet whose journals nobody reads afterwards. */
  readonly isAsked?: true;
  strike(world: World): void;
}
