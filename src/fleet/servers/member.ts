import { BreakerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import type { Clock } from "../../../lib/time/clock.ts";
import type { ServerConfig } from "../../config/schema.ts";
import type { Engine, EngineLoad, EngineRequest } from "../../engines/interface.ts";
import { Breaker } from "../health/breaker.ts";
import type { FleetRequest } from "../interface.ts";
import { type Load, nothing } from "../sharing/news.ts";
import { FirstToken } from "./first-token.ts";
import { KvRoom } from "./kv-room.ts";
import { Machine, type Tenant } from "./machine.ts";

/**
 * Prompt tokens that a server has to read yet, from which on it gets no prompt that is new to it: that would wait in its
 * own queue, first come first served, where turns do nothing. Most of a second of a GPU's work, so that it never runs
 * dry: a quarter of it costs 1 % of the throughput, twice of it twice the wait of everybody behind a flood.
 */
const mostUnread = 16_384;

/** The part of a prompt up to which the rest of it counts as known to a server: it adds little to what is to be read. */
const newPart = 0.25;

/** The surroundings of a member. */
export interface MemberSettings {
  readonly clock: Clock;
  /** How long its breaker stays open, in milliseconds. */
  readonly openMs: number;
  /** Is told when the server may take work again. */
  readonly onFree: () => void;
  /** Where it runs. Absent: on a machine of its own. */
  readonly machine?: Machine;
}

/** One server of one model as the fleet sees it. */
export class Member implements Tenant {
  readonly id: string;
  /** The model that it serves, by our id. */
  readonly modelId: string;
  readonly engine: Engine;
  readonly config: ServerConfig;
  /** The model under the server's own name. */
  readonly model: string;
  readonly breaker: Breaker;
  /** What it shares with the server's other models. */
  readonly machine: Machine;
  readonly kv: KvRoom;
  /** How long it takes to a first token. */
  readonly firstToken = new FirstToken();
  /** Its part of the model's requests, beside those of members with other weights. */
  weight: number;
  /** Its number in the tables of prefix routing. Undefined: it is in none. */
  slot: number | undefined;
  draining = false;
  healthy = true;
  lastError = "";
  /** Is told of every failure that a request met here and that tells something about the server. */
  onFailure: (error: unknown) => void = () => {};
  /** Requests of its model that it may run at once. */
  readonly capacity: number;
  readonly #clock: Clock;
  readonly #onFree: () => void;
  // Its own load in fields, which every choice reads of every server: an object would be new with each request.
  #inFlight = 0;
  #unreadTokens = 0;
  #tokensInFlight = 0;
  #elsewhere: Load = nothing;
  #retired = false;
  #closing: Promise<void> | undefined;

  constructor(id: string, modelId: string, config: ServerConfig, engine: Engine, settings: MemberSettings) {
    this.id = id;
    this.modelId = modelId;
    this.config = config;
    this.capacity = config.capacity;
    this.engine = engine;
    this.model = config.model ?? modelId;
    this.weight = config.weight;
    this.machine = settings.machine ?? new Machine();
    this.kv = new KvRoom(config.kv_tokens, this.machine);
    this.breaker = new Breaker(settings.clock, settings.openMs, () => this.freed());
    this.#clock = settings.clock;
    this.#onFree = settings.onFree;
    this.machine.join(this);
  }

  /** Whether it is fit for work, be it full or not. */
  get fit(): boolean {
    return this.healthy && !this.draining && this.breaker.state !== BreakerState.OPEN;
  }

  /** Whether it can take a request now. */
  get available(): boolean {
    const { keptFor, isPaused } = this.machine;
    const isOpen = this.healthy && !this.draining && !isPaused && this.breaker.allows;
    return isOpen && this.freePlaces > 0 && (keptFor === undefined || keptFor === this);
  }

  /** Requests that it may take beside those that run: as its own capacity and that of all models on its machine allow. */
  get freePlaces(): number {
    const { machine } = this;
    return Math.min(this.capacity - this.#inFlight - this.#elsewhere.inFlight, machine.capacity - machine.known);
  }

  /** Whether it has as much to read as it should: it gets nothing that is new to it. */
  get isBacklogged(): boolean {
    return this.unread >= mostUnread;
  }

  /** Whether it would soon read a prompt of which so many tokens are not in its cache. */
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

  /** Prompt tokens of theirs that it has yet to read, roughly. */
  get unreadTokens(): number {
    return this.#unreadTokens;
  }

  set unreadTokens(unreadTokens: number) {
    this.#add(0, unreadTokens - this.#unreadTokens, 0);
  }

  /** Tokens of their prompts and answers, roughly: what they take of its KV cache. */
  get tokensInFlight(): number {
    return this.#tokensInFlight;
  }

  set tokensInFlight(tokensInFlight: number) {
    this.#add(0, 0, tokensInFlight - this.#tokensInFlight);
  }

  /** What other cores have on it of its model, as far as they are heard. */
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

  /** Prompt tokens that the server has yet to read, of all its models. */
  get unread(): number {
    return this.machine.unread;
  }

  /** Requests that run or wait on the server, of all its models. */
  get running(): number {
    return this.machine.running;
  }

  /** The server's load at the last poll. Undefined: it told none. */
  get load(): EngineLoad | undefined {
    return this.machine.load;
  }

  set load(load: EngineLoad | undefined) {
    this.machine.load = load;
  }

  /** Something on the server has become free: those who wait for any of its models may have it. */
  freed(): void {
    this.machine.freed(this);
  }

  pump(): void {
    this.#onFree();
  }

  /** The server said that it is full: no work for a while. */
  full(forMs: number): void {
    this.machine.pause();
    this.#clock.after(forMs, () => {
      this.machine.resume();
      this.freed();
    });
  }

  /** A request begins on it: its tokens, and those of its prompt that are not in the cache. */
  enter(tokens: number, unread: number): void {
    this.#add(1, unread, tokens);
    this.breaker.enter();
  }

  /** A request with so many tokens has left it. */
  leave(tokens: number): void {
    this.#add(-1, 0, -tokens);
    this.breaker.leave();
    this.#closeIfDone();
  }

  /** It gets no more requests, and closes when the last one has left. */
  retire(): void {
    this.#retired = true;
    this.machine.leave(this);
    this.#closeIfDone();
  }

  get closed(): boolean {
    return this.#closing !== undefined;
  }

  /** Closes its adapter, whatever runs on it. */
  close(): Promise<void> {
    this.breaker.close();
    this.machine.leave(this);
    this.#closing ??= this.engine.close();
    return this.#closing;
  }

  #add(requests: number, unread: number, tokens: number): void {
    this.#inFlight += requests;
    this.#unreadTokens += unread;
    this.#tokensInFlight += tokens;
    this.machine.add(requests, unread, tokens);
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
