import { once } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Pool, type QueryConfig } from "pg";
import { forgetAnswers } from "#src/storage/workarounds/kept-answers.ts";
import { databases } from "../../money/databases.ts";

const newDatabase = databases();
const statements = 300;
const text = "select n, repeat('x', 50) || n as text from generate_series(1, 50) n where n > $1";
let url: string;
beforeAll(async () => {
  url = await newDatabase("postgresql");
}, 60_000);

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as (options?: { type: "minor" }) => void;
afterAll(() => collect());

/** How many of the answers' last rows are still there after collections of the young space, once nobody has them any more. */
async function countKept(mend: (pool: Pool) => void, more: Partial<QueryConfig & { query_timeout: number }> = {}) {
  const pool = new Pool({ connectionString: url, max: 1 });
  mend(pool);
  const client = await pool.connect();
  const rows: WeakRef<object>[] = [];
  for (let at = 0; at < statements; at++) {
    const answer = await client.query({ text, values: [0], ...more });
    rows.push(new WeakRef(answer.rows.at(-1) as object));
    if (at % 10 === 0) {
      collect({ type: "minor" });
    }
  }
  await new Promise((resolve) => setImmediate(resolve)); // those that a turn has looked at stay for that turn
  collect({ type: "minor" });
  collect({ type: "minor" });
  const kept = rows.filter((row) => row.deref() !== undefined).length;
  client.release();
  await endConnection(pool);
  return kept;
}

/** A pool has ended before its connection has: the server, which is stopped next, would still say so on it. */
const endConnection = (pool: Pool) => Promise.all([once(pool, "remove"), pool.end()]);

test("rows of answers are forgotten by a collection of the young space, which pg alone keeps", async () => {
  // A full collection, which V8 may make at any moment, takes them, too: one of three looks goes without.
  const looks = [await countKept(() => {}), await countKept(() => {}), await countKept(() => {})];
  expect(Math.max(...looks)).toBeGreaterThan(statements / 2);
  expect(await countKept(forgetAnswers)).toBeLessThan(statements / 10);
}, 60_000);

test("statements are answered, refused and parameterised as by pg, and those with a callback of their own keep it", async () => {
  const pool = new Pool({ connectionString: url, max: 1 });
  forgetAnswers(pool);
  const client = await pool.connect();
  expect((await client.query("select 1 as n")).rows).toEqual([{ n: 1 }]);
  expect((await client.query("select $1::int as n", [2])).rows).toEqual([{ n: 2 }]);
  expect((await client.query({ text: "select $1::int as n" }, [3])).rows).toEqual([{ n: 3 }]);
  const again = { text: "select $1::int as n", values: [4] };
  for (let time = 0; time < 2; time++) {
    expect((await client.query(again)).rows).toEqual([{ n: 4 }]);
  }
  await expect(client.query("select nothing")).rejects.toMatchObject({ code: "42703" });
  await expect(client.query(undefined as unknown as string)).rejects.toThrow(TypeError);
  const called = await new Promise((resolve) => {
    void client.query("select 5 as n", (_: Error, { rows }: { rows: unknown[] }) => resolve(rows));
  });
  expect(called).toEqual([{ n: 5 }]);
  client.release();
  expect((await pool.query("select $1::int as n", [6])).rows).toEqual([{ n: 6 }]);
  await endConnection(pool);
}, 60_000);
