import { describe, expect, test } from "@jest/globals";
import { systemRandom } from "#lib/ids/random.ts";
import type { Logger } from "#lib/logger.ts";
import { rulesOf } from "#src/money/books/proof/rules/rules.ts";
import { beginPace, SharedProof } from "#src/money/books/proof/shared-proof.ts";
import type { StoredSlice } from "#src/money/model/store/wallet.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { WorkLease } from "#src/storage/work-lease.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { databases, dialects } from "../../databases.ts";

const newDatabase = databases();
const minute = 60_000;

/** A core's share in the proof of the books of a database, and what it shows of it. */
function core(storage: Storage, clock: ManualClock, unknown: StoredSlice[] = []) {
  const shown: string[] = [];
  const paused = { times: 0 };
  const logger: Logger = {
    ...{ debug() {}, info() {}, warn() {} },
    error: (_, message) => void shown.push(`alarm: ${message}`),
  };
  const lease = new WorkLease({ storage, clock, random: systemRandom, name: "proof" });
  const proof = new SharedProof({
    ...{ storage, lease, clock, logger },
    ledger: { unknownSlices: async () => unknown },
    sealer: { sealDue: async () => {} },
    beginPace: () => async () => {
      paused.times += 1;
    },
    observer: {
      reconciled: ({ ok }) => void shown.push(`proved ${ok}`),
      provedElsewhere: (_, ok) => void shown.push(`heard ${ok}`),
    },
  });
  return { proof, lease, shown, paused };
}

test.each([
  { parts: 100, tookMs: 160, endMs: 160_000 },
  { parts: 5000, tookMs: 160, endMs: 3_600_000 },
])("a proof of $parts parts leaves nine times its own time, but ends within its hour", async (proof) => {
  let now = 0;
  const after = (ms: number, act: () => void) => {
    now += ms;
    act();
    return () => {};
  };
  const pace = beginPace({ monotonic: () => now, after });
  for (let at = 0; at < proof.parts; at++) {
    now += proof.tookMs;
    await pace();
  }
  const nineTimes = 10 * proof.parts * proof.tookMs;
  expect(now).toBeLessThanOrEqual(proof.endMs);
  expect(now).toBeGreaterThanOrEqual(Math.min(nineTimes, 1_800_000));
});

describe.each(dialects)("%s", (dialect) => {
  test("one core proves for all, the others show its result, and an hour later any of them proves again", async () => {
    const clock = new ManualClock(Date.now());
    const storage = await openStorage(await newDatabase(dialect));
    const [one, two] = [core(storage, clock), core(storage, clock)];
    for (const { proof } of [one, two, one, two]) {
      await proof.look();
    }
    expect([one.shown, two.shown]).toEqual([["proved true"], ["heard true"]]);

    clock.advance(59 * minute);
    await two.proof.look();
    expect(two.shown).toEqual(["heard true"]);
    clock.advance(minute);
    await two.proof.look();
    await one.proof.look();
    expect([one.shown, two.shown]).toEqual([
      ["proved true", "heard true"],
      ["heard true", "proved true"],
    ]);
    await storage.close();
  });

  test("it leaves time to requests between its steps", async () => {
    const storage = await openStorage(await newDatabase(dialect));
    const { proof, shown, paused } = core(storage, new ManualClock(Date.now()));
    await proof.look();
    expect(shown).toEqual(["proved true"]);
    expect(paused.times).toBeGreaterThan(10);
    await storage.close();
  });

  test("a core that comes later wants a proof from after its start, but not at once", async () => {
    const clock = new ManualClock(Date.now());
    const storage = await openStorage(await newDatabase(dialect));
    await core(storage, clock).proof.look();
    clock.advance(minute);
    const late = core(storage, clock);
    await late.proof.look();
    clock.advance(9 * minute);
    await late.proof.look();
    expect(late.shown).toEqual(["heard true", "proved true"]);
    await storage.close();
  });

  test("while a core proves, no other does; when it dies, another takes over", async () => {
    const clock = new ManualClock(Date.now());
    const storage = await openStorage(await newDatabase(dialect));
    const [dying, other] = [core(storage, clock), core(storage, clock)];
    expect(await dying.lease.hold()).toBe(true);
    await other.proof.look();
    expect(other.shown).toEqual([]);
    clock.advance(16_000);
    await other.proof.look();
    expect(other.shown).toEqual(["proved true"]);
    await storage.close();
  });

  test("every core shows a finding; money that a core does not know of is its own", async () => {
    const clock = new ManualClock(Date.now());
    const storage = await openStorage(await newDatabase(dialect));
    const [one, forgetful] = [
      core(storage, clock),
      core(storage, clock, [{ id: "s", accountId: "a", granted: 1, unspent: 5 }]),
    ];
    await one.proof.look();
    await forgetful.proof.look();
    expect(one.shown).toEqual(["proved true"]);
    expect(forgetful.shown).toEqual(["heard true", "proved false", "alarm: the books do not add up"]);
    await storage.orm.em
      .fork()
      .execute(
        "insert into account (id, name, name_key, max_keys, created_at, paid_total, debt) values (?, '', ?, 1, ?, 0, 7)",
        ["00000000-0000-7000-8000-000000000001", Buffer.alloc(0), new Date()],
      );
    clock.advance(60 * minute);
    await one.proof.look();
    const third = core(storage, clock);
    await third.proof.look();
    expect(one.shown).toEqual(["proved true", "proved false", "alarm: the books do not add up"]);
    expect(third.shown).toEqual(["heard false"]);
    await storage.close();
  });

  test("rules about receipts, and those about sums, have a snapshot together, each other one its own; none is kept for the next", async () => {
    const clock = new ManualClock(Date.now());
    const storage = await openStorage(await newDatabase(dialect));
    let [made, open, most] = [0, 0, 0];
    const counted: Storage = {
      ...storage,
      async snapshot(reach) {
        const snapshot = await storage.snapshot(reach);
        made++;
        most = Math.max(most, ++open);
        return { ...snapshot, close: () => snapshot.close().finally(() => open--) };
      },
    };
    await core(counted, clock).proof.look();
    const steps = new Set(rulesOf(dialect).map(({ ofDay, name }) => ofDay ?? name));
    expect([made, open, most]).toEqual([steps.size + 2, 0, 1]);
    await storage.close();
  });
});
