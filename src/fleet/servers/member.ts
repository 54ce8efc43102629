import { BreakerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import type { Clock } from "#lib/time/clock.ts";
import type { ServerConfig } from "#src/config/schema.ts";
import type { Engine, EngineLoad, EngineRequest } from "../engines/interface.ts";
import { Breaker } from "../health/breaker.ts";
import type { FleetRequest } from "../interface.ts";
import { type Load, nothing } from "../sharing/news.ts";
import { FirstToken } from "./estimates/first-token.ts";
import { KvRoom } from "./machines/kv-room.ts";
import { Machine, type Tenant } from "./machines/machine.ts";

/**
 * A server with this many unread prompt tokens gets no prompt that is new to it: the prompt would wait in the server's
 * own queue, first come first served, where turns have no effect. The number is most of a second of a GPU's work, so
 * that the GPU never idles. A quarter of it costs 1 % of the throughput; twice as much doubles everybody's wait behind
 * a flood.
 */
const mostUnread = 16_384;

/** A prompt counts as known to a server when less than this part of it is uncached: it adds little to read. */
const newPart = 0.25;

interface Dependencies {
  readonly clock: Clock;
  /** How long the breaker stays open, in milliseconds. */
  readonly openMs: number;
  /** Called when the server may take work again. */
  readonly onFree: () => void;
  /** The machine on which the server runs. Absent: a machine of its own. */
  readonly machine?: Machine;
}

/** One server of one model as the fleet sees it. */
export class Member implements Tenant {
  readonly id: string;
  /** The model that it serves, by our id. */
  readonly modelId: string;
  readonly engine: Engine;
  readonly config: ServerConfig;
  /** The model by the server's own name. */
  readonly model: string;
  readonly breaker: Breaker;
  /** What the server's models share. */
  readonly machine: Machine;
  readonly kv: KvRoom;
  /** The learned time to a first token. */
  readonly firstToken = new FirstToken();
  /** Its share of the model's requests, relative to members with other weights. */
  weight: number;
  /** Its index in the tables of prefix routing. Undefined: it is in none. */
  slot: number | undefined;
  draining = false;
  healthy = true;
  lastError = "";
  /** Called with every failure of a request here that says something about the server. */
  onFailure: (error: unknown) => void = () => {};
  /** The most requests of its model that it may run at once. */
  readonly capacity: number;
  readonly #clock: Clock;
  readonly #onFree: () => void;
  // This core's load in plain fields, since every choice reads them of every server: an object would be new with each
  // request.
  #inFlight = 0;
  #unreadTokens = 0;
  #tokensInFlight = 0;
  #elsewhere: Load = nothing;
  #retired = false;
  #closing: Promise<void> | undefined;

  constructor(id: string, modelId: string, config: ServerConfig, engine: Engine, parts: Dependencies) {
    this.id = id;
    this.modelId = modelId;
    this.config = config;
    this.capacity = config.capacity;
    this.engine = engine;
    this.model = config.model ?? modelId;
    this.weight = config.weight;
    this.machine = parts.machine ?? new Machine();
    this.kv = new KvRoom(config.kv_tokens, this.machine);
    this.breaker = new Breaker(parts.clock, parts.openMs, () => this.freed());
    this.#clock = parts.clock;
    this.#onFree = parts.onFree;
    this.machine.join(this);
  }

  /** Whether it is fit for work, full or not. */
  get fit(): boolean {
    return this.healthy && !this.draining && this.breaker.state !== BreakerState.OPEN;
  }

  /** Whether it failed its checks, or requests. One that was not checked yet may be up. */
  get isDown(): boolean {
    return (!this.healthy && this.lastError !== "") || this.breaker.state === BreakerState.OPEN;
  }

  /** Whether it can take a request now. */
  get available(): boolean {
    const { keptFor, isPaused } = this.machine;
    const isOpen = this.healthy && !this.draining && !isPaused && this.breaker.allows;
    return isOpen && this.freePlaces > 0 && (keptFor === undefined || keptFor === this);
  }

  /** How many more requests it may take, within its own capacity and that of all models on its machine. */
  get freePlaces(): number {
    const { machine } = this;
    return Math.min(this.capacity - this.#inFlight - this.#elsewhere.inFlight, machine.capacity - machine.known);
  }

  /** Whether it has as much to read as it should: it gets no prompt that is new to it. */
  get isBacklogged(): boolean {
    return this.unread >= mostUnread;
  }

  /** Whether it would soon read a prompt of which `uncached` tokens are not in its cache. */
  reads(uncached: number, prompt: number): boolean {
    return !this.isBacklogged || uncached < prompt * newPart;
  }

  /** Requests of its model that run on it for this core. */
  get inFlight(): number {
    return this.#inFlight;
  }

  set inFlight(inFlight: number) {
    this.#add(inFlight - this.#inFlight, 0, 0);
  }

  /** Prompt tokens of those requests that it has yet to read, estimated. */
  get unreadTokens(): number {
    return this.#unreadTokens;
  }

  set unreadTokens(unreadTokens: number) {
    this.#add(0, unreadTokens - this.#unreadTokens, 0);
  }

  /** Tokens of those requests' prompts and answers, estimated: what they take in its KV cache. */
  get tokensInFlight(): number {
    return this.#tokensInFlight;
  }

  set tokensInFlight(tokensInFlight: number) {
    this.#add(0, 0, tokensInFlight - this.#tokensInFlight);
  }

  /** The load of its model from other cores, as far as their messages arrive. */
  get elsewhere(): Load {
    return this.#elsewhere;
  }

  set elsewhere(load: Load) {
    const { inFlight, unreadTokens, tokensInFlight } = this.#elsewhere;
    this.machine.add(load.inFlight - inFlight, load.unreadTokens - unreadTokens, load.tokensInFlight - tokensInFlight);
    this.#elsewhere = load;
  }

  get ownTokens(): number {
    return this.#tokensInFlight + this.#elsewhere.tokensInFlight;
  }

  /** Prompt tokens that the server has yet to read, for all its models. */
  get unread(): number {
    return this.machine.unread;
  }

  /** Requests that run or wait on the server, for all its models. */
  get running(): number {
    return this.machine.running;
  }

  /** The server's load at the last poll. Undefined: the server reported none. */
  get load(): EngineLoad | undefined {
    return this.machine.load;
  }

  set load(load: EngineLoad | undefined) {
    this.machine.load = load;
  }

  /** Something became free on the server: requests that wait for any of its models may have it. */
  freed(): void {
    this.machine.freed(this);
  }

  pump(): void {
    this.#onFree();
  }

  /** The server said that it is full: it gets no work for a while. */
  full(forMs: number): void {
    this.machine.pause();
    this.#clock.after(forMs, () => {
      this.machine.resume();
      this.freed();
    });
  }

  /**
   * A request begins on it: `tokens` in all, of which `unread` are prompt tokens that are not in the cache. Returns the number of
   * the breaker's trial that it is.
   */
  enter(tokens: number, unread: number): number {
    this.#add(1, unread, tokens);
    return this.breaker.enter();
  }

  /** A request of this many tokens has left it. `trial`: as `enter` returned it. */
  leave(tokens: number, trial: number): void {
    this.#add(-1, 0, -tokens);
    this.breaker.leave(trial);
    this.#closeIfDone();
  }

  /** Takes no more requests, and closes when the last one has left. */
  retire(): void {
    this.#retired = true;
    this.#leaveMachine();
    this.#closeIfDone();
  }

  get closed(): boolean {
    return this.#closing !== undefined;
  }

  /** Closes its adapter, even while requests run on it. */
  close(): Promise<void> {
    this.breaker.close();
    this.#leaveMachine();
    this.#closing ??= this.engine.close();
    return this.#closing;
  }

  #add(requests: number, unread: number, tokens: number): void {
    this.#inFlight += requests;
    this.#unreadTokens += unread;
    this.#tokensInFlight += tokens;
    this.machine.add(requests, unread, tokens);
  }

  /** Others' load is counted by the member that takes its place, its own until its requests have ended. */
  #leaveMachine(): void {
    this.elsewhere = nothing;
    this.machine.leave(this);
  }

  #closeIfDone(): void {
    if (this.#retired && this.inFlight === 0) {
      void this.close();
    }
  }

  /** A request in the server's own terms. */
  toRequest(request: FleetRequest): EngineRequest {
    return {
      ...request,
      model: this.model,
      ...(this.config.priorities && { priority: request.serviceClass ?? "standard" }),
    };
  }
}
