import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { systemRandom } from "#lib/ids/random.ts";
import { openCoreJournal } from "#src/money/journal/core-journal.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { silentLogger } from "../../support/loggers.ts";
import { never, openMetering, request, run, usd } from "../fixture.ts";

test("a core on a database in memory that was killed with requests under way starts again", async () => {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-memory-"));
  const clock = new ManualClock(Date.now());
  const open = async () => {
    const journal = openCoreJournal(directory, true, { clock, random: systemRandom, logger: silentLogger });
    return openMetering({ clock, journal, coreId: journal.coreId });
  };
  const tokens = { inputTokens: 10, outputTokens: 10 };
  const killed = await open();
  await killed.ledger.hold(request(await killed.account({ paid: usd }), tokens), never);
  await clock.advanceAsync(2000);

  const next = await open();
  await clock.until(run(next.ledger, request(await next.account({ paid: usd }), tokens)));
  expect(readdirSync(directory)).toEqual([]);
  await clock.until(next.close());
  await killed.storage.close();
  rmSync(directory, { recursive: true });
});
