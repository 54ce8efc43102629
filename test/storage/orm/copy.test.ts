import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { SqlEntityManager } from "@mikro-orm/sql";
import { Client } from "pg";
import { NIL, v7 } from "uuid";
import { Setting } from "#src/storage/entities/setting.ts";
import { copyMoment, copyStorage } from "#src/storage/orm/copy.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { PostgresqlStorage, Storage } from "#src/storage/storage.ts";
import { databases } from "../../money/databases.ts";
import { block, pause } from "../../support/pause.ts";

// A copy of a server's tables while cores run, with statements that may take half a second.

const answerMs = 500;
const newDatabase = databases();

let url: string;
let source: PostgresqlStorage;
let target: Storage;
let other: Client;
beforeEach(async () => {
  url = await newDatabase("postgresql");
  source = (await openStorage(url, { connectMs: 10_000, answerMs })) as PostgresqlStorage;
  target = await openStorage(await newDatabase("sqlite"));
  other = new Client({ connectionString: url });
  await other.connect();
});
afterEach(async () => {
  await other.end();
  await Promise.all([source.close(), target.close()]);
});

/** The function that runs another one once. */
function once(run: () => void): () => void {
  let hasRun = false;
  return () => {
    if (!hasRun) {
      hasRun = true;
      run();
    }
  };
}

test("a table takes longer to copy than a statement may", async () => {
  await other.query("insert into setting select 'name ' || n, repeat('x', 1000) from generate_series(1, 5000) n");
  const stand = once(() => block(3 * answerMs, "storing the rows takes longer than a statement may"));
  const counts = await copyMoment(source, target, (done) => {
    if (done >= 1000) {
      stand();
    }
  });
  expect(counts).toMatchObject({ setting: 5000 });
  expect(await target.orm.em.fork().count(Setting)).toBe(5000);
});

test("counting the rows may take longer than a statement may", async () => {
  await other.query("insert into setting values ('name', 'value')");
  await other.query("begin");
  await other.query("lock table setting in access exclusive mode");
  const copying = copyMoment(source, target);
  await pause(3 * answerMs, "the count waits longer than a statement may");
  await other.query("rollback");
  expect(await copying).toMatchObject({ setting: 1 });
});

test("a day of receipts that leaves meanwhile is in the copy, because it leaves afterwards", async () => {
  const runId = v7();
  await other.query(
    `insert into usage (request_id, run_id, account_id, key_id, model, input_tokens, output_tokens, cost, shortfall, status,
       settled_at) values ($1::text, $1::text::uuid, $2, '', 'm', 1, 1, 0, 0, 'completed', now())`,
    [runId, NIL],
  );
  const { rows } = await other.query<{ place: string }>("select tableoid::regclass::text as place from usage");
  let leaving: Promise<unknown> | undefined;
  const leave = once(() => {
    leaving = other
      .query(`set lock_timeout = '100ms'; alter table usage detach partition ${rows[0]?.place}`)
      .catch((error: unknown) => error);
    block(answerMs, "the day leaves while the copy waits");
  });
  expect(await copyMoment(source, target, leave)).toMatchObject({ usage: 1 });
  expect(await leaving).toMatchObject({ code: "55P03" });
});

test("a target with rows is told by their table, and stays as it was", async () => {
  await other.query("insert into setting values ('name', 'value')");
  await target.orm.em.fork().insert(Setting, { name: "name", value: "of the target" });
  await expect(copyMoment(source, target)).rejects.toThrow("the target is in use: its table setting has rows");
  expect(await target.orm.em.fork().find(Setting, {})).toMatchObject([{ value: "of the target" }]);
});

test.each(["sqlite", "postgresql"] as const)(
  "the days of receipts are found in %s by no statement that is given up after a while",
  async (dialect) => {
    const from = await openStorage(await newDatabase(dialect));
    const to = await openStorage(await newDatabase("postgresql"));
    const yesterday = Date.now() - 86_400_000;
    const runId = v7({ msecs: yesterday });
    await from.orm.em.fork().execute(
      `insert into usage (request_id, run_id, account_id, key_id, model, input_tokens, output_tokens, cost, shortfall, status,
         settled_at) values (?, ?, ?, '', 'm', 1, 1, 0, 0, 'completed', ?)`,
      [runId, runId, NIL, from.dialect === "sqlite" ? yesterday : new Date(yesterday)],
    );
    const { execute } = SqlEntityManager.prototype;
    const spy = jest.spyOn(SqlEntityManager.prototype, "execute").mockImplementation(function (
      this: SqlEntityManager,
      ...call: Parameters<typeof execute>
    ) {
      return /from usage where/.test(String(call[0]))
        ? Promise.reject(new Error("it takes too long"))
        : execute.apply(this, call);
    } as typeof execute);
    try {
      expect(await copyStorage(from, to)).toMatchObject({ usage: 1 });
      const [row] = await to.orm.em
        .fork()
        .execute<{ place: string }[]>("select tableoid::regclass::text as place from usage");
      expect(row?.place).toContain(new Date(yesterday).toISOString().slice(0, 10).replaceAll("-", ""));
    } finally {
      spy.mockRestore();
      await Promise.all([from.close(), to.close()]);
    }
  },
);
