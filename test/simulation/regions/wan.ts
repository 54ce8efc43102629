import type { Dice } from "../world/dice.ts";
import type { History } from "../world/history.ts";
import type { Timeline } from "../world/timeline.ts";

/** Faults of the link between the home shard and one region. Values are probabilities for each message. */
export interface LinkFaults {
  lost: number;
  doubled: number;
  /** The message arrives up to a minute late. */
  late: number;
  /** The message takes up to some seconds, so that others overtake it. */
  slow: number;
  isDown: boolean;
}

/** Milliseconds of one way, and how much it varies. */
export const oneWayMs = 60;
const jitterMs = 4;

/** The wide-area network. Messages get lost, arrive twice, overtake each other, and arrive long after they mattered. */
export class Wan {
  readonly links = new Map<string, LinkFaults>();
  readonly #timeline: Timeline;
  readonly #dice: Dice;
  readonly #history: History;
  /** The number of sent messages. */
  messages = 0;
  /** The number of entries in them. */
  entries = 0;

  constructor(parts: { timeline: Timeline; dice: Dice; history: History }) {
    this.#timeline = parts.timeline;
    this.#dice = parts.dice;
    this.#history = parts.history;
  }

  /** The link of a region. */
  link(region: string): LinkFaults {
    let link = this.links.get(region);
    if (link === undefined) {
      link = { lost: 0, doubled: 0, late: 0, slow: 0, isDown: false };
      this.links.set(region, link);
    }
    return link;
  }

  /** Sends a message with this many entries to or from a region. `what` is its name in the history. */
  send(region: string, entries: number, what: string, arrive: () => void): void {
    this.messages++;
    this.entries += entries;
    const link = this.link(region);
    if (link.isDown) {
      return;
    }
    const fault = (kind: string) => this.#history.fault(`${kind}: ${what}`);
    if (this.#dice.chance(link.lost)) {
      fault("lost");
      return;
    }
    if (this.#dice.chance(link.doubled)) {
      fault("doubled");
      this.#deliver(link, this.#dice.exponential(2000), arrive);
    }
    if (this.#dice.chance(link.late)) {
      fault("late");
      this.#deliver(link, this.#dice.exponential(20_000), arrive);
    } else if (this.#dice.chance(link.slow)) {
      fault("slow");
      this.#deliver(link, this.#dice.exponential(1500), arrive);
    } else {
      this.#deliver(link, 0, arrive);
    }
  }

  #deliver(link: LinkFaults, more: number, arrive: () => void): void {
    this.#timeline.after(oneWayMs + this.#dice.exponential(jitterMs) + more, () => {
      if (!link.isDown) {
        arrive();
      }
    });
  }
}
