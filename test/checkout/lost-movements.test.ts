import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { systemRandom } from "#lib/ids/random.ts";
import type { Accounts, Dependencies } from "#src/checkout/dependencies.ts";
import { Payments } from "#src/checkout/payments.ts";
import { type Provider, RefusedByProvider } from "#src/checkout/provider.ts";
import { Elsewhere } from "#src/checkout/returns/elsewhere.ts";
import { Withdrawals } from "#src/checkout/returns/withdrawals.ts";
import { ProviderPayment } from "#src/storage/entities/checkout/provider-payment.ts";
import { Withdrawal } from "#src/storage/entities/checkout/withdrawal.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { databases, dialects } from "../money/databases.ts";
import { ManualClock } from "../support/clocks/manual-clock.ts";
import { silentLogger } from "../support/loggers.ts";
import { makePoorAccount } from "./poor-account.ts";
import { usd } from "./shop.ts";

// A failover into the past loses what the ledger has acknowledged, before it is noted here that the ledger has it.

const newDatabase = databases();
const none = async () => {};

describe.each(dialects)("%s", (dialect) => {
  let storage: Storage;
  let accountId: string;
  /** The references of movements that the ledger has. */
  const booked = new Set<string>();
  let loses = false;
  let refuses = false;
  const paidBack: string[] = [];
  beforeEach(async () => {
    storage = await openStorage(await newDatabase(dialect));
    accountId = await makePoorAccount(storage);
    booked.clear();
    paidBack.length = 0;
    loses = true;
    refuses = false;
  });
  afterEach(() => storage.close());

  function start() {
    const move = async ({ reference }: { readonly reference: string }) => {
      if (!loses) {
        booked.add(reference);
      }
    };
    const accounts = { topUp: move, refund: move, freezeAccount: none } as unknown as Accounts;
    const provider = {
      refund: {
        make: async ({ id }: { readonly id: string }) => {
          if (refuses) {
            throw new RefusedByProvider("it is too old");
          }
          paidBack.push(id);
          return { id: `re_${id}`, state: "gone" };
        },
        list: async () => [
          { id: "dp_1", kind: "dispute", order: undefined, amount: Number(usd(25)), state: "gone" as const },
        ],
      },
    } as unknown as Provider;
    const deps: Dependencies = {
      ...{ storage, accounts, topUpOrdered: accounts.topUp, provider, announce: none, logger: silentLogger },
      ...{ clock: new ManualClock(), random: systemRandom, isBooked: async (_, reference) => booked.has(reference) },
    };
    const withdrawals = new Withdrawals(deps);
    return { payments: new Payments(deps), withdrawals, elsewhere: new Elsewhere(deps, withdrawals) };
  }

  async function pay(state: "open" | "credited"): Promise<ProviderPayment> {
    const id = systemRandom.uuid();
    const amount = Number(usd(25));
    await storage.orm.em.fork().insert(ProviderPayment, {
      ...{
        id,
        accountId,
        origin: "checkout",
        cause: "buy",
        amount,
        charged: amount,
        state,
        session: "cs_1",
        url: null,
      },
      ...{ reference: state === "open" ? null : "pi_1", problem: null, createdAt: new Date() },
      askAt: state === "open" ? new Date() : null,
    });
    return storage.orm.em.fork().findOneOrFail(ProviderPayment, id);
  }

  async function askBack(): Promise<string> {
    const id = systemRandom.uuid();
    const amount = Number(usd(25));
    await storage.orm.em.fork().insert(Withdrawal, {
      ...{ id, accountId, paymentId: (await pay("credited")).id, kind: "refund", cause: "back 1", amount },
      ...{ paidBack: amount, state: "asked", providerId: null, problem: null },
      ...{ createdAt: new Date(), askAt: new Date() },
    });
    return id;
  }

  test("a payment that the ledger has lost again is not noted as credited, and credited the next time", async () => {
    const { payments } = start();
    const { id: order } = await pay("open");
    const credit = () =>
      payments.credit({
        ...{ state: "paid", reference: "pi_1", accountId, order, currency: "usd" },
        ...{ credit: Number(usd(25)), charged: Number(usd(25)) },
      });
    await expect(credit()).rejects.toThrow("has lost the movement pi_1");
    const row = () => storage.orm.em.fork().findOneOrFail(ProviderPayment, order);
    expect(await row()).toMatchObject({ state: "paid", askAt: expect.any(Date) });
    loses = false;
    expect(await credit()).toMatchObject({ outcome: "credited" });
    expect([...booked]).toEqual(["pi_1"]);
    expect(await row()).toMatchObject({ state: "credited", askAt: null });
  });

  test("a refund that the ledger has lost again pays nothing back before the ledger has it", async () => {
    const { withdrawals } = start();
    const id = await askBack();
    await expect(withdrawals.carryOn(id)).rejects.toThrow("has lost the movement");
    expect(await withdrawals.get(id)).toMatchObject({ state: "asked", askAt: expect.any(Date) });
    expect(paidBack).toEqual([]);
    loses = false;
    expect(await withdrawals.carryOn(id)).toMatchObject({ state: "done" });
    expect(paidBack).toEqual([id]);
    expect([...booked]).toEqual([`refund:${id}`]);
  });

  test("money that is put back, and that the ledger has lost again, is put back the next time", async () => {
    const { withdrawals } = start();
    const id = await askBack();
    await withdrawals.move(id, "asked", { state: "withdrawn" });
    refuses = true;
    await expect(withdrawals.carryOn(id)).rejects.toThrow("has lost the movement");
    expect(await withdrawals.get(id)).toMatchObject({ state: "withdrawn", askAt: expect.any(Date) });
    loses = false;
    expect(await withdrawals.carryOn(id)).toMatchObject({ state: "returned" });
    expect([...booked]).toEqual([`undo:refund:${id}`]);
  });

  test("a dispute that the ledger has lost again is taken out the next time", async () => {
    const { elsewhere } = start();
    const payment = await pay("credited");
    await expect(elsewhere.follow(payment)).rejects.toThrow("has lost the movement dp_1");
    const row = () => storage.orm.em.fork().findOneOrFail(Withdrawal, { providerId: "dp_1" });
    expect(await row()).toMatchObject({ state: "asked", askAt: expect.any(Date) });
    loses = false;
    expect(await elsewhere.follow(payment)).toBe(payment.amount);
    expect([...booked]).toEqual(["dp_1"]);
    expect(await row()).toMatchObject({ state: "done", askAt: null });
  });
});
