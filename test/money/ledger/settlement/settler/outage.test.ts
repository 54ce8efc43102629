import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { systemClock } from "#lib/time/clock.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { openJournal } from "#src/money/journal/open-journal.ts";
import { Usage } from "#src/storage/entities/metering/usage.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { type Door, startDoor } from "../../../../support/door.ts";
import { eventually } from "../../../../support/eventually.ts";
import { silentLogger } from "../../../../support/loggers.ts";
import { pause } from "../../../../support/pause.ts";
import { databases } from "../../../databases.ts";
import { never, openMetering, request, usd } from "../../../fixture.ts";

const newDatabase = databases();

/** Shorter than an outage of the tests. */
const patience = { connectMs: 500, answerMs: 500 };

/** The ways in which the database goes away and comes back. */
const outages: Record<string, (door: Door) => [away: () => unknown, back: () => unknown]> = {
  "refuses connections": (door) => [() => door.shut(), () => door.open()],
  "has vanished without a word and is found at once elsewhere": (door) => [() => door.forsake(), () => {}],
  "takes connections and says nothing": (door) => [() => door.hang(), () => door.open()],
};

test.each(Object.entries(outages))(
  "while the database %s charges are promised by the journal, and each is stored once when it is back",
  async (_, outage) => {
    const door = await startDoor(await newDatabase("postgresql"));
    const [away, back] = outage(door);
    const directory = mkdtempSync(join(tmpdir(), "tollgate-outage-"));
    const journal = openJournal(directory, { clock: systemClock, random: systemRandom, logger: silentLogger });
    const metering = await openMetering({
      ...{ url: door.url, patience, clock: systemClock, journal, coreId: journal.coreId },
    });
    // One has leased all that it will spend, so that charges go on in an outage; the other leases again and again.
    const accounts = [await metering.account({ paid: 100 * usd }), await metering.account({ paid: 100 * usd })];
    const [rich = ""] = accounts;
    (
      await metering.ledger.hold(request(rich, { inputTokens: 0, outputTokens: (50 * usd) / 250_000 }), never)
    ).release();
    const acknowledged: string[] = [];
    const spend = async (account: string) => {
      const wanted = request(account, { inputTokens: 100, outputTokens: 100 });
      const hold = await metering.ledger.hold(wanted, never);
      await pause(5, "an answer takes a while");
      await hold.settle({ inputTokens: 100, outputTokens: 50 }, "completed");
      acknowledged.push(wanted.requestId);
    };
    let stopping = false;
    let refused = 0;
    const refusals = new Set<Reason | undefined>();
    const load = Array.from({ length: 16 }, async (_, at) => {
      while (!stopping) {
        await spend(accounts[at % 2] ?? rich).catch(async (error: unknown) => {
          refused++;
          refusals.add(readDetail(error)?.reason);
          await pause(20, "a refused caller asks again a little later");
        });
      }
    });

    const more = (what: string) => {
      const enough = acknowledged.length + 32;
      return eventually(what, () => acknowledged.length >= enough);
    };
    // A core that hears announcements again has given its free money back: it may have none when the next outage begins.
    let promised = 0;
    for (let times = 0; times < 3; times++) {
      await more("charges are stored");
      const [before, enough] = [acknowledged.length, acknowledged.length + refused + 32];
      await away();
      await eventually("requests end", () => acknowledged.length + refused >= enough);
      await pause(patience.answerMs, "statements under way end in vain");
      promised += acknowledged.length - before;
      await back();
    }
    expect(promised).toBeGreaterThan(load.length); // more than were under way when an outage began
    await more("charges are stored again");
    stopping = true;
    await Promise.all(load);
    // On connections of its own: the core may have some that died with the database and that nobody has used since.
    const books = await openStorage(door.url);
    const stored = async () => new Set((await books.orm.em.fork().findAll(Usage)).map(({ requestId }) => requestId));
    await eventually("all that was acknowledged is stored", async () => {
      const ids = await stored();
      return acknowledged.every((id) => ids.has(id));
    });
    await metering.close(); // what it could not store yet would be left to the journal
    const receipts = await stored();

    expect([...refusals].filter((reason) => reason !== Reason.LEDGER_UNAVAILABLE)).toEqual([]);
    expect(new Set(acknowledged).size).toBe(acknowledged.length);
    const proof = await reconcile(books);
    expect(proof).toMatchObject({ ok: true, debtPicoUsd: "0", receipts: BigInt(receipts.size) });
    expect(proof.spentPicoUsd).toBe(String(receipts.size * (100 * 200_000 + 50 * 250_000)));
    await books.close();
    await door.shut();
    rmSync(directory, { recursive: true, force: true });
  },
  120_000,
);
