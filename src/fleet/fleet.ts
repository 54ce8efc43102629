import type { Server } from "#gen/catalogue/v1/server_pb.js";
import { Reason } from "#gen/errors/v1/error_detail_pb.js";
import type { ServedModel } from "../catalogue/interface.ts";
import type { FleetConfig } from "../config/schema.ts";
import { type EngineEmbeddings, EngineFault, type EngineOutput } from "../engines/interface.ts";
import { failure } from "../errors.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/logger.ts";
import type { TraceContext } from "../runtime/trace-context.ts";
import { describe, fullForMs, isServersFault, isTransient } from "./failures.ts";
import type { Fleet, FleetChange, FleetObserver, FleetRequest } from "./interface.ts";
import type { Member } from "./member.ts";
import type { Place, Pool } from "./pool.ts";
import { estimateTokens } from "./prompt-size.ts";
import type { Roster } from "./roster.ts";
import type { Route } from "./routing/policy.ts";
import { unitVector } from "./unit-vectors.ts";
import { type TimeLimits, Watchdog } from "./watchdog.ts";

/** A request runs on one server, and on two more at most when that fails. */
const maxAttempts = 3;

/** Counting is quick, or not worth waiting for. */
const countTimeoutMs = 5000;

/** What a fleet consists of. */
export interface FleetParts {
  readonly roster: Roster;
  readonly config: FleetConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: FleetObserver;
}

/** The fleet of one process. */
export class PooledFleet implements Fleet {
  readonly #parts: FleetParts;
  readonly #limits: TimeLimits;

  constructor(parts: FleetParts) {
    this.#parts = parts;
    this.#limits = {
      firstOutput: parts.config.first_token_timeout_s * 1000,
      idle: parts.config.idle_timeout_s * 1000,
      total: parts.config.total_timeout_s * 1000,
    };
  }

  async *generate(model: ServedModel, request: FleetRequest, signal: AbortSignal): AsyncIterable<EngineOutput> {
    const route = { request, promptTokens: estimateTokens(request.prompt) };
    const attempts = new Attempts(this.#pool(model.id), route, request.accountId ?? "", this.#parts);
    for (;;) {
      const place = await attempts.begin(signal);
      const { member } = place;
      const watchdog = new Watchdog(this.#parts.clock, this.#limits, signal);
      let began = false;
      try {
        for await (const output of member.engine.generate({ ...request, model: member.model }, watchdog.signal)) {
          watchdog.arrived();
          if (!began) {
            began = true;
            place.began();
            member.breaker.succeeded();
          }
          yield output;
          watchdog.await();
        }
        return;
      } catch (error) {
        attempts.failed(member, error, signal);
        if (began || !attempts.mayRetry(error)) throw error;
      } finally {
        watchdog.close();
        attempts.end(place);
      }
    }
  }

  async embed(
    model: ServedModel,
    requestId: string,
    inputs: readonly string[],
    signal: AbortSignal,
    trace?: TraceContext,
  ): Promise<EngineEmbeddings> {
    const route = { request: undefined, promptTokens: 0 };
    const attempts = new Attempts(this.#pool(model.id), route, "", this.#parts);
    for (;;) {
      const place = await attempts.begin(signal);
      const { member } = place;
      const watchdog = new Watchdog(this.#parts.clock, { ...this.#limits, firstOutput: this.#limits.total }, signal);
      try {
        const answer = await member.engine.embed(
          { requestId, model: member.model, inputs, ...(trace && { trace }) },
          watchdog.signal,
        );
        const vectors = answer.vectors.map((vector) => this.#unit(vector, model, member));
        member.breaker.succeeded();
        return { ...answer, vectors };
      } catch (error) {
        attempts.failed(member, error, signal);
        if (!attempts.mayRetry(error)) throw error;
      } finally {
        watchdog.close();
        attempts.end(place);
      }
    }
  }

  async countTokens(
    model: ServedModel,
    request: Pick<FleetRequest, "prompt" | "thinking" | "recipe">,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const limits = { firstOutput: countTimeoutMs, idle: countTimeoutMs, total: countTimeoutMs };
    for (const member of this.#pool(model.id).members) {
      if (!member.fit) continue;
      const watchdog = new Watchdog(this.#parts.clock, limits, signal);
      try {
        const count = await member.engine.countTokens({ ...request, model: member.model }, watchdog.signal);
        if (count !== undefined) return count;
      } catch (error) {
        signal.throwIfAborted();
        if (!isTransient(error) && !isServersFault(error)) throw error;
        this.#parts.logger.warn({ server: member.id, error: describe(error) }, "server could not count tokens");
      } finally {
        watchdog.close();
      }
    }
    return undefined;
  }

  servers(): Server[] {
    return this.#members().map((member) => member.toServer());
  }

  drain(id: string): Server {
    const member = this.#member(id);
    member.draining = true;
    return member.toServer();
  }

  resume(id: string): Server {
    const member = this.#member(id);
    member.draining = false;
    for (const pool of this.#parts.roster.pools.values()) pool.pump();
    return member.toServer();
  }

  utilisation(modelId: string): number {
    const { members, waiting } = this.#pool(modelId);
    const fit = members.filter((member) => member.fit);
    const capacity = sum(fit.length > 0 ? fit : members, (member) => member.config.capacity);
    return (sum(members, (member) => member.inFlight) + waiting) / capacity;
  }

  waiting(modelId: string): number {
    return this.#pool(modelId).waiting;
  }

  prepare(models: readonly ServedModel[]): FleetChange {
    return this.#parts.roster.prepare(models);
  }

  close(): Promise<void> {
    return this.#parts.roster.close();
  }

  #unit(vector: Float32Array, model: ServedModel, member: Member): Float32Array {
    const unit = unitVector(vector, model.dimensions);
    if (unit !== undefined) return unit;
    const what = `${member.id} made a vector of ${vector.length} dimensions, or one without length`;
    throw failure(Reason.ENGINE_FAILED, "The inference server failed to answer.", {}, new EngineFault(what, true));
  }

  #members(): Member[] {
    return [...this.#parts.roster.pools.values()].flatMap((pool) => pool.members);
  }

  #member(id: string): Member {
    const member = this.#members().find((candidate) => candidate.id === id);
    if (member === undefined) throw failure(Reason.SERVER_NOT_FOUND, `There is no server ${id}.`);
    return member;
  }

  #pool(modelId: string): Pool {
    const pool = this.#parts.roster.pools.get(modelId);
    if (pool === undefined) throw failure(Reason.MODEL_NOT_FOUND, `There is no model ${modelId}.`);
    return pool;
  }
}

/** The tries of one request, each on another server. */
class Attempts {
  readonly #pool: Pool;
  readonly #route: Route;
  readonly #key: string;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #observer: FleetObserver;
  readonly #deadline: number;
  readonly #failed = new Set<Member>();
  #count = 0;

  constructor(pool: Pool, route: Route, key: string, { clock, config, logger, observer }: FleetParts) {
    this.#pool = pool;
    this.#route = route;
    this.#key = key;
    this.#logger = logger;
    this.#clock = clock;
    this.#observer = observer;
    this.#deadline = clock.monotonic() + config.queue_timeout_s * 1000;
  }

  /** Takes a place on a server. */
  begin(signal: AbortSignal): Place | Promise<Place> {
    this.#count++;
    const wish = { route: this.#route, key: this.#key, failed: this.#failed, deadline: this.#deadline };
    const place = this.#pool.acquire(wish, signal);
    return place instanceof Promise ? this.#watched(place) : place;
  }

  /** Notes what a failed try tells about its server; one that the caller broke off tells nothing. */
  failed(member: Member, error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return;
    const fullFor = fullForMs(error);
    if (fullFor !== undefined) member.full(fullFor);
    if (isServersFault(error)) {
      this.#failed.add(member);
      member.breaker.failed();
    }
    if (fullFor === undefined && !isServersFault(error)) return;
    member.lastError = describe(error);
    this.#observer.failed(member.id, this.#pool.modelId);
    this.#logger.warn(
      { server: member.id, request: this.#route.request?.requestId, error: member.lastError },
      "server failed a request",
    );
  }

  /** Whether another server, or the same one after the pause that it asked for, may be tried. */
  mayRetry(error: unknown): boolean {
    if (this.#count >= maxAttempts || !isTransient(error)) return false;
    return this.#pool.members.some((member) => member.fit && !this.#failed.has(member));
  }

  /** Tells how long the wait for a place took. */
  #watched(place: Promise<Place>): Promise<Place> {
    const since = this.#clock.monotonic();
    return place.finally(() => this.#observer.waited(this.#pool.modelId, this.#clock.monotonic() - since));
  }

  /** Gives the place back. */
  end(place: Place): void {
    this.#pool.release(place);
  }
}

function sum<T>(values: readonly T[], of: (value: T) => number): number {
  return values.reduce((total, value) => total + of(value), 0);
}
