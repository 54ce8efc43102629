import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { ReconcileResponse } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { systemClock } from "#lib/time/clock.ts";
import { dayMs } from "#lib/time/days.ts";
import { expireLots } from "#src/money/books/expiry.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { pause } from "../../support/pause.ts";
import { expectBooks, proveStatement } from "../books/bill/prove-statement.ts";
import { databases, dialects } from "../databases.ts";
import { type Metering, never, openMetering, request, testModel, usd } from "../fixture.ts";

// Money moves in every way that it can, on all cores at once, and whoever looks meanwhile finds that it adds up.

const snapshots = 12;
/** At once on a core: as many as leave the looks a processor. More make each look longer, and work all the while. */
const spenders = 4;
const newDatabase = databases();
const upTo = (most: number) => Math.floor(Math.random() * (most + 1));

/** What a busy account may be refused. */
const refusals = [Reason.BALANCE_EXHAUSTED, Reason.BALANCE_HELD, Reason.REFUND_EXCEEDS_BALANCE];

async function refusable(run: Promise<unknown>): Promise<void> {
  await run.catch((error: unknown) => {
    if (!refusals.includes(readDetail(error)?.reason as Reason)) {
      throw error;
    }
  });
}

async function spend({ ledger }: Metering, accountId: string): Promise<void> {
  const hold = await ledger.hold(request(accountId, { inputTokens: upTo(2000), outputTokens: 1 + upTo(3000) }), never);
  await pause(upTo(5), "an answer takes a while");
  if (upTo(9) === 0) {
    return hold.release();
  }
  hold.progress({ inputTokens: 10, outputTokens: 0 });
  // Once in a while the engine produces more than it may.
  const outputTokens = upTo(19) === 0 ? hold.outputTokens + 500 : upTo(hold.outputTokens);
  await hold.settle({ inputTokens: 10, outputTokens }, "completed");
}

async function move({ funds, prices, storage, time }: Metering, accountId: string): Promise<void> {
  const reference = v7();
  switch (upTo(5)) {
    case 0:
      return void (await funds.credit({ accountId, kind: "paid", amount: usd, reference }));
    case 1: {
      const expiresAt = new Date(Date.now() + 50 + upTo(300));
      return void (await funds.credit({ accountId, kind: "grant", amount: 1 + upTo(usd / 100), reference, expiresAt }));
    }
    case 2:
      return void (await funds.refund({ accountId, amount: 1 + upTo(usd), reference }));
    case 3:
      return void (await prices.set(testModel, { input: 100_000 + upTo(200_000), output: 200_000 + upTo(200_000) }));
    case 5:
      return void (await funds.setCreditLine(accountId, upTo(2) * upTo(usd / 100)));
    case 4:
      return void (await expireLots({ storage, clock: time, random: systemRandom }));
  }
}

const sum = (proof: ReconcileResponse) =>
  [proof.balancePicoUsd, proof.spentPicoUsd, proof.refundedPicoUsd, proof.expiredPicoUsd].reduce(
    (total, amount) => total + BigInt(amount),
    -BigInt(proof.debtPicoUsd),
  );

describe.each(dialects)("%s", (dialect) => {
  test("every look at the books while money moves finds that they add up", async () => {
    const url = await newDatabase(dialect);
    const first = await openMetering({ url, clock: systemClock });
    const cores = dialect === "sqlite" ? [first] : [first, await openMetering({ url, clock: systemClock })];
    const began = Date.now();
    const accounts: string[] = [];
    for (let at = 0; at < 4; at++) {
      accounts.push(await first.account({ free: usd / 1000, paid: at === 0 ? 0 : usd }));
    }
    const anyAccount = () => accounts[upTo(accounts.length - 1)] ?? "";

    const proofs: ReconcileResponse[] = [];
    const work = (workers: number, job: (core: Metering, accountId: string) => Promise<void>) =>
      cores.flatMap((core) =>
        Array.from({ length: workers }, async () => {
          while (proofs.length < snapshots) {
            await refusable(job(core, anyAccount()));
          }
        }),
      );
    const prove = (accountId: string) => {
      const now = Date.now();
      const span = { from: began - (began % dayMs), to: now + 2 * dayMs - (now % dayMs), now };
      return proveStatement(first.storage, accountId, span);
    };
    const look = async () => {
      while (proofs.length < snapshots) {
        proofs.push(await reconcile(first.storage, first.ledger));
        await prove(anyAccount());
      }
    };
    try {
      await Promise.all([...work(spenders, spend), ...work(1, move), look()]);
    } finally {
      for (const core of cores) {
        await core.ledger.close();
      }
    }

    proofs.push(await reconcile(first.storage));
    expect(proofs.flatMap(({ findings }) => findings)).toEqual([]);
    expect(proofs.filter((proof) => sum(proof) !== BigInt(proof.grantedPicoUsd))).toEqual([]);
    expect(new Set(proofs.map(({ spentPicoUsd }) => spentPicoUsd)).size).toBeGreaterThan(snapshots / 2);
    // A gift stands beside what is owed on a credit line, and pays all other debts.
    const em = first.storage.orm.em.fork();
    const owing = await em.execute<{ id: string }[]>("select id from account where debt > 0");
    const statements = await Promise.all(owing.map(({ id }) => first.funds.statement(id)));
    expect(statements.filter(({ balance }) => balance !== 0n)).toEqual([]);
    for (const accountId of accounts) {
      await expectBooks(first.storage, accountId, (await prove(accountId)).at(-1));
    }
    for (const core of cores) {
      await core.storage.close();
    }
  }, 240_000);
});
