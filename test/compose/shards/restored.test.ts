import { expect, test } from "@jest/globals";
import pg from "pg";
import { v7 } from "uuid";
import { createArrival } from "../../../src/metering/moves/arrival.ts";
import { createDeparture } from "../../../src/metering/moves/departure.ts";
import { request, run, usd } from "../../metering/fixture.ts";
import { eventually } from "../../support/eventually.ts";
import { type Core, newAccount, newUrls, openCore, pauseMs, prove, spend, tokens } from "./two-databases.ts";

// One of two databases goes back to a backup while cores run on both.

/** Runs statements on the server of a database, with nobody in that database. */
async function alone(url: string, work: (name: string, admin: pg.Client) => Promise<void>): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  const admin = new pg.Client({ connectionString: Object.assign(new URL(url), { pathname: "/postgres" }).href });
  await admin.connect();
  try {
    await admin.query(`alter database ${name} allow_connections false`);
    await admin.query("select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = $1", [name]);
    await work(name, admin);
    await admin.query(`alter database ${name} allow_connections true`);
  } finally {
    await admin.end();
  }
}

const backUp = (url: string) =>
  alone(url, async (name, admin) => {
    await admin.query(`create database ${name}_backup template ${name}`);
  });

const restore = (url: string) =>
  alone(url, async (name, admin) => {
    await admin.query(`alter database ${name} rename to ${name}_lost`);
    await admin.query(`alter database ${name}_backup rename to ${name}`);
  });

/** Everybody looks until all that a restore left behind is mended. */
async function mend({ moves }: Core): Promise<void> {
  await eventually("moves are looked after", async () => {
    try {
      await moves.look();
      await moves.attend(0);
      await moves.attend(1);
      return true;
    } catch {
      return false; // a pool finds out that its connections are broken
    }
  });
}

/** Of each database: whether the account is open there, and its money. */
const inEach = ({ parts }: Core, accountId: string) =>
  Promise.all(
    parts.map(async ({ storage, funds }) => {
      const [row] = await storage.orm.em
        .fork()
        .execute<{ open: boolean }[]>("select move_id is null as open from account where id = ?", [accountId]);
      return [row?.open, row && (await funds.statement(accountId)).balance];
    }),
  );

const eleven = 11n * BigInt(usd);

/** The account is open in the second database alone, with all of its money. */
async function expectMoved(core: Parameters<typeof inEach>[0], accountId: string): Promise<void> {
  expect(await inEach(core, accountId)).toEqual([
    [false, 0n],
    [true, eleven],
  ]);
}

test("where an account left, restored to before it: a core that starts takes it out again, and its money is there once", async () => {
  const urls = await newUrls();
  const before = await openCore(urls, false);
  const accountId = await newAccount(before);
  await backUp(urls[0]);
  await mend(before);
  await before.moves.move(accountId, 1, pauseMs);
  await restore(urls[0]);
  const core = await openCore(urls, false);
  await mend(core);
  expect(core.moves.locate(accountId)).toBe(1);
  await expectMoved(core, accountId);
  await spend(core, accountId);
  await core.ledger.caughtUp();
  expect((await prove(core, accountId)).total).toBe(eleven);
  await core.moves.move(accountId, 0, pauseMs);
  await spend(core, accountId);
  await core.ledger.caughtUp();
  expect((await prove(core, accountId)).total).toBe(eleven);
}, 120_000);

test("where an account went, restored to before it came: it comes again as it left, and what is spent since is lost there alone", async () => {
  const urls = await newUrls();
  const core = await openCore(urls, false);
  const accountId = await newAccount(core);
  await backUp(urls[1]);
  await mend(core);
  await core.moves.move(accountId, 1, pauseMs);
  await spend(core, accountId);
  await core.ledger.caughtUp();
  await restore(urls[1]);
  await mend(core);
  await expectMoved(core, accountId);
  await spend(core, accountId);
  await core.ledger.caughtUp();
  expect(await prove(core, accountId)).toMatchObject({ total: eleven, receipts: [0, 1] });
}, 120_000);

test("where an account went, restored to before it left there at first: it is as it was then, and its money is there once", async () => {
  const urls = await newUrls();
  const core = await openCore(urls, false);
  const accountId = await newAccount(core);
  await core.moves.move(accountId, 1, pauseMs);
  await backUp(urls[1]);
  await mend(core);
  await core.moves.move(accountId, 0, pauseMs);
  await core.moves.move(accountId, 1, pauseMs);
  await restore(urls[1]);
  await mend(core);
  await expectMoved(core, accountId);
  await spend(core, accountId);
}, 120_000);

test("restored to the middle of a move that came: it has left, and is not opened again", async () => {
  const urls = await newUrls();
  const core = await openCore(urls, false);
  const accountId = await newAccount(core);
  const [from, to] = core.parts;
  const departure = createDeparture(from.storage, from.time);
  const move = { id: v7(), accountId, kind: "account" as const, generation: 0, from: 0, to: 1 };
  await departure.close(move, new Date(0));
  await backUp(urls[0]);
  const parcel = await eventually("it leaves", () => departure.leave(move).catch(() => undefined));
  await createArrival({ storage: to.storage, clock: to.time, random: { uuid: v7 } as never }).arrive(
    move,
    parcel as never,
  );
  await departure.done(move);
  await restore(urls[0]);
  const anew = await openCore(urls, false);
  for (const each of [core, anew]) {
    await mend(each);
    expect(each.moves.locate(accountId)).toBe(1);
  }
  await expectMoved(core, accountId);
  await run(anew.ledger, request(accountId, tokens));
  await anew.ledger.caughtUp();
  expect((await prove(anew, accountId)).total).toBe(eleven);
}, 120_000);

test("an account that is open where it is to move to stays, until it is taken out there", async () => {
  const urls = await newUrls();
  const core = await openCore(urls, false);
  const accountId = await newAccount(core);
  await backUp(urls[0]);
  await mend(core);
  await core.moves.move(accountId, 1, pauseMs);
  await restore(urls[0]);
  await eventually("it is refused", () =>
    core.moves.move(accountId, 0, pauseMs).then(
      () => false,
      (error: Error) => error.message.includes("has it already"),
    ),
  );
  await mend(core);
  await core.moves.move(accountId, 0, pauseMs);
  expect((await prove(core, accountId)).total).toBe(eleven);
}, 120_000);
