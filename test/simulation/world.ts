import type { Money } from "#src/compose/core/money/money.ts";
import { type Customer, makeCustomers } from "./cores/customers.ts";
import { Keys } from "./cores/keys.ts";
import { Machine, modelNames } from "./cores/machine.ts";
import { Operators } from "./cores/operators.ts";
import { Retries } from "./cores/retries.ts";
import type { Run } from "./cores/run.ts";
import { storeLimit } from "./cores/stored-keys.ts";
import { Terms } from "./cores/terms.ts";
import { Traffic } from "./cores/traffic.ts";
import type { Ear } from "./database/pool.ts";
import type { SimulatedServer } from "./database/server.ts";
import { Dice } from "./world/dice.ts";
import { History } from "./world/history.ts";
import { News } from "./world/news.ts";
import { Night } from "./world/night.ts";
import type { SimulatedProcess } from "./world/process.ts";
import { Timeline } from "./world/timeline.ts";

/** Why something promised may be lost all the same: the promise does not cover this cause. */
export type Excuse = "unsynced" | "lost journal";

/** When worlds with a night begin: a moment before the midnight that ends a month. */
const eveningBefore = Date.parse("2026-03-31T23:59:40Z");

/** The most machines at a time that run on others' disks or on copies of them. */
const mostTwins = 2;

/** Milliseconds for which a core remembers its charges, less those in which it looks whether any was lost. */
const rememberedMs = 110_000;

/** The least milliseconds between two losses of the server's. */
const backMs = 1000;

/** Machines, a database server, customers and operators. Everything that happens follows from the seed. */
export class World {
  readonly timeline: Timeline;
  readonly dice: Dice;
  readonly history: History;
  readonly server: SimulatedServer;
  readonly machines: Machine[] = [];
  readonly customers: readonly Customer[];
  readonly traffic: Traffic;
  readonly operators: Operators;
  /** Undefined: no account has terms of its own. */
  readonly terms: Terms | undefined;
  /** Undefined: nobody sends a movement of money again. */
  readonly retries: Retries | undefined;
  /** Undefined: keys never change, and cores do not look them up. */
  readonly keys: Keys | undefined;
  /** The server clock's offset from the world's time. */
  serverOffsetMs = 0;
  /** Whether the database ever lost something. */
  wentBack = false;
  /** Whether any clock ever was wrong. */
  clocksMoved = false;
  /** Whether all faults have ended for good. */
  isHealed = false;
  /** Processes that were told to end before all faults had ended. */
  readonly #ending = new Set<SimulatedProcess>();
  readonly #ears = new Set<Ear>();
  readonly isSqlite: boolean;
  readonly #alter: (money: Money) => void;
  /** The most rates that a core's price book keeps in memory. */
  readonly #bookSize: number | undefined;
  readonly #hasRetries: boolean;
  /** Undefined: the world has no night. */
  readonly night: Night | undefined;
  /** Undefined: nobody is told of charges and thresholds. */
  readonly news: News | undefined;
  #twins = 0;
  #twinsEver = 0;
  readonly #crowds = new Set<string>();
  readonly #planned = new Set<() => void>();
  #backAt = Number.NEGATIVE_INFINITY;

  constructor(
    seed: number,
    server: SimulatedServer,
    options: {
      cores: number;
      customers: number;
      isSqlite?: boolean;
      tell?: (line: string) => void;
      alter?: (money: Money) => void;
      bookSize?: number | undefined;
      isNight?: boolean;
      hasNews?: boolean;
      asksAgain?: boolean;
      hasTerms?: boolean;
      hasKeys?: boolean;
      hasLabels?: boolean;
      hasRetries?: boolean;
    },
  ) {
    const timeline = new Timeline(options.isNight === true ? eveningBefore : undefined);
    this.timeline = timeline;
    const { beginning } = timeline;
    this.#alter = options.alter ?? (() => {});
    this.#bookSize = options.bookSize;
    this.isSqlite = options.isSqlite ?? false;
    this.dice = new Dice(seed, () => beginning + timeline.now);
    this.server = server;
    this.history = new History(timeline, options.tell);
    server.empty();
    server.now = () => Math.floor(beginning + timeline.now + this.serverOffsetMs);
    timeline.afterEach = () => server.rollback();
    this.night = options.isNight === true ? new Night({ timeline, machines: this.machines }) : undefined;
    this.news = options.hasNews === true ? new News(this.dice.fork("news"), this.history) : undefined;
    this.#hasRetries = options.hasRetries === true;
    this.customers = makeCustomers(
      options.customers,
      this.dice.fork("customers", () => beginning),
    );
    const parts = { timeline, history: this.history, machines: this.machines, customers: this.customers };
    this.keys =
      options.hasKeys === true
        ? new Keys({ ...parts, dice: this.dice.fork("keys", () => beginning + timeline.now) })
        : undefined;
    for (let at = 1; at <= options.cores; at++) {
      this.#addMachine(`core ${at}`);
    }
    this.traffic = new Traffic({
      ...{ ...parts, dice: this.dice.fork("traffic", () => beginning + timeline.now) },
      asksAgain: options.asksAgain ?? false,
      hasLabels: options.hasLabels ?? false,
    });
    this.traffic.keys = this.keys;
    if (this.night !== undefined) {
      this.night.runs = this.traffic.runs;
    }
    this.operators = new Operators({ ...parts, dice: this.dice.fork("operators"), traffic: this.traffic });
    this.operators.givesFirstLimits = this.night !== undefined;
    if (this.night !== undefined || this.news !== undefined) {
      this.operators.onLimit = (keyId, budget) => storeLimit(server, keyId, budget);
    }
    this.retries = this.#hasRetries
      ? new Retries({ ...parts, dice: this.dice.fork("retries"), operators: this.operators })
      : undefined;
    const mayCost = this.operators.mayCost.bind(this.operators);
    this.terms =
      options.hasTerms === true ? new Terms({ ...parts, dice: this.dice.fork("terms"), server, mayCost }) : undefined;
    for (const model of modelNames) {
      this.operators.mayCost(model, { input: 2_500_000, output: 2_500_000 });
    }
  }

  /** `disk`: another machine's disk, on which it runs, too. Absent: a disk of its own. */
  #addMachine(name: string, disk?: Machine["disk"]): Machine {
    const { timeline, server, history } = this;
    const around = {
      timeline,
      server,
      dice: this.dice,
      history,
      ears: this.#ears,
      alter: this.#alter,
      isSqlite: this.isSqlite,
      bookSize: this.#bookSize,
      night: () => this.night,
      news: () => this.news,
      hasKeys: this.keys !== undefined,
      hasRetries: this.#hasRetries,
    };
    const machine = new Machine(name, around, 1 + (this.dice.fraction() - 0.5) / 500, disk);
    this.machines.push(machine);
    return machine;
  }

  /**
   * Starts a machine with a copy of another one's disk, for a while. Returns false when there are enough such machines.
   */
  addTwin(machine: Machine, ms: number): boolean {
    return this.#addGuest(ms, () => {
      const twin = this.#addMachine(`twin ${++this.#twinsEver} of ${machine.name}`);
      twin.disk.restore(machine.disk.copy());
      return twin;
    });
  }

  /** Starts a second process on a machine's own disk, for a while. Returns false when there are enough of them. */
  addSecond(machine: Machine, ms: number): boolean {
    return this.#addGuest(ms, () =>
      this.#addMachine(`process ${++this.#twinsEver} beside ${machine.name}`, machine.disk),
    );
  }

  #addGuest(ms: number, add: () => Machine): boolean {
    if (this.#twins >= mostTwins) {
      return false;
    }
    this.#twins++;
    const guest = add();
    guest.start();
    this.timeline.after(ms, () => {
      guest.isGone = true;
      this.excuse("lost journal", guest);
      guest.kill();
      this.machines.splice(this.machines.indexOf(guest), 1);
      this.#twins--;
    });
    return true;
  }

  /** Whether there may be a bulk action of this kind, which each world has once. */
  mayCrowd(of: "lots" | "prices"): boolean {
    const may = !this.#crowds.has(of);
    this.#crowds.add(of);
    return may;
  }

  /** The time on a correct clock, in milliseconds since the epoch. */
  get trueTime(): number {
    return this.timeline.beginning + this.timeline.now;
  }

  breakConnections(): void {
    for (const ear of this.#ears) {
      ear.broke();
    }
    this.#ears.clear();
  }

  /** From now on a machine's promises may be lost, as its journal is. */
  excuse(why: Excuse, { name }: Machine): void {
    for (const run of this.traffic.runs) {
      const isDurable = why === "unsynced" && run.state === "acknowledged";
      if (run.machine === name && !isDurable) {
        run.mayBeLost = true;
      }
    }
  }

  /**
   * Excuses what was stored and is gone after a failover to an earlier state. A core makes its own charges of the last two
   * minutes again, unless it ends before.
   */
  excuseWhatIsGone(): void {
    const stored = new Set(
      this.server.tables.all<{ id: string }>("select run_id as id from usage").map(({ id }) => id),
    );
    for (const run of this.traffic.runs) {
      const stillRuns = run.process.alive && (run.state === "held" || run.state === "asked");
      if (stillRuns || stored.has(run.hold?.runId ?? "")) {
        continue;
      }
      if (this.#isRemembered(run)) {
        run.process.onDeath(() => {
          run.mayBeLost ||= !this.isHealed || this.#ending.has(run.process);
        });
      } else {
        run.mayBeLost = true;
      }
    }
    const paid = new Set(
      this.server.tables.all<{ id: string }>("select reference as id from payment").map(({ id }) => id),
    );
    for (const deed of this.operators.deeds) {
      deed.mayBeLost ||= !paid.has(deed.reference);
    }
  }

  #isRemembered({ process, state, settledAt }: Run): boolean {
    const remembers = process.alive && this.night === undefined;
    return remembers && state === "acknowledged" && this.timeline.now - (settledAt ?? 0) < rememberedMs;
  }

  /** Whether the server may lose something again: a database that loses something each second is unusable. */
  mayGoBack(): boolean {
    const may = this.timeline.now - this.#backAt >= backMs;
    this.#backAt = may ? this.timeline.now : this.#backAt;
    return may;
  }

  /** Lets a fault strike after `ms`, or when all faults end, if that is sooner. */
  plan(ms: number, strike: () => void): void {
    const once = () => {
      if (this.#planned.delete(once)) {
        strike();
      }
    };
    this.#planned.add(once);
    this.timeline.after(ms, once);
  }

  /** Ends all faults once those that were planned have struck, and starts what does not run. */
  heal(): void {
    for (const strike of this.#planned) {
      strike();
    }
    this.isHealed = true;
    for (const { process, life } of this.machines) {
      if (process?.alive && life === undefined) {
        this.#ending.add(process);
      }
    }
    this.serverOffsetMs = 0;
    if (this.news !== undefined) {
      this.news.isHealed = true;
    }
    Object.assign(this.traffic.engines, { lies: 0, nonsense: 0 });
    for (const machine of this.machines) {
      Object.assign(machine.network, { lost: 0, replyLost: 0, late: 0, slow: 0, isDown: false, losesReplyOf: "" });
      Object.assign(machine.disk.faults, { room: Number.POSITIVE_INFINITY, failsToSync: false, lies: false });
      machine.time.offsetMs = 0;
      machine.process?.killAfter(Number.POSITIVE_INFINITY);
      if (!machine.process?.alive) {
        machine.startAfter(1);
      }
    }
  }
}
