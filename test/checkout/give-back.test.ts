import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { systemRandom } from "#lib/ids/random.ts";
import type { Dependencies } from "#src/checkout/dependencies.ts";
import { Payments } from "#src/checkout/payments.ts";
import { GiveBack } from "#src/checkout/returns/give-back.ts";
import type { Refunds } from "#src/checkout/returns/refunds.ts";
import type { Withdrawals } from "#src/checkout/returns/withdrawals.ts";
import { Account, closedReason } from "#src/storage/entities/account.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { databases } from "../money/databases.ts";
import { ManualClock } from "../support/clocks/manual-clock.ts";
import { silentLogger } from "../support/loggers.ts";
import { makePoorAccount } from "./poor-account.ts";
import { usd } from "./shop.ts";

// What is paid while its account is being closed.

const newDatabase = databases();

test("what is paid while the money of an account that closes goes back goes back, too", async () => {
  const storage = await openStorage(await newDatabase("sqlite"));
  const paid = [usd(25)];
  const back: bigint[] = [];
  const refunds = {
    async refund() {
      const amount = paid.shift();
      if (amount === undefined) {
        throw failure(Reason.REFUND_EXCEEDS_BALANCE, "Nothing is left.");
      }
      back.push(amount);
      if (back.length === 1) {
        paid.push(usd(10)); // while the provider is asked
      }
      return [{ state: "done", amount: Number(amount) }];
    },
  } as unknown as Refunds;
  const giveBack = new GiveBack({ storage, random: systemRandom }, refunds, {} as Withdrawals);
  await giveBack.all(await makePoorAccount(storage), "close");
  expect(back).toEqual([usd(25), usd(10)]);
  await storage.close();
});

test("a payment that comes in at the moment in which its account is closed is told: nobody else would see it", async () => {
  const storage = await openStorage(await newDatabase("sqlite"));
  const accountId = await makePoorAccount(storage);
  const told: string[] = [];
  const close = { frozenAt: new Date(), frozenReason: closedReason };
  const topUp = () => storage.orm.em.fork().nativeUpdate(Account, accountId, close);
  const deps = {
    ...{ storage, accounts: { topUp }, isBooked: async () => true, clock: new ManualClock(), random: systemRandom },
    logger: { ...silentLogger, error: (_: object, message: string) => told.push(message) },
  } as unknown as Dependencies;
  const amount = Number(usd(25));
  const found = { state: "paid", reference: "pi_1", accountId, order: undefined, currency: "usd" } as const;
  const { outcome } = await new Payments(deps).credit({ ...found, credit: amount, charged: amount });
  expect([outcome, told]).toEqual(["credited", [expect.stringContaining("while its account was closed")]]);
  await storage.close();
});
