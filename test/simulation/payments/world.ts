import type { Checkout } from "#src/checkout/checkout.ts";
import type { ChargeOrder, ProviderEvent } from "#src/checkout/provider.ts";
import type { SimulatedServer } from "../database/server.ts";
import { Dice } from "../world/dice.ts";
import { History } from "../world/history.ts";
import { Timeline } from "../world/timeline.ts";
import { Bank } from "./bank.ts";
import { Core } from "./core.ts";
import { deeds } from "./deeds.ts";
import { Ledger } from "./ledger.ts";
import { autoTopUpOf } from "./settings.ts";

const minute = 60_000;

/** People who pay, a provider that tells of it, and cores that credit it. Everything follows from the seed. */
export class PaymentWorld {
  readonly timeline = new Timeline();
  readonly dice: Dice;
  readonly history: History;
  readonly bank: Bank;
  readonly ledger = new Ledger();
  readonly cores: readonly Core[];
  readonly accounts: readonly string[];
  readonly auto: ReturnType<typeof autoTopUpOf>;
  isHealed = false;

  constructor(seed: number, server: SimulatedServer, tell?: (line: string) => void) {
    const { timeline } = this;
    server.empty();
    server.now = () => timeline.beginning + timeline.now;
    this.dice = new Dice(seed, () => timeline.beginning + timeline.now);
    this.history = new History(timeline, tell);
    this.bank = new Bank(this.dice.fork("bank", () => timeline.beginning + timeline.now));
    this.auto = autoTopUpOf({ isSmall: seed % 2 === 0 });
    this.accounts = Array.from({ length: 1 + (seed % 3) }, () => this.dice.uuid());
    for (const id of this.accounts) {
      this.ledger.open(id);
    }
    const { dice, history, bank, ledger } = this;
    const around = { timeline, dice, history, server, bank, ledger };
    this.cores = Array.from({ length: 1 + (seed % 3) }, (_, at) => new Core(`core ${at + 1}`, around));
    bank.tell = (type, about) => this.#tell(type, about);
    bank.onCharge = (order) => this.#judgeCharge(order);
  }

  /** An event goes out, perhaps late, twice, or never where a sweep makes up for it. */
  #tell(type: string, about: NonNullable<ProviderEvent["about"]>): void {
    const { dice } = this;
    const mayBeLost = !/^(charge|refund)\./.test(type);
    if (mayBeLost && dice.chance(0.3)) {
      this.history.fault(`${type} is lost`);
      return;
    }
    const event = { id: `evt_${dice.uuid()}`, type, about, ignored: "", claim: undefined };
    for (let copies = dice.chance(0.3) ? 2 : 1; copies > 0; copies--) {
      this.deliver(event, Math.min(dice.exponential(dice.chance(0.2) ? minute : 500), 1.5 * minute));
    }
  }

  /** Delivers an event to a core after a while, again and again until it is taken. */
  deliver(event: ProviderEvent, ms: number): void {
    const { timeline, dice, history } = this;
    timeline.after(ms, () => {
      const again = () => this.deliver(event, dice.exponential(10_000));
      const { process, checkout } = dice.pick(this.cores);
      if (!process.alive) {
        again();
        return;
      }
      let isAnswered = false;
      const answer = (outcome: string) => {
        if (!isAnswered) {
          isAnswered = true;
          history.note(`${event.type} is ${outcome}`);
          if (outcome === "postponed") {
            again();
          }
        }
      };
      process.onDeath(() => answer("postponed"));
      checkout.events.handle(event).then(
        ({ outcome }) => answer(outcome),
        () => answer("postponed"),
      );
    });
  }

  /**
   * One charge a crossing: every one before it is in the ledger, and was at its bound since, unless it was set anew, or
   * the charge before would have lifted it there and money left meanwhile.
   */
  #judgeCharge({ accountId }: ChargeOrder): void {
    const { auto, bank, ledger, history } = this;
    const mine = [...bank.payments.values()].filter((one) => one.isAuto && one.accountId === accountId);
    if (mine.some(({ reference }) => !ledger.movements.has(reference))) {
      history.violation("payments", `${accountId} is charged twice at one crossing`);
    }
    const held = ledger.of(accountId);
    const mayBeBelow = held.isSetAnew || held.setsUnderWay > 0 || held.wasLifted;
    if (mine.length > 0 && !mayBeBelow && held.highest < BigInt(auto.below)) {
      history.violation("payments", `${accountId} is charged again below its bound`);
    }
    held.highest = held.balance;
    held.wasLifted = held.told.some((balance) => balance + BigInt(auto.amount) >= BigInt(auto.below));
    held.isSetAnew = false;
    if (BigInt(auto.amount * (mine.length + 1)) > auto.monthly) {
      history.violation("payments", `${accountId} is charged more than the month allows`);
    }
  }

  /** Something that people, banks and the operator do. */
  act(): void {
    const { dice } = this;
    dice.pickWeighted(deeds).run(this, dice.pick(this.accounts));
  }

  /** Calls a core, if one is found that lives. */
  call(ask: (checkout: Checkout) => Promise<unknown>): void {
    const { process, checkout } = this.dice.pick(this.cores);
    if (process.alive) {
      ask(checkout).catch((error: unknown) => this.history.note(`refused: ${String(error).slice(0, 80)}`));
    }
  }

  /** One of an account's things at the provider. Undefined: there is none. */
  pick<T extends { readonly accountId: string }>(from: ReadonlyMap<string, T>, accountId: string): T | undefined {
    const mine = [...from.values()].filter((one) => one.accountId === accountId);
    return mine.length === 0 ? undefined : this.dice.pick(mine);
  }

  /** Something that goes wrong for a while. */
  harm(): void {
    const { dice, timeline, history } = this;
    const core = dice.pick(this.cores);
    const drawn = dice.fraction();
    if (drawn < 0.5) {
      history.fault(`${core.name}: kill -9 in the middle`);
      core.process.onDeath(() => timeline.after(dice.exponential(5000), () => core.start()));
      core.process.killAfter(dice.between(0, 20));
      return;
    }
    const on = drawn < 0.75 ? core.storageFaults : core.providerFaults;
    const how = dice.pick([{ lost: 0.3 }, { replyLost: 0.3 }, { late: 0.1 }, { slow: 0.3 }, { isDown: true }]);
    history.fault(`${core.name}: ${on === core.storageFaults ? "database" : "provider"} ${JSON.stringify(how)}`);
    Object.assign(on, how);
    timeline.after(dice.exponential(10_000), () => {
      Object.assign(on, { lost: 0, replyLost: 0, late: 0, slow: 0, isDown: false });
    });
  }

  /** Does something again and again until the world is healed. */
  repeat(meanMs: number, run: () => void): void {
    this.timeline.after(this.dice.exponential(meanMs), () => {
      if (!this.isHealed) {
        run();
        this.repeat(meanMs, run);
      }
    });
  }
}
