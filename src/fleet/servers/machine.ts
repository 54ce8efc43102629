import type { EngineLoad } from "../../engines/interface.ts";
import { believableLoad } from "../health/believable-load.ts";

/** A model on the machine. */
export interface Tenant {
  /** Requests of the model that the machine may run at once. */
  readonly capacity: number;
  /** Tokens of its KV cache that are taken by requests of the model. */
  readonly ownTokens: number;
  /** Gives free places to requests that wait for the model. */
  pump(): void;
}

/**
 * One inference server, whatever models it serves: LoRA adapters and models behind one address share its places, its KV
 * cache and its time.
 */
export class Machine {
  /** Another array after each change. */
  #tenants: Tenant[] = [];
  /** The largest capacity of its models: they share the places, each at most its own capacity. */
  capacity = 0;
  /** Requests on it of which this core knows: its own and those of other cores. */
  known = 0;
  /** Prompt tokens of those requests that it has yet to read. */
  unread = 0;
  /** Tokens of those requests' prompts and answers, roughly. */
  knownTokens = 0;
  /** The model whose next request waits for room that the others leave it. Undefined: none does. */
  keptFor: Tenant | undefined;
  #load: EngineLoad | undefined;
  #foreign = 0;
  #foreignTokens = 0;
  #pauses = 0;

  /** Whether no model is left on it. */
  get isEmpty(): boolean {
    return this.#tenants.length === 0;
  }

  /** Whether it has asked for a pause that is not over. */
  get isPaused(): boolean {
    return this.#pauses > 0;
  }

  /** Requests that run or wait on it: those that are known now, and those of others at the last poll. */
  get running(): number {
    return this.known + this.#foreign;
  }

  /** Tokens of its KV cache that are taken, ours or others'. */
  get tokens(): number {
    return this.knownTokens + this.#foreignTokens;
  }

  /** Its load at the last poll. Undefined: it told none. */
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

  /** One of its models has so many requests more, prompt tokens to read, and tokens in the KV cache; fewer below 0. */
  add(requests: number, unread: number, tokens: number): void {
    this.known += requests;
    this.unread += unread;
    this.knownTokens += tokens;
  }

  /** A pause begins, which `resume` ends. */
  pause(): void {
    this.#pauses++;
  }

  resume(): void {
    this.#pauses--;
  }

  /** Something has become free on it: its models may take it in turn, those first that take least of it. */
  freed(by: Tenant): void {
    const tenants = this.#tenants;
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

  #findCapacity(): void {
    this.capacity = this.#tenants.reduce((most, { capacity }) => Math.max(most, capacity), 0);
  }
}

/** Those that take least first. In place, since the order is nearly right: it is that of the last time. */
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
