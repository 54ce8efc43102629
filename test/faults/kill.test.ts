import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ReceiptStatus } from "#gen/tollgate/metering/v1/usage_pb.js";
import { type DatabaseServer, useServer } from "../../scripts/test-services/postgres-server.ts";
import { eventually } from "../support/eventually.ts";
import { discrepancies } from "./books.ts";
import { Load } from "./load.ts";
import { type Metronome, startMetronome } from "./metronome.ts";
import { startService } from "./service.ts";

// kill -9 of the whole program, in the middle of a hundred streams and while others finish.

const streamCount = 100;
const endless = 100_000;

let postgresql: DatabaseServer;
let metronome: Metronome;
beforeAll(async () => {
  [postgresql, metronome] = await Promise.all([useServer(), startMetronome()]);
}, 240_000);
afterAll(async () => {
  await metronome.close();
  await postgresql.stop();
});

describe.each(["sqlite", "postgresql"] as const)("%s", (dialect) => {
  test("what was acknowledged is billed once, what ran is billed up to its last note, and nothing stays held", async () => {
    const shared = dialect === "sqlite" ? {} : { TOLLGATE_STORAGE_URL: await postgresql.createDatabase() };
    const service = await startService(metronome.url, shared);
    const { account, key } = await service.books.customer(100n);
    const load = new Load(key);
    try {
      load.start(4, service.urls, 40);
      const streams = Array.from({ length: streamCount }, (_, at) =>
        load.stream(service.urls[at % service.urls.length] ?? "", endless),
      );
      await eventually(
        "streams run and others are done",
        () => {
          const far = load.asked.filter(({ seen }) => seen >= 600);
          return far.length >= streamCount && load.acknowledged.length >= 10;
        },
        120,
      );
      await service.kill();
      const counted = new Map(metronome.counted);
      const killed = await Promise.all(streams);
      await load.finish();
      await service.restart();
      // A start waits ten seconds for what its journal has to be charged. The rest, on a busy machine, comes while it serves.
      await eventually("what ran is charged", async () => {
        const charged = await service.books.receiptsOf(load);
        const { account: now } = await service.books.accounts.getAccount({ accountId: account });
        return killed.every(({ name }) => charged.has(name)) && now?.heldPicoUsd === 0n;
      });

      const receipts = await service.books.receiptsOf(load);
      expect(discrepancies(load.acknowledged, receipts)).toEqual([]);
      for (const { name, seen } of killed) {
        const { status, outputTokens } = receipts.get(name) ?? {};
        expect(status).toBe(ReceiptStatus.RECOVERED);
        expect(outputTokens).toBeLessThanOrEqual(counted.get(name) ?? 0);
        expect(outputTokens).toBeGreaterThanOrEqual(seen - 256 - 200); // a note each 256, and a second until it is written
      }
      // What was charged before its client heard anything stands, too: one request of each that waited when the core died.
      const unheard = load.asked.filter(({ status }) => status !== 200).length;
      const charged = await service.books.requests(account);
      expect(charged).toBeGreaterThanOrEqual(receipts.size);
      expect(charged).toBeLessThanOrEqual(receipts.size + unheard);
      const { account: after } = await service.books.accounts.getAccount({ accountId: account });
      expect(after).toMatchObject({ heldPicoUsd: 0n, debtPicoUsd: 0n });
      const proof = await service.books.reconcile();
      expect(proof).toMatchObject({ ok: true, debtPicoUsd: "0" });
      expect(await service.books.budgetSpent(account)).toBe(BigInt(proof.spentPicoUsd));
    } finally {
      await Promise.all([load.finish(), service.stop()]);
      await service.remove();
    }
  }, 240_000);
});
