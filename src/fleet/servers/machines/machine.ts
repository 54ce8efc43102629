import type { EngineLoad } from "../../engines/interface.ts";
import { believableLoad } from "../../health/believable-load.ts";

/** A model on a machine. */
export interface Tenant {
  /** The most requests of the model that the machine may run at once. */
  readonly capacity: number;
  /** Tokens that the model's requests take in the KV cache. */
  readonly ownTokens: number;
  /** Gives free places to requests that wait for the model. */
  pump(): void;
}

/**
 * One inference server with all models that it serves. LoRA adapters and models behind one address share its places,
 * its KV cache and its compute time.
 */
export class Machine {
  /** Replaced by a new array at each change. */
  #tenants: Tenant[] = [];
  /** The largest capacity of its models. They share these places, each model up to its own capacity. */
  capacity = 0;
  /** Requests on the machine that this core knows of: its own and those of other cores. */
  known = 0;
  /** Prompt tokens of those requests that the machine has yet to read. */
  unread = 0;
  /** Tokens of those requests' prompts and answers, estimated. */
  knownTokens = 0;
  /** The model whose next request waits for room: models that come after it leave that free. Undefined: none waits so. */
  keptFor: Tenant | undefined;
  #load: EngineLoad | undefined;
  #foreign = 0;
  #foreignTokens = 0;
  #pauses = 0;

  /** True when no model is left on the machine. */
  get isEmpty(): boolean {
    return this.#tenants.length === 0;
  }

  /** Whether a pause that the server asked for is still running. */
  get isPaused(): boolean {
    return this.#pauses > 0;
  }

  /** Requests that run or wait on the machine: the known ones now, and unknown ones as of the last poll. */
  get running(): number {
    return this.known + this.#foreign;
  }

  /** Tokens taken in its KV cache, by known and unknown requests. */
  get tokens(): number {
    return this.knownTokens + this.#foreignTokens;
  }

  /** The load at the last poll. Undefined: the server reported none. */
  get load(): EngineLoad | undefined {
    return this.#load;
  }

  set load(load: EngineLoad | undefined) {
    this.#load = load && believableLoad(load);
    const { running = 0, waiting = 0, kvUsage = 0, kvTokens = 0 } = this.#load ?? {};
    this.#foreign = Math.max(0, running + waiting - this.known);
    this.#foreignTokens = Math.max(0, kvUsage * kvTokens - this.knownTokens);
  }

  join(tenant: Tenant): void {
    this.#tenants = [...this.#tenants, tenant];
    this.#findCapacity();
  }

  leave(tenant: Tenant): void {
    this.#tenants = this.#tenants.filter((one) => one !== tenant);
    this.#findCapacity();
  }

  /** Adds to a model's requests, prompt tokens to be read and tokens in the KV cache. Negative numbers subtract. */
  add(requests: number, unread: number, tokens: number): void {
    this.known += requests;
    this.unread += unread;
    this.knownTokens += tokens;
  }

  /** Begins a pause. `resume` ends it. */
  pause(): void {
    this.#pauses++;
  }

  resume(): void {
    this.#pauses--;
  }

  /**
   * Offers what became free to the machine's models, first to the one that takes the fewest tokens: a model for which room
   * is kept does not come before those that have less.
   */
  freed(by: Tenant): void {
    const tenants = this.#tenants;
    this.keptFor = undefined;
    if (tenants.length > 1) {
      sortByTokens(tenants);
    }
    for (const tenant of tenants) {
      tenant.pump();
    }
    if (!tenants.includes(by)) {
      by.pump();
    }
  }

  /** A model keeps no room any more: offers it to the other ones. */
  unkept(by: Tenant): void {
    const others = this.#tenants.filter((tenant) => tenant !== by);
    for (const tenant of others.toSorted((one, other) => one.ownTokens - other.ownTokens)) {
      tenant.pump();
    }
  }

  #findCapacity(): void {
    this.capacity = this.#tenants.reduce((most, { capacity }) => Math.max(most, capacity), 0);
  }
}

/** Sorts by tokens, the fewest first. In place by insertion, since the previous order is nearly right. */
function sortByTokens(tenants: Tenant[]): void {
  for (let at = 1; at < tenants.length; at++) {
    const tenant = tenants[at] as Tenant;
    const tokens = tenant.ownTokens;
    let to = at;
    for (; to > 0 && (tenants[to - 1] as Tenant).ownTokens > tokens; to--) {
      tenants[to] = tenants[to - 1] as Tenant;
    }
    tenants[to] = tenant;
  }
}
