import type { ServiceClass } from "#lib/limits/service-class.ts";
import type { Clock } from "#lib/time/clock.ts";
import { configSchema } from "#src/config/schema.ts";
import type { Engine } from "#src/fleet/engines/interface.ts";
import { otherQueues, SharedServers } from "#src/fleet/roster/shared-servers.ts";
import { LeastLoad } from "#src/fleet/routing/least-load.ts";
import { Member } from "#src/fleet/servers/member.ts";
import type { Place } from "#src/fleet/servers/place.ts";
import { Pool } from "#src/fleet/servers/pool.ts";
import type { FleetChannel } from "#src/fleet/sharing/channel.ts";
import { Sharing } from "#src/fleet/sharing/sharing.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { SeededRandom } from "../../seeded-random.ts";

/** Cores that share servers of one model, and the messages between them. */
export interface Setting {
  readonly servers: number;
  /** Requests that a server runs at once. */
  readonly capacity: number;
  /** The longest way of a message, in milliseconds, and the part of messages that a core does not hear. */
  readonly delayMs: number;
  readonly lost: number;
  /** The part that an account leaves free when it is alone. */
  readonly reserve: number;
  /** Tokens of a server's KV cache. Absent: not known. */
  readonly kvTokens?: number;
  /** How long a server reads a prompt, during which the request counts as unread. Absent: no time. */
  readonly readMs?: number;
  readonly seed: number;
}

/** A request in the simulation. */
export interface Asked {
  readonly account: string;
  readonly serviceClass?: ServiceClass;
  /** How long it runs. */
  readonly ms: number;
  /** Tokens of its prompt. */
  readonly tokens: number;
}

/** What became of a request: how long it waited, and when it got a place or was refused. */
export interface Met extends Asked {
  readonly core: number;
  readonly at: number;
  readonly waitedMs: number;
  readonly isServed: boolean;
}

const queueTimeoutMs = 10_000;

/** Cores in virtual time. Messages come late, all cores hear them in one order, and some are lost. */
export class Cores {
  readonly clock = new ManualClock();
  readonly met: Met[] = [];
  /** The most requests that ran at once, since a test set it to 0. */
  mostRunning = 0;
  readonly #setting: Setting;
  readonly #random: SeededRandom;
  readonly #hearers = new Map<number, (message: Uint8Array, isLost: boolean) => void>();
  #running = 0;
  #served = 0;
  #cores = 0;

  constructor(setting: Setting) {
    this.#setting = setting;
    this.#random = new SeededRandom(setting.seed);
  }

  /** Requests that were served. */
  get served(): number {
    return this.#served;
  }

  /** Starts another core. */
  start(): Core {
    const { servers: count, capacity, kvTokens, reserve, seed } = this.#setting;
    const id = this.#cores++;
    const clock = shifted(this.clock, id * 1e9);
    const random = new SeededRandom(seed + 1000 * (id + 1));
    const pool: Pool = new Pool("m", new LeastLoad(random), clock, { queue: 10_000, reserve, health_interval_s: 5 });
    const sharing = new Sharing(
      { channel: this.#channel(id), clock, random },
      new SharedServers(
        () => [pool],
        () => [],
      ),
    );
    pool.onChange = () => sharing.changed();
    pool.others = otherQueues(sharing, "m");
    const { models } = configSchema.parse({
      models: [
        {
          id: "m",
          servers: Array.from({ length: count }, (_, at) => ({
            url: `http://server-${at}:1`,
            capacity,
            ...(kvTokens !== undefined && { kv_tokens: kvTokens }),
          })),
        },
      ],
    });
    const settings = { clock, openMs: 5000, onFree: () => pool.pump() };
    const engine = {} as Engine; // the pool never calls it
    const members = (models[0]?.servers ?? []).map((config, at) => new Member(`${at}`, "m", config, engine, settings));
    pool.replace(members);
    return {
      id,
      members,
      pool,
      ask: (asked, failed = new Set()) => this.#ask(id, clock, pool, asked, failed),
      kill: () => {
        this.#hearers.delete(id);
        void sharing.close();
      },
    };
  }

  /** Lets time pass, and every millisecond the promises that follow. */
  async run(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed++) {
      this.clock.advance(1);
      await undefined;
      await undefined;
    }
  }

  /** A request's way through a core: resolves once it has ended or was refused, with whether it was served. */
  async #ask(core: number, clock: Clock, pool: Pool, asked: Asked, failed: ReadonlySet<Member>): Promise<boolean> {
    const began = clock.monotonic();
    const { account: key, serviceClass, tokens } = asked;
    const meet = (isServed: boolean) => {
      this.met.push({ ...asked, core, at: this.clock.monotonic(), waitedMs: clock.monotonic() - began, isServed });
    };
    let place: Place;
    try {
      const route = { request: undefined, promptTokens: tokens };
      const deadline = began + queueTimeoutMs;
      const granted = pool.acquire({ route, key, serviceClass, failed, deadline }, new AbortController().signal);
      place = granted instanceof Promise ? await granted : granted;
    } catch {
      meet(false);
      return false;
    }
    meet(true);
    this.#running++;
    this.mostRunning = Math.max(this.mostRunning, this.#running);
    clock.after(this.#setting.readMs ?? 0, () => pool.began(place));
    await new Promise<void>((resolve) => void clock.after(asked.ms, resolve));
    this.#running--;
    this.#served++;
    if (this.#hearers.has(core)) {
      pool.release(place);
    }
    return true;
  }

  #channel(core: number): FleetChannel {
    const { lost } = this.#setting;
    const toServer = this.#way();
    const fromServer = this.#way();
    return {
      send: (message) =>
        toServer(() => {
          for (const pass of this.#hearers.values()) {
            pass(message, this.#random.fraction() < lost);
          }
        }),
      listen: (hear) =>
        void this.#hearers.set(core, (message, isLost) =>
          fromServer(() => (isLost || !this.#hearers.has(core) ? undefined : hear(message))),
        ),
      renew() {},
      close: async () => {},
    };
  }

  /** A way to or from the server that passes messages on: each takes its time, and none overtakes another. */
  #way(): (arrive: () => void) => void {
    let lastAt = 0;
    return (arrive) => {
      const now = this.clock.monotonic();
      lastAt = Math.max(lastAt, now + (this.#setting.delayMs / 2) * this.#random.fraction());
      this.clock.after(lastAt - now, arrive);
    };
  }
}

/** A clock of another machine, which was started earlier. */
function shifted(clock: Clock, byMs: number): Clock {
  return {
    now: () => clock.now() + byMs,
    monotonic: () => clock.monotonic() + byMs,
    after: (ms, callback) => clock.after(ms, callback),
  };
}

/** A core of the simulation. */
export interface Core {
  readonly id: number;
  readonly members: readonly Member[];
  readonly pool: Pool;
  /** Resolves once the request has ended or was refused, with whether it was served. */
  ask(asked: Asked, failed?: ReadonlySet<Member>): Promise<boolean>;
  /** Ends the core as a crash does: it says and hears nothing more. */
  kill(): void;
}
