import { cent } from "#lib/money/cents.ts";
import { lie } from "./bank.ts";
import type { PaymentWorld } from "./world.ts";

/** Something that people, banks and the operator do to an account. */
interface Deed {
  /** How often it is done, relative to others. */
  readonly weight: number;
  run(world: PaymentWorld, accountId: string): void;
}

export const deeds: readonly Deed[] = [
  {
    // Somebody wants to pay, and presses twice when nothing comes.
    weight: 25,
    run(world, accountId) {
      const { dice } = world;
      const order = { accountId, amount: dice.between(500, 9000) * cent, requestId: dice.uuid() };
      const request = { ...order, returnUrl: "https://console.example" };
      world.call(async ({ checkouts }) => {
        const { id } = await checkouts.open(request).catch(() => checkouts.open(request));
        world.bank.show(id);
      });
    },
  },
  {
    // Somebody pays, perhaps another amount than was asked for: a coupon, or an edit in the dashboard.
    weight: 25,
    run(world, accountId) {
      const { dice, bank } = world;
      const session = world.pick(bank.sessions, accountId);
      if (session?.state === "open" && dice.chance(0.2)) {
        session.amount = dice.between(100, 9000) * cent;
        session.currency = dice.chance(0.2) ? "eur" : "usd";
      }
      if (session?.isShown) {
        dice.chance(0.9) ? bank.pay(session) : bank.expire(session);
      }
    },
  },
  {
    weight: 10,
    run(world, accountId) {
      const session = world.pick(world.bank.sessions, accountId);
      if (session !== undefined) {
        world.deliver(lie(world.dice.uuid(), { session: session.id }, accountId), 1);
      }
    },
  },
  {
    weight: 10,
    run(world, accountId) {
      const { auto, dice, bank, ledger } = world;
      const held = ledger.of(accountId);
      world.call(async ({ autoTopUps }) => {
        held.setsUnderWay++;
        await autoTopUps.set(accountId, auto).finally(() => {
          held.setsUnderWay--;
          held.isSetAnew = true;
        });
      });
      dice.chance(0.2) ? bank.declining.add(accountId) : bank.declining.delete(accountId);
    },
  },
  {
    weight: 15,
    run: ({ ledger, dice }, accountId) => ledger.spend(accountId, BigInt(dice.between(0, 6000) * cent)),
  },
  {
    weight: 8,
    run(world, accountId) {
      const { dice } = world;
      const amount = dice.chance(0.5) ? 0 : dice.between(1, 3000) * cent;
      const request = { accountId, reference: "", amount, requestId: dice.uuid() };
      world.call(({ refunds }) => refunds.refund(request));
    },
  },
  {
    // In the dashboard, and at banks.
    weight: 7,
    run(world, accountId) {
      const { dice, bank } = world;
      const payment = world.pick(bank.payments, accountId);
      if (payment === undefined) {
        return;
      }
      const left = bank.left(payment);
      const part = dice.chance(0.5) ? left : cent * dice.between(0, left / cent);
      dice.pick([
        () => bank.giveBack(payment, "refund", part),
        () => bank.giveBack(payment, "dispute", left),
        () => bank.comeBack(payment),
      ])();
    },
  },
];
