import type { Load } from "./news.ts";

/**
 * The interface between sharing and this core's fleet: what the fleet tells other cores, and what it learns from them.
 */
export interface SharedFleet {
  /** This core's load on each server. A server's name is the same on all cores. */
  loads(): Iterable<readonly [server: string, load: Load]>;
  /** The servers that this core gives no work for now. */
  avoided(): Iterable<string>;
  /** The servers with which this core has trouble now, by the names that all cores use. */
  troubles(): Iterable<string>;
  /** Takes the total load of all other cores on a server. Returns whether the server has more room than before. */
  loadElsewhere(server: string, load: Load): boolean;
  /** Other cores have freed room on a server: this core's waiting requests may have it now. */
  freedElsewhere(server: string): void;
  /** Another core has sent a prompt to a server. */
  promptElsewhere(server: string, hashes: Int32Array, ends: Int32Array): void;
  /** Another core has trouble with a server. */
  troubleElsewhere(server: string): void;
  /** This core has gained or lost touch with the others. */
  touchChanged(isInTouch: boolean): void;
}
