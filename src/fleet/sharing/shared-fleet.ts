import type { ServiceClass } from "#lib/limits/service-class.ts";
import type { Load } from "./news.ts";
import type { Head, VirtualTimes } from "./standing.ts";

/** A model's queue on this core in which somebody waits. */
export interface SharedQueue {
  readonly model: string;
  readonly head: Head;
  readonly times: VirtualTimes;
}

/**
 * The interface between sharing and this core's fleet: what the fleet tells other cores, and what it learns from them.
 */
export interface SharedFleet {
  /** This core's load on each server. A server's name is the same on all cores. */
  loads(): Iterable<readonly [server: string, load: Load]>;
  /** This core's queues in which somebody waits. A model's name is the same on all cores. */
  queues(): Iterable<SharedQueue>;
  /** The work that this core has running for accounts, at models for which anybody waits. */
  running(): Iterable<{ readonly model: string; readonly key: string; readonly running: number }>;
  /** The model in a name that all cores use: of a server, or of an account at a model. */
  modelOf(name: string): string;
  /** The servers that this core gives no work for now. */
  avoided(): Iterable<string>;
  /** The servers with which this core has trouble now, by the names that all cores use. */
  troubles(): Iterable<string>;
  /** Takes the total load of all other cores on a server. Returns whether the server has more room than before. */
  loadElsewhere(server: string, load: Load): boolean;
  /** Other cores have freed room on a server: this core's waiting requests may have it now. */
  freedElsewhere(server: string): void;
  /**
   * Another core has left a place on a server to this core, which may leave it to a third one if it `maySkip` its turn.
   * Returns false if no waiting request may use the server.
   */
  leftHere(server: string, maySkip: boolean): boolean;
  /** How far the turns of a model's queue are on another core. */
  timesElsewhere(model: string, times: VirtualTimes): void;
  /** Another core has served work to an account. */
  servedElsewhere(model: string, to: { readonly key: string; readonly serviceClass: ServiceClass }, work: number): void;
  /** Other cores have this work running for an account at a model. */
  runsElsewhere(account: string, work: number): void;
  /** Another core has sent a prompt to a server. */
  promptElsewhere(server: string, hashes: Int32Array, ends: Int32Array): void;
  /** Another core has trouble with a server. */
  troubleElsewhere(server: string): void;
  /** This core has gained or lost touch with the others. */
  touchChanged(isInTouch: boolean): void;
}
