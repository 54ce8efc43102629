import type { Running, Surroundings } from "../systems/interface.ts";

/** Another gateway, which this benchmark knows how to install, to start and to reach. */
export interface Peer {
  readonly name: string;
  readonly version: string;
  /** What it does beside passing on, in a few words for the table. */
  readonly does: string;
  /** Fetches and builds it in an empty folder of its own. Throws when the machine lacks what that needs. */
  install(folder: string): Promise<void>;
  /** Starts what was installed in the folder. */
  start(folder: string, surroundings: Surroundings): Promise<Running>;
}
