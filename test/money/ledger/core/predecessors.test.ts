import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { systemRandom } from "#lib/ids/random.ts";
import { systemClock } from "#lib/time/clock.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { openJournal } from "#src/money/journal/open-journal.ts";
import { Usage } from "#src/storage/entities/metering/usage.ts";
import { eventually } from "../../../support/eventually.ts";
import { silentLogger } from "../../../support/loggers.ts";
import { databases } from "../../databases.ts";
import { never, openMetering, request, usd } from "../../fixture.ts";

const newDatabase = databases();

test("a process on a copy of a living core's journal is refused, and 5,000 tokens are charged as 5,000", async () => {
  const url = await newDatabase("postgresql");
  const directory = mkdtempSync(join(tmpdir(), "tollgate-copy-"));
  const copy = mkdtempSync(join(tmpdir(), "tollgate-copy-"));
  const open = (at: string) => {
    const journal = openJournal(at, { clock: systemClock, random: systemRandom, logger: silentLogger });
    return { journal, metering: () => openMetering({ url, clock: systemClock, journal, coreId: journal.coreId }) };
  };
  const first = open(directory);
  const living = await first.metering();
  const account = await living.account({ paid: 10 * usd });
  const wanted = request(account, { inputTokens: 10, outputTokens: 10_000 });
  const hold = await living.ledger.hold(wanted, never);
  hold.progress({ inputTokens: 10, outputTokens: 300 });
  const { size } = first.journal;
  await eventually("the note is in the file", () => first.journal.size !== size);

  cpSync(directory, copy, { recursive: true });
  const second = open(copy);
  expect((await second.journal.read(await living.store.identify())).running).toHaveLength(1);
  await expect(second.metering()).rejects.toThrow("is another process's, which runs");
  await hold.settle({ inputTokens: 10, outputTokens: 5000 }, "completed");
  const receipts = await eventually("the charge is stored, which its journal may promise before", async () => {
    const found = await living.storage.orm.em.fork().findAll(Usage);
    return found.length > 0 ? found : undefined;
  });
  expect(receipts).toMatchObject([{ outputTokens: 5000, status: "completed", shortfall: 0 }]);
  expect(await reconcile(living.storage)).toMatchObject({ ok: true, debtPicoUsd: "0" });
  await living.close();
  for (const each of [directory, copy]) {
    rmSync(each, { recursive: true, force: true });
  }
}, 90_000);
