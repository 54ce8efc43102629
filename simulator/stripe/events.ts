import { createHmac, randomBytes } from "node:crypto";
import type { State } from "./state.ts";

/** Milliseconds until an event that was not taken is sent again, doubled each time. */
const againMs = 500;
const mostTries = 12;

/** What may go wrong on an event's way. */
export interface EventFaults {
  /** Events that are not sent at all. */
  lose: boolean;
  /** Events that are kept until they are released. */
  hold: boolean;
  /** How often each event is sent. */
  times: number;
}

/** An event as it is sent. */
export interface SentEvent {
  readonly id: string;
  readonly type: string;
  readonly body: string;
}

/** Signs and sends events to all endpoints, and again until they are taken. */
export class Events {
  readonly faults: EventFaults = { lose: false, hold: false, times: 1 };
  /** All events that ever happened, oldest first. */
  readonly all: SentEvent[] = [];
  readonly #state: State;
  readonly #held: (() => void)[] = [];
  readonly #timers = new Set<NodeJS.Timeout>();
  #closed = false;

  constructor(state: State) {
    this.#state = state;
  }

  /** Tells of something that happened. Its object is what it is at this moment. */
  emit(type: string, object: object): void {
    const id = `evt_test_${randomBytes(12).toString("hex")}`;
    const created = Math.floor(Date.now() / 1000);
    const event = { id, object: "event", api_version: null, created, livemode: false, type, data: { object } };
    const sent = { id, type, body: JSON.stringify(event) };
    this.all.push(sent);
    if (this.faults.lose) {
      return;
    }
    const send = () => {
      for (let time = 0; time < this.faults.times; time++) {
        this.send(sent);
      }
    };
    if (this.faults.hold) {
      this.#held.push(send);
    } else {
      send();
    }
  }

  /** Sends an event to the endpoints that want it. */
  send(event: SentEvent): void {
    for (const { id, enabled_events: wanted } of this.#state.endpoints.values()) {
      if (wanted.includes("*") || wanted.includes(event.type)) {
        void this.#deliver(id, event, 1);
      }
    }
  }

  /** Sends what was held, the last first if that is asked for. */
  release(order: "in order" | "reversed" = "in order"): void {
    const held = this.#held.splice(0);
    for (const send of order === "reversed" ? held.reverse() : held) {
      send();
    }
  }

  close(): void {
    this.#closed = true;
    for (const timer of this.#timers) {
      clearTimeout(timer);
    }
  }

  async #deliver(endpointId: string, event: SentEvent, tries: number): Promise<void> {
    const endpoint = this.#state.endpoints.get(endpointId);
    if (endpoint === undefined || this.#closed) {
      return;
    }
    const headers = { "content-type": "application/json", "stripe-signature": sign(event.body, endpoint.secret) };
    const taken = await fetch(endpoint.url, { method: "POST", body: event.body, headers })
      .then(async (response) => {
        await response.arrayBuffer();
        return response.ok;
      })
      .catch(() => false);
    if (taken || tries >= mostTries || this.#closed) {
      return;
    }
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        void this.#deliver(endpointId, event, tries + 1);
      },
      againMs * 2 ** (tries - 1),
    );
    this.#timers.add(timer);
  }
}

/** A signature as Stripe's: of the time and the body. */
export function sign(body: string, secret: string): string {
  const time = Math.floor(Date.now() / 1000);
  return `t=${time},v1=${createHmac("sha256", secret).update(`${time}.${body}`).digest("hex")}`;
}
