import { type Checkout, createCheckout } from "#src/checkout/checkout.ts";
import type { SimulatedServer } from "../database/server.ts";
import { simulatedStorage } from "../database/storage.ts";
import { type NetworkFaults, Wire } from "../database/wire.ts";
import type { Dice } from "../world/dice.ts";
import type { History } from "../world/history.ts";
import { SimulatedProcess } from "../world/process.ts";
import type { Timeline } from "../world/timeline.ts";
import type { Bank } from "./bank.ts";
import type { Ledger } from "./ledger.ts";

/** The parts of the world that a core uses. */
export interface Surroundings {
  readonly timeline: Timeline;
  readonly dice: Dice;
  readonly history: History;
  readonly server: SimulatedServer;
  readonly bank: Bank;
  readonly ledger: Ledger;
}

const noFaults = { lost: 0, replyLost: 0, late: 0, slow: 0, underWay: 0, isDown: false, losesReplyOf: "" };

/** A core that sells credit. It starts again whenever it dies. */
export class Core {
  readonly name: string;
  /** Faults on its way to the database and the ledger, and to the provider. */
  readonly storageFaults: NetworkFaults = { ...noFaults };
  readonly providerFaults: NetworkFaults = { ...noFaults };
  readonly #around: Surroundings;
  #lives = 0;
  process: SimulatedProcess;
  checkout: Checkout;

  constructor(name: string, around: Surroundings) {
    this.name = name;
    this.#around = around;
    this.process = this.#begin();
    this.checkout = this.#open();
  }

  start(): void {
    if (!this.process.alive) {
      this.process = this.#begin();
      this.checkout = this.#open();
    }
  }

  #begin(): SimulatedProcess {
    const { timeline } = this.#around;
    return new SimulatedProcess(`${this.name}, life ${++this.#lives}`, timeline, { offsetMs: 0, rate: 1 });
  }

  #open(): Checkout {
    const { timeline, history, server, bank, ledger } = this.#around;
    const { process } = this;
    const dice = this.#around.dice.fork(process.name, () => process.now());
    const noted = (fault: string) => history.fault(`${this.name}: ${fault}`);
    const wire = new Wire({ timeline, process, dice: dice.fork("storage"), faults: this.storageFaults, noted });
    const line = new Wire({ timeline, process, dice: dice.fork("provider"), faults: this.providerFaults, noted });
    const checkout = createCheckout(
      {
        storage: simulatedStorage(server, wire, undefined as never, true),
        accounts: ledger.serve(wire),
        topUpOrdered: ledger.serve(wire).topUp,
        isBooked: async (_, reference) => ledger.movements.has(reference),
        provider: bank.serve(line),
        announce: async () => {},
        clock: process,
        random: dice,
        logger: history.logger(this.name, process),
      },
      { hold: async () => true, release: async () => {} }, // every core sweeps: the worst that a lease may let happen
    );
    checkout.sweep.start();
    return checkout;
  }

  /** Heals its ways, and starts it anew. */
  heal(): void {
    Object.assign(this.storageFaults, noFaults);
    Object.assign(this.providerFaults, noFaults);
    this.process.kill();
    this.start();
  }
}
