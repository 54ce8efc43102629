import type { KeyObject } from "node:crypto";
import { Dice } from "../world/dice.ts";
import { History } from "../world/history.ts";
import { SimulatedProcess } from "../world/process.ts";
import { Timeline } from "../world/timeline.ts";
import { Region } from "./bank/region.ts";
import { privateKey } from "./bank/statements.ts";
import { RegionStore } from "./bank/store.ts";
import { type Customer, makeCustomers, type Wealth } from "./customers.ts";
import { Home } from "./home/home.ts";
import { emptyState, type HomeState } from "./home/state.ts";
import { Operators } from "./operators.ts";
import { times } from "./protocol.ts";
import { Traffic } from "./traffic.ts";
import { Truth } from "./truth.ts";
import { Wan } from "./wan.ts";

/** The size of a world. */
export interface Shape {
  readonly regions: number;
  readonly customers: number;
  readonly wealth?: Wealth | undefined;
  /** Milliseconds after which a revoked key is refused even without the home shard. Absent: at the end of the term. */
  readonly revocationMs?: number;
  readonly tell?: (line: string) => void;
}

/** A home shard, regions and the network between them. Everything that happens follows from the seed. */
export class World {
  readonly timeline = new Timeline();
  readonly dice: Dice;
  readonly history: History;
  readonly truth: Truth;
  readonly wan: Wan;
  readonly regions: Region[] = [];
  readonly keys = new Map<string, KeyObject>();
  readonly customers: readonly Customer[];
  readonly traffic: Traffic;
  readonly operators: Operators;
  /** Undefined: it is away. */
  home: Home | undefined;
  homeState: HomeState;
  readonly homeTime = { offsetMs: 0, rate: 1 };
  /** Destroyed stores, and what nobody will ever hear of each of their slices. */
  readonly destroyed: {
    readonly region: Region;
    readonly store: RegionStore;
    readonly unheard: Map<string, number>;
  }[] = [];
  /** When a clock of a region last jumped. */
  readonly jumpedAt = new Map<string, number>();
  isHealed = false;

  constructor(seed: number, shape: Shape) {
    const { timeline } = this;
    this.dice = new Dice(seed);
    this.history = new History(timeline, shape.tell);
    const { history } = this;
    this.truth = new Truth(timeline, history);
    const { revocationMs } = shape;
    this.truth.revocationMs = revocationMs ?? times.term;
    this.truth.isSilent = (name) => this.home?.state.regions.get(name)?.isSilent ?? false;
    this.truth.readAtHome = (purseId) => this.home?.books.lendable(purseId) ?? 0;
    this.wan = new Wan({ timeline, dice: this.dice.fork("network"), history });
    const names = Array.from({ length: shape.regions }, (_, at) => `region ${at + 1}`);
    this.homeState = emptyState(names);
    for (const name of names) {
      const key = privateKey(this.dice.fork(`${name}'s key`).bytes(32));
      this.keys.set(name, key);
      const send = (exchange: Parameters<Home["hear"]>[0]) =>
        this.wan.send(
          name,
          exchange.reports.length + exchange.wishes.length,
          `exchange ${exchange.number} of ${name}`,
          () => this.home?.process.reach(() => this.home?.hear(exchange)),
        );
      this.regions.push(new Region(name, { timeline, history, truth: this.truth, key, send, revocationMs }));
    }
    this.customers = makeCustomers(shape.customers, shape.regions, this.dice.fork("customers"), shape.wealth);
    const { regions, customers } = this;
    this.traffic = new Traffic({ timeline, dice: this.dice.fork("traffic"), regions, customers });
    this.operators = new Operators(this, this.dice.fork("operators"));
    this.startHome();
    for (const region of regions) {
      region.start();
    }
  }

  /** Starts the home shard from its disks, unless it runs. */
  startHome(): void {
    if (this.home?.process.alive) {
      return;
    }
    const { timeline, history } = this;
    const process = new SimulatedProcess("home", timeline, this.homeTime);
    history.note(`home starts, generation ${this.homeState.generation}`);
    this.home = new Home({
      ...{ state: this.homeState, process },
      send: (notice) =>
        this.wan.send(notice.region, notice.grants.length + notice.purses.length, `notice to ${notice.region}`, () =>
          this.regions.find(({ name }) => name === notice.region)?.hear(notice),
        ),
      note: (what) => history.note(what),
      onCome: (purseId, lendable) => this.truth.comesHome(purseId, lendable),
    });
  }

  stopHome(): void {
    this.home?.process.kill();
    this.home = undefined;
  }

  /** Resets the home shard to an earlier state: only it forgets what it has said since. */
  failOver(to: HomeState): void {
    const generation = this.homeState.generation + 1;
    this.stopHome();
    this.homeState = Object.assign(to, { generation });
    for (const region of this.homeState.regions.values()) {
      this.homeState.unheard.add(region.name);
      region.isSilent = false; // it may have been heard in what was lost: its term may still run
    }
    this.operators.lookBack();
    this.countLost();
    this.startHome();
  }

  /** Kills a region. Without its journal, it is unknown what ran. */
  kill(region: Region, { keepsJournal }: { keepsJournal: boolean }): void {
    region.kill();
    this.truth.died(region.name);
    for (const { requestId, cost } of region.store.journal.values()) {
      this.truth.noted.set(requestId, keepsJournal ? cost : 0);
    }
    if (!keepsJournal) {
      region.store.journal.clear();
    }
  }

  /** Destroys a region's disks: it starts from nothing. */
  destroy(region: Region): void {
    this.kill(region, { keepsJournal: false });
    this.destroyed.push({ region, store: region.store, unheard: new Map() });
    region.store = new RegionStore(`${region.name}'s store ${this.destroyed.length + 1}`);
    this.countLost();
  }

  /** Counts what was lost to the operator: what destroyed stores knew and the home shard does not. */
  countLost(): void {
    for (const { region, store, unheard } of this.destroyed) {
      for (const [key, { lot, epoch, spent }] of store.slices) {
        const heard = this.homeState.lots.get(lot.id)?.slices.get(`${region.name}/${epoch}`)?.spent ?? 0;
        const missing = spent - heard;
        this.truth.lost(lot.id, missing - (unheard.get(key) ?? 0));
        unheard.set(key, missing);
      }
    }
  }

  /** Ends all faults, and starts what does not run. */
  heal(): void {
    this.isHealed = true;
    this.history.note("all faults end");
    for (const { name } of this.regions) {
      Object.assign(this.wan.link(name), { lost: 0, doubled: 0, late: 0, slow: 0, isDown: false });
    }
    this.startHome();
    for (const region of this.regions) {
      region.start();
    }
  }
}
