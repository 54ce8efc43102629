import type { Server } from "#gen/tollgate/catalogue/v1/server_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../lib/errors/failure.ts";
import { estimateTokens } from "../../lib/text/estimate-tokens.ts";
import type { ServedModel } from "../catalogue/interface.ts";
import type { EngineEmbeddings, EngineOutput } from "../engines/interface.ts";
import { type AttemptSettings, Attempts, distrust } from "./attempts.ts";
import { believableInputs, isBelievableInput, isWholeNumber, templateTokens } from "./health/believable-tokens.ts";
import { describe, isImplausible, isServersFault, isTransient, serverFailed, toFailure } from "./health/failures.ts";
import { Plausibility } from "./health/plausibility.ts";
import { type TimeLimits, Watchdog } from "./health/watchdog.ts";
import type { Fleet, FleetChange, FleetEmbedRequest, FleetRequest } from "./interface.ts";
import type { Member } from "./servers/member.ts";
import type { Pool } from "./servers/pool.ts";
import type { Roster } from "./servers/roster.ts";
import { unitVector } from "./unit-vectors.ts";

/** Counting is quick, or not worth waiting for. */
const countTimeoutMs = 5000;
const countLimits = { firstOutput: countTimeoutMs, idle: countTimeoutMs, total: countTimeoutMs };

/** Dependencies. */
export interface FleetParts extends AttemptSettings {
  readonly roster: Roster;
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
    const attempts = new Attempts(this.#pool(model.id), route, request, this.#parts);
    for (;;) {
      const place = await attempts.begin(signal);
      const { member } = place;
      const watchdog = new Watchdog(this.#parts.clock, this.#limits, signal);
      const plausibility = new Plausibility(model, request, (what) => attempts.doubted(member, what));
      let began = false;
      try {
        for await (const output of member.engine.generate({ ...request, model: member.model }, watchdog.signal)) {
          watchdog.arrived();
          if (!began) {
            began = true;
            attempts.began(place);
            request.onServer?.(member.id);
          }
          const believed = plausibility.check(output);
          if (believed.usage !== undefined) {
            place.counted(believed.usage);
          }
          yield believed;
          watchdog.await();
        }
        if (plausibility.holds) {
          member.breaker.cleared();
        }
        return;
      } catch (thrown) {
        const error = toFailure(thrown, member.id, signal);
        attempts.failed(member, error, signal);
        if (began || !attempts.mayRetry(error)) {
          throw attempts.told(error);
        }
      } finally {
        watchdog.close();
        attempts.end(place);
      }
    }
  }

  async embed(model: ServedModel, request: FleetEmbedRequest, signal: AbortSignal): Promise<EngineEmbeddings> {
    const route = { request: undefined, promptTokens: 0 };
    const attempts = new Attempts(this.#pool(model.id), route, request, this.#parts);
    for (;;) {
      const place = await attempts.begin(signal);
      const { member } = place;
      const watchdog = new Watchdog(this.#parts.clock, { ...this.#limits, firstOutput: this.#limits.total }, signal);
      try {
        const answer = await member.engine.embed({ ...request, model: member.model }, watchdog.signal);
        request.onServer?.(member.id);
        const vectors = answer.vectors.map((vector) => this.#unit(vector, model, member));
        member.breaker.succeeded();
        const inputTokens = this.#believeInputs(answer.inputTokens, request.inputs, model, (what) =>
          attempts.doubted(member, what),
        );
        if (inputTokens === answer.inputTokens) {
          member.breaker.cleared();
        }
        return { vectors, inputTokens };
      } catch (thrown) {
        const error = toFailure(thrown, member.id, signal);
        attempts.failed(member, error, signal);
        if (!attempts.mayRetry(error)) {
          throw attempts.told(error);
        }
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
    for (const member of this.#pool(model.id).members) {
      const count = member.fit ? await this.#countOn(member, model, request, signal) : undefined;
      if (count) {
        return count;
      }
    }
    return undefined;
  }

  servers(): Server[] {
    return this.#members().map((member) => this.#describe(member));
  }

  drain(id: string): Server {
    return this.#setDraining(id, true);
  }

  resume(id: string): Server {
    const server = this.#setDraining(id, false);
    for (const pool of this.#parts.roster.pools.values()) {
      pool.pump();
    }
    return server;
  }

  utilisation(modelId: string): number {
    const { members, waiting, waitingTokens } = this.#pool(modelId);
    const fit = members.filter((member) => member.fit);
    const there = fit.length > 0 ? fit : members;
    const capacity = sum(there, (member) => member.config.capacity);
    const requests = (sum(members, (member) => member.inFlight) + waiting) / Math.max(1, capacity);
    // Where a server does not tell its room, only its requests count.
    const roomy = there.filter((member) => member.room !== undefined);
    const room = sum(roomy, (member) => member.room ?? 0);
    const share = there.length === 0 ? 0 : roomy.length / there.length;
    const tokens = room === 0 ? 0 : (sum(roomy, (member) => member.tokensInFlight) + waitingTokens * share) / room;
    return Math.max(requests, tokens);
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

  /** The count of one server. Undefined: it cannot tell, or cannot be believed. */
  async #countOn(
    member: Member,
    model: ServedModel,
    request: Pick<FleetRequest, "prompt" | "thinking" | "recipe">,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const watchdog = new Watchdog(this.#parts.clock, countLimits, signal);
    try {
      const count = await member.engine.countTokens({ ...request, model: member.model }, watchdog.signal);
      if (count === undefined || isBelievableInput(count, request.prompt, model)) {
        return count;
      }
      distrust(member, `counted ${count} tokens in a prompt`, {}, this.#parts);
    } catch (thrown) {
      signal.throwIfAborted();
      const error = toFailure(thrown, member.id, signal);
      if (isImplausible(error)) {
        distrust(member, describe(error), {}, this.#parts);
      } else if (isTransient(error) || isServersFault(error)) {
        this.#parts.logger.warn({ server: member.id, error: describe(error) }, "server could not count tokens");
      } else {
        throw error;
      }
    } finally {
      watchdog.close();
    }
    return undefined;
  }

  #unit(vector: Float32Array, model: ServedModel, member: Member): Float32Array {
    const unit = unitVector(vector, model.dimensions);
    if (unit !== undefined) {
      return unit;
    }
    const what = `${member.id} made a vector of ${vector.length} dimensions, or one without length`;
    throw serverFailed(what, true);
  }

  /** The tokens of inputs, at most as many as they can have. */
  #believeInputs(told: number, inputs: readonly string[], model: ServedModel, onDoubt: (what: string) => void): number {
    if (!isWholeNumber(told) || told < 1) {
      onDoubt(`counted ${told} tokens in inputs`);
      throw serverFailed("the tokens of inputs were not counted", false);
    }
    if (told <= inputs.length * Math.min(templateTokens(model), model.context_length)) {
      return told;
    }
    const bound = believableInputs(inputs, model);
    if (told <= bound) {
      return told;
    }
    onDoubt(`counted ${told} tokens in inputs that have ${bound} at most`);
    return bound;
  }

  #describe(member: Member): Server {
    return member.toServer(this.#pool(member.modelId).policy.routing);
  }

  #members(): Member[] {
    return [...this.#parts.roster.pools.values()].flatMap((pool) => pool.members);
  }

  /** A server that serves several of our models as one of its own has one name. */
  #setDraining(id: string, draining: boolean): Server {
    const named = this.#members().filter((member) => member.id === id);
    for (const member of named) {
      member.draining = draining;
    }
    const [first] = named;
    if (first === undefined) {
      throw failure(Reason.SERVER_NOT_FOUND, `There is no server ${id}.`);
    }
    return this.#describe(first);
  }

  #pool(modelId: string): Pool {
    const pool = this.#parts.roster.pools.get(modelId);
    if (pool === undefined) {
      throw failure(Reason.MODEL_NOT_FOUND, `There is no model ${modelId}.`);
    }
    return pool;
  }
}

function sum<T>(values: readonly T[], of: (value: T) => number): number {
  return values.reduce((total, value) => total + of(value), 0);
}
