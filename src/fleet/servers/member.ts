import { BreakerState, type Server, ServerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import type { Clock } from "../../../lib/time/clock.ts";
import type { Routing, ServerConfig } from "../../config/schema.ts";
import type { Engine, EngineLoad } from "../../engines/interface.ts";
import { believableLoad } from "../health/believable-load.ts";
import { Breaker } from "../health/breaker.ts";

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
  draining = false;
  healthy = true;
  lastError = "";
  /** Is told of every failure that a request met here and that tells something about the server. */
  onFailure: (error: unknown) => void = () => {};
  readonly #clock: Clock;
  readonly #onFree: () => void;
  #load: EngineLoad | undefined;
  /** Requests of others that it had at the last poll. */
  #foreign = 0;
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
      this.healthy &&
      !this.draining &&
      this.inFlight < this.config.capacity &&
      this.#pauses === 0 &&
      this.breaker.allows
    );
  }

  /** Requests that run or wait on it: ours now, and those of others at the last poll. */
  get running(): number {
    return this.inFlight + this.#foreign;
  }

  /** Its load at the last poll. Undefined: it told none. */
  get load(): EngineLoad | undefined {
    return this.#load;
  }

  set load(load: EngineLoad | undefined) {
    this.#load = load && believableLoad(load);
    this.#foreign = Math.max(0, (this.#load?.running ?? 0) + (this.#load?.waiting ?? 0) - this.inFlight);
  }

  /** It said that it is full: no work for a while. */
  full(forMs: number): void {
    this.#pauses++;
    this.#clock.after(forMs, () => {
      this.#pauses--;
      this.#onFree();
    });
  }

  /** A request has left it. */
  leave(): void {
    this.inFlight--;
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
