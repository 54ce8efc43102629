import type { Logger } from "../../../lib/logger.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import type { ServedModel } from "../../catalogue/interface.ts";
import type { FleetConfig } from "../../config/schema.ts";
import type { HealthChange } from "../interface.ts";
import type { Member } from "../servers/member.ts";
import type { Pool } from "../servers/pool.ts";
import { HealthChecker } from "./health.ts";
import { tryOut } from "./trial.ts";

/** Dependencies. */
export interface WatchedParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly config: Pick<FleetConfig, "health_interval_s" | "first_token_timeout_s">;
  /** Is told when a server fails its checks: other cores should know. */
  readonly troubled: (member: Member) => void;
  /** Is told when a server fails its checks, and when one that did is back. Absent: nobody is. */
  readonly healthChanged?: (change: HealthChange) => void;
}

/** Sees that every server's health is checked, and passes what is found on to its pool, its neighbours and other cores. */
export class WatchedServers {
  readonly #parts: WatchedParts;
  readonly #checkers = new Map<Member, HealthChecker>();

  constructor(parts: WatchedParts) {
    this.#parts = parts;
  }

  /** Checks a server of a pool from now on, if it does not yet. */
  watch(member: Member, model: ServedModel, pool: Pool): void {
    if (this.#checkers.has(member)) {
      return;
    }
    const { clock, logger, config, troubled, healthChanged } = this.#parts;
    let wasDown = false;
    const checker = new HealthChecker(member, {
      clock,
      logger,
      intervalMs: config.health_interval_s * 1000,
      trialTimeoutMs: config.first_token_timeout_s * 1000,
      tryOut: (signal) => tryOut(member, model, signal),
      onHealthy: () => {
        pool.forget(member); // it may have been started anew
        pool.pump();
        if (wasDown) {
          wasDown = false;
          healthChanged?.({ server: member.id, model: model.id, isUp: true, reason: "" });
        }
      },
      onUnhealthy: (reason) => {
        wasDown = true;
        troubled(member);
        this.#suspectOthersOn(member);
        healthChanged?.({ server: member.id, model: model.id, isUp: false, reason });
      },
    });
    member.onFailure = (error) => checker.suspect(error);
    this.#checkers.set(member, checker);
  }

  /** No longer checks a server. */
  leave(member: Member): void {
    this.#checkers.get(member)?.close();
    this.#checkers.delete(member);
  }

  close(): void {
    for (const checker of this.#checkers.values()) {
      checker.close();
    }
  }

  /** What fails one model of a server may fail its others: they are checked at once. */
  #suspectOthersOn({ id, machine }: Member): void {
    for (const other of this.#checkers.keys()) {
      if (other.machine === machine && other.id !== id) {
        other.onFailure(new Error("another model of the server fails"));
      }
    }
  }
}
