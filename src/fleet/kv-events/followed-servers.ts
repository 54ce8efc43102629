import type { Logger } from "../../../lib/logger.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import type { KvEventsState } from "../interface.ts";
import type { Member } from "../servers/member.ts";
import type { Pool } from "../servers/pool.ts";
import { KvEventStream } from "./kv-event-stream.ts";

/** Dependencies. */
export interface FollowedParts {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Passes the servers' KV cache events on to the routing policies. */
export class FollowedServers {
  readonly #parts: FollowedParts;
  readonly #streams = new Map<Member, KvEventStream>();

  constructor(parts: FollowedParts) {
    this.#parts = parts;
  }

  /** The state of every server that is configured to publish events. */
  states(): KvEventsState[] {
    return [...this.#streams].map(([{ id: server, modelId: model }, { isLive: isHeard }]) => ({
      ...{ server, model, isHeard },
    }));
  }

  /** Follows a server of a pool, if the server is configured to publish events. */
  follow(member: Member, pool: Pool): void {
    const { kv_events: source, url, address } = member.config;
    if (source === undefined || this.#streams.has(member)) {
      return;
    }
    const { clock, logger } = this.#parts;
    const host = address ?? new URL(url).hostname.replace(/^\[|\]$/g, "");
    const { port, replay_port: replayPort, topic } = source;
    const stream = new KvEventStream({ host, port, replayPort, topic }, clock, {
      happened: (events) => pool.policy.happened(member, events),
      lost: () => pool.policy.lostTrack(member),
      heard: (isHeard, error) => {
        if (isHeard) {
          logger.info({ server: member.id, model: member.modelId }, "server tells what happens to its KV cache");
          return;
        }
        const about = { server: member.id, model: member.modelId, error };
        logger.warn(about, "server's KV events are not heard, its cache is believed by use alone");
      },
    });
    this.#streams.set(member, stream);
  }

  /** Stops following a server. */
  leave(member: Member): void {
    this.#streams.get(member)?.close();
    this.#streams.delete(member);
  }

  close(): void {
    for (const member of [...this.#streams.keys()]) {
      this.leave(member);
    }
  }
}
