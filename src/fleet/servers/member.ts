import { BreakerState, type Server, ServerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import { parseUsd } from "../../../lib/money.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import type { Routing, ServerConfig } from "../../config/schema.ts";
import type { Engine, EngineLoad } from "../../engines/interface.ts";
import { believableLoad } from "../health/believable-load.ts";
import { Breaker } from "../health/breaker.ts";
import type { Load } from "../sharing/news.ts";

/** The part of a KV cache that is filled: what answers grow by beyond what was expected needs the rest. */
const usableKv = 0.9;

/**
 * Prompt tokens that a server has to read yet, from which on it gets no prompt that is new to it: that would wait in its
 * own queue, first come first served, where turns do nothing. Most of a second of a GPU's work, so that it never runs
 * dry: a quarter of it costs 1 % of the throughput, twice of it twice the wait of everybody behind a flood.
 */
const mostUnread = 16_384;

/** The part of a prompt up to which the rest of it counts as known to a server: it adds little to what is to be read. */
const newPart = 0.25;

/** One server of one model as the fleet sees it. */
export class Member {
  readonly id: string;
  /** The model that it serves, by our id. */
  readonly modelId: string;
  readonly engine: Engine;
  readonly config: ServerConfig;
  /** The model under the server's own name. */
  readonly model: string;
  readonly breaker: Breaker;
  /** Requests that run on it for us. */
  inFlight = 0;
  /** Prompt tokens of theirs that it has yet to read, roughly. */
  unreadTokens = 0;
  /** Tokens of their prompts and answers, roughly: what they take of its KV cache. */
  tokensInFlight = 0;
  /** What other cores have on it, as far as they are heard. */
  elsewhere: Load = { inFlight: 0, unreadTokens: 0, tokensInFlight: 0 };
  draining = false;
  healthy = true;
  lastError = "";
  /** Is told of every failure that a request met here and that tells something about the server. */
  onFailure: (error: unknown) => void = () => {};
  readonly #clock: Clock;
  readonly #onFree: () => void;
  #load: EngineLoad | undefined;
  /** Requests of others that it had at the last poll, and the tokens of its KV cache that they took. */
  #foreign = 0;
  #foreignTokens = 0;
  /** Pauses that it asked for and that are not over. */
  #pauses = 0;
  #retired = false;
  #closing: Promise<void> | undefined;

  /** `onFree` is told when the server may take work again. */
  constructor(
    id: string,
    modelId: string,
    config: ServerConfig,
    engine: Engine,
    settings: { readonly clock: Clock; readonly openMs: number; readonly onFree: () => void },
  ) {
    this.id = id;
    this.modelId = modelId;
    this.config = config;
    this.engine = engine;
    this.model = config.model ?? modelId;
    this.breaker = new Breaker(settings.clock, settings.openMs, settings.onFree);
    this.#clock = settings.clock;
    this.#onFree = settings.onFree;
  }

  /** Whether it is fit for work, be it full or not. */
  get fit(): boolean {
    return this.healthy && !this.draining && this.breaker.state !== BreakerState.OPEN;
  }

  /** Whether it can take a request now. */
  get available(): boolean {
    return (
      this.healthy && !this.draining && this.known < this.config.capacity && this.#pauses === 0 && this.breaker.allows
    );
  }

  /** Tokens that its KV cache holds. Undefined: neither configured nor told. */
  get cacheTokens(): number | undefined {
    return this.config.kv_tokens ?? this.#load?.kvTokens;
  }

  /** Tokens of its KV cache that requests may take together. Undefined: its size is not known. */
  get room(): number | undefined {
    const tokens = this.cacheTokens;
    return tokens === undefined ? undefined : tokens * usableKv;
  }

  /** Tokens of that room that nobody takes, ours or others; below zero when answers grew beyond it. Undefined: it is not known. */
  get freeTokens(): number | undefined {
    return this.room === undefined ? undefined : this.room - this.knownTokens - this.#foreignTokens;
  }

  /** Whether its KV cache has room for so many tokens. A request that is larger than all of it waits until it is alone. */
  hasRoomFor(tokens: number): boolean {
    const { freeTokens } = this;
    return freeTokens === undefined || this.knownTokens === 0 || tokens <= freeTokens;
  }

  /** Whether it has as much to read as it should: it gets nothing that is new to it. */
  get isBacklogged(): boolean {
    return this.unread >= mostUnread;
  }

  /** Whether it would soon read a prompt of which so many tokens are not in its cache. */
  reads(uncached: number, prompt: number): boolean {
    return !this.isBacklogged || uncached < prompt * newPart;
  }

  /** Requests on it of which this core knows: its own and those of other cores. */
  get known(): number {
    return this.inFlight + this.elsewhere.inFlight;
  }

  /** Tokens of those requests. */
  get knownTokens(): number {
    return this.tokensInFlight + this.elsewhere.tokensInFlight;
  }

  /** Prompt tokens of theirs that it has yet to read. */
  get unread(): number {
    return this.unreadTokens + this.elsewhere.unreadTokens;
  }

  /** Requests that run or wait on it: those that are known now, and those of others at the last poll. */
  get running(): number {
    return this.known + this.#foreign;
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

  /** It said that it is full: no work for a while. */
  full(forMs: number): void {
    this.#pauses++;
    this.#clock.after(forMs, () => {
      this.#pauses--;
      this.#onFree();
    });
  }

  /** A request begins on it: its tokens, and those of its prompt that are not in the cache. */
  enter(tokens: number, unread: number): void {
    this.inFlight++;
    this.tokensInFlight += tokens;
    this.unreadTokens += unread;
    this.breaker.enter();
  }

  /** A request with so many tokens has left it. */
  leave(tokens: number): void {
    this.inFlight--;
    this.tokensInFlight -= tokens;
    this.breaker.leave();
    this.#closeIfDone();
  }

  /** It gets no more requests, and closes when the last one has left. */
  retire(): void {
    this.#retired = true;
    this.#closeIfDone();
  }

  get closed(): boolean {
    return this.#closing !== undefined;
  }

  /** Closes its adapter, whatever runs on it. */
  close(): Promise<void> {
    this.breaker.close();
    this.#closing ??= this.engine.close();
    return this.#closing;
  }

  #closeIfDone(): void {
    if (this.#retired && this.inFlight === 0) {
      void this.close();
    }
  }

  /** As the catalogue shows it, among the servers of a model that are chosen in this way. */
  toServer(routing: Routing): Server {
    const { running, waiting: queued, kvUsage, cacheHits, cacheQueries } = this.load ?? {};
    const cost = parseUsd(this.config.usd_per_hour ?? "");
    return {
      $typeName: "tollgate.catalogue.v1.Server",
      id: this.id,
      url: this.config.url,
      model: this.modelId,
      engine: this.config.engine,
      state: this.draining ? ServerState.DRAINING : this.healthy ? ServerState.HEALTHY : ServerState.UNHEALTHY,
      inFlight: this.inFlight,
      ...(running !== undefined && { running }),
      ...(queued !== undefined && { queued }),
      ...(kvUsage !== undefined && { kvUsage }),
      ...(cost !== undefined && { picoUsdPerHour: cost }),
      breaker: this.breaker.state,
      capacity: this.config.capacity,
      ...(cacheHits !== undefined && cacheQueries && { cacheHitRate: cacheHits / cacheQueries }),
      lastError: this.lastError,
      routing,
    };
  }
}

/**
 * A name for a server that stays the same as long as its address does: `10.0.0.5:8000/deepseek-v4`, and
 * `vllm:8000@10.0.0.5/deepseek-v4` for one of several addresses of a host.
 */
export function memberId({ url, address, model }: ServerConfig, modelId: string): string {
  const parsed = URL.parse(url);
  const place = parsed === null ? url : parsed.host || parsed.pathname.replace(/^\/+/, "");
  return `${place}${address === undefined ? "" : `@${address}`}/${model ?? modelId}`;
}
