import type { Load } from "./news.ts";

/** The fleet of this core: what may be told of it, and what it is told of other cores. */
export interface SharedFleet {
  /** This core's load on each server, by the server's name on all cores. */
  loads(): Iterable<readonly [server: string, load: Load]>;
  /** The servers that get no work of this core for now. */
  avoided(): Iterable<string>;
  /** The servers with which this core has trouble now, by their names on all cores. */
  troubles(): Iterable<string>;
  /** Takes the load of all other cores together on a server. Returns whether there is more room on it than before. */
  loadElsewhere(server: string, load: Load): boolean;
  /** Other cores have made room on a server: requests of this one that wait may have it now. */
  freedElsewhere(server: string): void;
  /** Another core has sent a prompt to a server. */
  promptElsewhere(server: string, hashes: Int32Array, ends: Int32Array): void;
  /** Another core has trouble with a server. */
  troubleElsewhere(server: string): void;
  /** The core has got in touch with the others, or lost touch. */
  touchChanged(isInTouch: boolean): void;
}
