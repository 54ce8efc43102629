import { execFile } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "@jest/globals";
import { Pool } from "pg";
import { forgetAnswers } from "#src/storage/workarounds/kept-answers.ts";
import { databases } from "../../money/databases.ts";

const newDatabase = databases();
const file = new URL("../../../src/storage/workarounds/kept-answers.ts", import.meta.url).href;
const statements = 300;
let url: string;
beforeAll(async () => {
  url = await newDatabase("postgresql");
}, 60_000);

/**
 * How many of the answers' last rows are still there after collections of the young space, once nobody has them any more. In a
 * process of its own with room for all of it: a full collection, which V8 makes once the old space is full, takes them, too.
 */
async function countKept(mend: string): Promise<number> {
  const program = `
    import { Pool } from "pg";
    import { forgetAnswers } from ${JSON.stringify(file)};
    const pool = new Pool({ connectionString: ${JSON.stringify(url)}, max: 1 });
    ${mend}
    const client = await pool.connect();
    const text = "select n, repeat('x', 50) || n as text from generate_series(1, 50) n where n > $1";
    const rows = [];
    for (let at = 0; at < ${statements}; at++) {
      const answer = await client.query({ text, values: [0] });
      rows.push(new WeakRef(answer.rows.at(-1)));
      if (at % 10 === 0) {
        gc({ type: "minor" });
      }
    }
    await new Promise((resolve) => setImmediate(resolve)); // those that a turn has looked at stay for that turn
    gc({ type: "minor" });
    gc({ type: "minor" });
    console.log(rows.filter((row) => row.deref() !== undefined).length);
    client.release();
    await pool.end();`;
  const flags = ["--expose-gc", "--initial-heap-size=512", "--input-type=module", "-e", program];
  return Number((await promisify(execFile)(process.execPath, flags, { timeout: 30_000 })).stdout);
}

/** A pool has ended before its connection has: the server, which is stopped next, would still say so on it. */
const endConnection = (pool: Pool) => Promise.all([once(pool, "remove"), pool.end()]);

test("rows of answers are forgotten by a collection of the young space, which pg alone keeps", async () => {
  expect(await countKept("")).toBeGreaterThan(statements / 2);
  expect(await countKept("forgetAnswers(pool);")).toBeLessThan(statements / 10);
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
