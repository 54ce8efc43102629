import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../../../lib/errors/failure.ts";
import type { Logger } from "../../../../lib/logger.ts";
import type { Clock } from "../../../../lib/time/clock.ts";
import { repeat } from "../../../../lib/time/repeat.ts";
import { createArrival } from "../../../metering/moves/arrival.ts";
import { createDeparture } from "../../../metering/moves/departure.ts";
import type { Departure, Move } from "../../../metering/moves/interface.ts";
import { finish, type MoveEnds, moveAccount } from "../../../metering/moves/mover.ts";
import { isMoving } from "../../../storage/moving.ts";
import type { Shard } from "../open-shards.ts";
import type { Shards } from "../shards.ts";
import { KnownMoves, type OpenMove } from "./known-moves.ts";
import { mendMoves } from "./mend-moves.ts";
import type { Places } from "./places.ts";

/** Cores announce moves under this name, in place of an account's id. */
const announcement = "moves";
/** The interval of looking for moves that this core did not hear of or that others left unfinished. */
const lookMs = 2000;
/** How long a call for an account waits for a database that does not answer, in milliseconds. */
const momentMs = 1000;

/** Moves accounts between databases, knows where they are, and completes moves that a core left unfinished. */
export class Moves {
  readonly #shards: Shards<Shard>;
  readonly #places: Places;
  readonly #known: Shards<KnownMoves>;
  readonly #logger: Logger;
  readonly #clock: Pick<Clock, "after">;
  /** Whether both databases of every move are known to know of it. */
  #areWhole = false;

  constructor(
    shards: Shards<Shard>,
    places: Places,
    { logger, clock }: { readonly logger: Logger; readonly clock: Pick<Clock, "after"> },
  ) {
    this.#shards = shards;
    this.#places = places;
    this.#logger = logger;
    this.#clock = clock;
    this.#known = shards.map(({ foundation }) => new KnownMoves(foundation.storage));
  }

  /**
   * Learns where all accounts are, and begins to look after moves. The moves of a database that comes later are read
   * then.
   */
  async start(): Promise<void> {
    await Promise.all(this.#readAll());
    this.#shards.each((shard, number) => {
      const { foundation, books } = shard;
      books.announcements
        .listen((heard) => (heard === announcement || heard === undefined) && void this.look())
        .catch((error: unknown) => foundation.logger.warn({ error }, "moves of accounts are not heard of yet"));
      return repeat(foundation.clock, lookMs, foundation.logger, "look after moves of accounts", async () => {
        await this.#read(number);
        await this.attend(number);
      });
    });
  }

  /** Whether no account has ever moved. */
  get areNone(): boolean {
    return this.#places.areEmpty;
  }

  /** The number of the database that an account is in. */
  locate(accountId: string): number {
    return this.#places.locate(accountId);
  }

  /** Calls a function whenever an account is in another database than before. */
  onArrival(arrived: (accountId: string, shard: number) => void): void {
    this.#places.onArrival(arrived);
  }

  /**
   * Runs a function in the database that an account is in, once the account is not moving. Runs it again when the
   * account turns out to be moving. Throws LEDGER_UNAVAILABLE after two seconds.
   */
  async whereItIs<T>(accountId: string, run: (shard: Shard) => Promise<T>): Promise<T> {
    for (let isFirst = true; ; isFirst = false) {
      await this.#places.opening(accountId);
      try {
        return await run(this.#shards.of(accountId));
      } catch (error) {
        if (!isFirst || !isMoving(error)) {
          throw error;
        }
      }
      await this.look();
    }
  }

  /** Moves an account. Returns the number of the database that it was in. Throws as `moveAccount`. */
  async move(accountId: string, to: number, pauseMs: number): Promise<number> {
    if (to >= this.#shards.count) {
      const last = this.#shards.count - 1;
      const message = last === 0 ? "There is one database, number 0." : `The databases have the numbers 0 to ${last}.`;
      throw failure(Reason.INVALID_ARGUMENT, message, { parameter: "shard" });
    }
    await this.#places.opening(accountId);
    const from = this.#places.locate(accountId);
    if (from !== to) {
      const { clock, random } = this.#shards.at(from).foundation;
      const move: Move = { id: random.uuid(), accountId, kind: "account", generation: 0, from, to };
      await moveAccount(move, pauseMs, this.#ends(move), clock);
    }
    return from;
  }

  /** Reads the moves of the databases that are there. Waits for one that hangs only a moment. Never fails. */
  async look(): Promise<void> {
    let stopWaiting = () => {};
    const moment = new Promise<void>((resolve) => {
      stopWaiting = this.#clock.after(momentMs, resolve);
    });
    await Promise.all(this.#readAll().map((read) => Promise.race([read, moment])));
    stopWaiting();
  }

  #readAll(): Promise<void>[] {
    return this.#shards.numbers.map((number) =>
      this.#read(number).catch((error: unknown) =>
        this.#logger.debug({ error, shard: number }, "moves of accounts could not be read"),
      ),
    );
  }

  async #read(number: number): Promise<void> {
    if (await this.#known.at(number).read((move) => this.#places.note(move))) {
      this.#areWhole = false;
    }
  }

  /**
   * Continues moves that others left unfinished in a database, and sends after an account money and debts that turned
   * up where it was. First mends moves that a database has forgotten because it was restored to a state before them.
   */
  async attend(number: number): Promise<void> {
    await this.#mend();
    const { storage, clock, random } = this.#shards.at(number).foundation;
    const departure = createDeparture(storage, clock);
    for (const move of await this.#known.at(number).findOpen(new Date(clock.now()))) {
      await this.#goOn(move, departure);
    }
    for (const accountId of await departure.findRests()) {
      const to = this.#places.locate(accountId);
      if (to !== number) {
        const move: Move = { id: random.uuid(), accountId, kind: "rest", generation: 0, from: number, to };
        if (await departure.leaveRest(move)) {
          await this.#finish(move);
        }
      }
    }
  }

  async #mend(): Promise<void> {
    if (this.#areWhole) {
      return;
    }
    this.#areWhole = true;
    try {
      await mendMoves(this.#shards, this.#places, { ends: (move) => this.#ends(move), logger: this.#logger });
    } catch (error) {
      this.#areWhole = false;
      throw error;
    }
  }

  async #goOn(move: OpenMove, departure: Departure): Promise<void> {
    if (move.state === "sent") {
      await this.#finish(move);
    } else if (move.isLate && (await this.#hasCome(move))) {
      await this.#shards.at(move.from).books.ledger.callIn(move.accountId);
      await this.#finish(move);
    } else if (move.isLate) {
      await departure.cancel(move);
      await this.#tell(move);
    }
  }

  /**
   * Whether an account has arrived where it goes: then it has left, whatever the database says that it is closed in.
   */
  async #hasCome(move: Move): Promise<boolean> {
    const to = this.#shards.find(move.to);
    // While that database is away the account is opened, because it most likely never left.
    return (
      to !== undefined &&
      createArrival(to.foundation)
        .hasCome(move)
        .catch(() => false)
    );
  }

  async #finish(move: Move): Promise<void> {
    try {
      await finish(move, this.#ends(move));
    } catch (error) {
      const { id, accountId, from, to } = move;
      this.#logger.error({ error, move: id, accountId, from, to }, "an account is on its way and cannot arrive yet");
    }
  }

  #ends(move: Move): MoveEnds {
    const [from, to] = [this.#shards.at(move.from), this.#shards.at(move.to)];
    return {
      departure: createDeparture(from.foundation.storage, from.foundation.clock),
      arrival: createArrival(to.foundation),
      ledger: from.books.ledger,
      refreshPrices: async () => {
        await from.books.prices.refresh();
        await to.books.prices.refresh();
      },
      tell: () => this.#tell(move),
    };
  }

  /** Has all cores look for moves. Never fails: a core that does not hear of it looks by itself soon. */
  async #tell({ from, to }: Move): Promise<void> {
    const told = [from, to].map(async (number) => {
      await this.#shards.at(number).books.announcements.announce(announcement);
    });
    await Promise.allSettled([...told, this.look()]);
  }
}
