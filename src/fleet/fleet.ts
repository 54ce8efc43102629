import type { Server } from "#gen/tollgate/catalogue/v1/server_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { estimateTokens } from "#lib/text/estimate-tokens.ts";
import type { ServedModel } from "./catalogue/interface.ts";
import type { EngineEmbeddings, EngineOutput } from "./engines/interface.ts";
import { believeInputs } from "./health/believe-inputs.ts";
import { serverFailed, toFailure } from "./health/failures.ts";
import { KnownTemplates } from "./health/known-templates.ts";
import { type TimeLimits, Watchdog } from "./health/watchdog.ts";
import type { Fleet, FleetChange, FleetEmbedRequest, FleetRequest, FleetSharing } from "./interface.ts";
import { type Dependencies as AttemptDependencies, Attempts } from "./requests/attempts.ts";
import { countOn } from "./requests/count-on.ts";
import { FleetGeneration } from "./requests/generation.ts";
import { unitVector } from "./requests/unit-vectors.ts";
import { describeServer } from "./roster/describe-server.ts";
import type { Roster } from "./roster/roster.ts";
import type { Member } from "./servers/member.ts";
import type { Pool } from "./servers/pool.ts";
import { utilisation } from "./utilisation.ts";

interface Dependencies extends AttemptDependencies {
  readonly roster: Roster;
}

/** The fleet of one process. */
export class PooledFleet implements Fleet {
  readonly #parts: Dependencies;
  readonly #limits: TimeLimits;
  readonly #templates = new KnownTemplates();

  constructor(parts: Dependencies) {
    this.#parts = parts;
    this.#limits = {
      firstOutput: parts.config.first_token_timeout_s * 1000,
      idle: parts.config.idle_timeout_s * 1000,
      total: parts.config.total_timeout_s * 1000,
    };
  }

  generate(model: ServedModel, request: FleetRequest, signal: AbortSignal): AsyncIterable<EngineOutput> {
    const { clock } = this.#parts;
    return new FleetGeneration({
      model,
      request,
      templates: this.#templates,
      signal,
      openAttempts: () => {
        const route = { request, promptTokens: estimateTokens(request.prompt) };
        return new Attempts(this.#pool(model.id), route, request, this.#parts);
      },
      watch: () => new Watchdog(clock, this.#limits, signal),
    });
  }

  async embed(model: ServedModel, request: FleetEmbedRequest, signal: AbortSignal): Promise<EngineEmbeddings> {
    const route = { request: undefined, promptTokens: 0 };
    const attempts = new Attempts(this.#pool(model.id), route, request, this.#parts);
    for (;;) {
      const place = await attempts.begin(signal);
      const { member } = place;
      request.onServer?.(member.id);
      const watchdog = new Watchdog(this.#parts.clock, { ...this.#limits, firstOutput: this.#limits.total }, signal);
      try {
        const sent = { ...request, model: member.model, templateTokens: this.#templates.of(model) };
        request.onSent?.();
        const answer = await member.engine.embed(sent, watchdog.signal);
        const vectors = answer.vectors.map((vector) => this.#unit(vector, model, member));
        member.breaker.succeeded();
        let isDoubted = false;
        const inputTokens = believeInputs(answer.inputTokens, request, model, this.#templates, (what) => {
          isDoubted = true;
          attempts.doubted(member, what);
        });
        if (!isDoubted) {
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
      const count = member.fit ? await countOn(member, model, request, signal, this.#parts) : undefined;
      if (count) {
        return count;
      }
    }
    return undefined;
  }

  templateTokens(model: ServedModel): number {
    return this.#templates.of(model);
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
    return utilisation(this.#pool(modelId));
  }

  waiting(modelId: string): number {
    return this.#pool(modelId).waiting;
  }

  get sharing(): FleetSharing | undefined {
    return this.#parts.roster.sharing;
  }

  prepare(models: readonly ServedModel[]): FleetChange {
    return this.#parts.roster.prepare(models);
  }

  close(): Promise<void> {
    return this.#parts.roster.close();
  }

  #unit(vector: Float32Array, model: ServedModel, member: Member): Float32Array {
    const unit = unitVector(vector, model.dimensions);
    if (unit !== undefined) {
      return unit;
    }
    const what = `${member.id} made a vector of ${vector.length} dimensions, or one without length`;
    throw serverFailed(what, true);
  }

  #describe(member: Member): Server {
    const { roster } = this.#parts;
    return describeServer(member, roster.inFlightOn(member), this.#pool(member.modelId).policy.routing, this.sharing);
  }

  #members(): Member[] {
    return [...this.#parts.roster.pools.values()].flatMap((pool) => pool.members);
  }

  /** Drains or resumes all members with this id. They share it where one model of a server is several of ours. */
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
