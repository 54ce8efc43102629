import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { FleetConfig } from "#src/config/schema.ts";
import type { ServedModel } from "../catalogue/interface.ts";
import type { HealthChange } from "../interface.ts";
import type { Member } from "../servers/member.ts";
import type { Pool } from "../servers/pool.ts";
import { HealthChecker } from "./health.ts";
import { tryOut } from "./trial.ts";

interface Dependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly config: Pick<FleetConfig, "health_interval_s" | "first_token_timeout_s">;
  /** Called when a server fails its checks, so that other cores learn of it. */
  readonly troubled: (member: Member) => void;
  /** Called when a server fails its checks, when it recovers and when it first passes. Absent: no listener. */
  readonly healthChanged?: (change: HealthChange) => void;
}

/** Checks the health of all servers, and tells each server's pool, its other models and other cores. */
export class WatchedServers {
  readonly #parts: Dependencies;
  readonly #checkers = new Map<Member, HealthChecker>();

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /** Starts to check a server of a pool, unless it is checked already. */
  watch(member: Member, model: ServedModel, pool: Pool): void {
    if (this.#checkers.has(member)) {
      return;
    }
    const { clock, logger, config, troubled, healthChanged } = this.#parts;
    let isKnownUp = false; // it may have been down when the core ended
    const checker = new HealthChecker(member, {
      clock,
      logger,
      intervalMs: config.health_interval_s * 1000,
      trialTimeoutMs: config.first_token_timeout_s * 1000,
      tryOut: (signal) => tryOut(member, model, signal),
      onHealthy: () => {
        pool.forget(member); // it may have been restarted
        pool.pump();
      },
      onPassed: () => {
        if (!isKnownUp) {
          isKnownUp = true;
          healthChanged?.({ server: member.id, model: model.id, isUp: true, reason: "" });
        }
      },
      onUnhealthy: (reason) => {
        isKnownUp = false;
        troubled(member);
        this.#suspectOthersOn(member);
        healthChanged?.({ server: member.id, model: model.id, isUp: false, reason });
      },
    });
    member.onFailure = (error) => checker.suspect(error);
    this.#checkers.set(member, checker);
  }

  /** Stops checking a server. */
  leave(member: Member): void {
    this.#checkers.get(member)?.close();
    this.#checkers.delete(member);
  }

  close(): void {
    for (const checker of this.#checkers.values()) {
      checker.close();
    }
  }

  /** Checks the server's other models at once: they may fail for the same reason. */
  #suspectOthersOn({ id, machine }: Member): void {
    for (const other of this.#checkers.keys()) {
      if (other.machine === machine && other.id !== id) {
        other.onFailure(new Error("another model of the server fails"));
      }
    }
  }
}
