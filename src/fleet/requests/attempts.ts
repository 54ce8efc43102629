import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { FleetConfig } from "#src/config/schema.ts";
import { describe, fullForMs, isServersFault, isTransient, withRetryDelay } from "../health/failures.ts";
import type { FleetObserver, FleetRequest, Turn } from "../interface.ts";
import type { RoutingRequest } from "../servers/choice/policy.ts";
import type { Member } from "../servers/member.ts";
import type { Place } from "../servers/place.ts";
import type { Pool } from "../servers/pool.ts";
import type { Wish } from "../servers/wish.ts";

/** A request is tried on at most three servers: a second and a third only after a failure. */
const maxAttempts = 3;

export interface Dependencies {
  readonly config: FleetConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: FleetObserver;
}

/** Shared by all requests that no server has failed. */
const noneFailed: ReadonlySet<Member> = new Set();

/** The request that is tried. */
type Attempted = Pick<FleetRequest, "requestId" | "runId" | keyof Turn>;

/** The tries of one request. Each try runs on another server. */
export class Attempts {
  readonly #pool: Pool;
  readonly #route: RoutingRequest;
  readonly #request: Attempted;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #observer: FleetObserver;
  readonly #since: number;
  readonly #promises: FleetConfig["first_token_promise_s"];
  readonly #deadline: number;
  readonly #retryMs: number;
  #failed = noneFailed;
  #count = 0;

  constructor(
    pool: Pool,
    route: RoutingRequest,
    request: Attempted,
    { clock, config, logger, observer }: Dependencies,
  ) {
    this.#pool = pool;
    this.#route = route;
    this.#request = request;
    this.#logger = logger;
    this.#clock = clock;
    this.#observer = observer;
    this.#since = clock.monotonic();
    this.#promises = config.first_token_promise_s;
    this.#deadline = this.#since + config.queue_timeout_s * 1000;
    this.#retryMs = config.health_interval_s * 1000; // the health check has looked at the server again by then
  }

  /** Takes a place on a server. */
  begin(signal: AbortSignal): Place | Promise<Place> {
    this.#count++;
    const key = this.#request.accountId ?? "";
    const { serviceClass, turnWeight } = this.#request;
    const wish = { route: this.#route, key, serviceClass, turnWeight, failed: this.#failed, ...this.#times() };
    const place = this.#pool.acquire(wish, signal);
    return place instanceof Promise ? this.#watched(place) : place;
  }

  /** When the request stops waiting. A first try also stops when its class's promised first token is out of reach. */
  #times(): Pick<Wish, "deadline" | "promisedBy" | "onShed"> {
    const serviceClass = this.#request.serviceClass ?? "standard";
    const promise = this.#promises?.[serviceClass];
    if (promise === undefined || this.#count > 1 || this.#route.request === undefined) {
      return { deadline: this.#deadline };
    }
    const promisedBy = this.#since + promise * 1000;
    const onShed = () => this.#observer.shed(this.#pool.modelId, serviceClass);
    return { deadline: Math.min(this.#deadline, promisedBy), promisedBy, onShed };
  }

  /** Records what a failed try says about its server. A try that the caller aborted says nothing. */
  failed(member: Member, error: unknown, signal: AbortSignal): void {
    if (signal.aborted) {
      return;
    }
    const fullFor = fullForMs(error);
    if (fullFor !== undefined) {
      member.full(fullFor);
    }
    if (isServersFault(error)) {
      this.#failed = new Set([...this.#failed, member]);
      member.breaker.failed();
      member.onFailure(error);
    }
    if (fullFor === undefined && !isServersFault(error)) {
      return;
    }
    member.lastError = describe(error);
    this.#observer.failed(member.id, this.#pool.modelId);
    this.#logger.warn(
      { server: member.id, requestId: this.#request.requestId, runId: this.#request.runId, error: member.lastError },
      "server failed a request",
    );
  }

  /** The error for the caller when no further server is tried. Carries a retry delay where a retry may succeed. */
  told(error: unknown): unknown {
    return withRetryDelay(error, this.#retryMs);
  }

  /** Records that a server reported something impossible. */
  doubted(member: Member, what: string): void {
    const { requestId: request, runId: run } = this.#request;
    distrust(member, what, { request, run }, { observer: this.#observer, logger: this.#logger });
  }

  /** Whether to try another server, or the same server after the pause that it asked for. */
  mayRetry(error: unknown): boolean {
    if (this.#count >= maxAttempts || !isTransient(error)) {
      return false;
    }
    return this.#pool.members.some((member) => member.fit && !this.#failed.has(member));
  }

  /** Reports to the observer how long the request waited for a place. */
  #watched(place: Promise<Place>): Promise<Place> {
    const since = this.#clock.monotonic();
    return place.finally(() => this.#observer.waited(this.#pool.modelId, this.#clock.monotonic() - since));
  }

  /** The place's server has begun to answer. */
  began(place: Place): void {
    place.member.breaker.succeeded();
    this.#pool.began(place);
    const { member, expectedMs, firstTokenMs = 0 } = place;
    this.#observer.firstToken(member.id, member.modelId, firstTokenMs, expectedMs);
  }

  /** Gives the place back. */
  end(place: Place): void {
    this.#pool.release(place);
  }
}

/** Takes a server out of use until a trial succeeds, and raises the alarm. */
export function distrust(
  member: Member,
  what: string,
  about: { readonly request?: string; readonly run?: string },
  { observer, logger }: Pick<Dependencies, "observer" | "logger">,
): void {
  member.breaker.distrust();
  member.lastError = what;
  observer.implausible(member.id, member.modelId);
  logger.error({ server: member.id, ...about, error: what }, "server said what cannot be true");
}
