import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { openExport } from "#src/cli/admin/money/export/export-file.ts";
import { columnsOf, type FormatName, formats } from "#src/cli/admin/money/export/formats.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tollgate-export-"));
});
afterAll(() => rm(directory, { recursive: true }));

const row = (id: string) => ({ id, note: 'a "quoted", text', count: 3, nothing: null, parts: [1, 2] });
const columns = columnsOf(row(""));

test("CSV leaves lists out, puts what needs it in quotes, and leaves a null empty", () => {
  expect(formats.csv.header(columns)).toBe("id,note,count,nothing");
  expect(formats.csv.line(row(""))).toBe('"","a ""quoted"", text",3,');
});

test("any fields that are written as CSV are read again", () => {
  const text = fc.string({ unit: "binary" }).map((value) => value.replace(/[\r\n]/g, ""));
  fc.assert(
    fc.property(text, text, text, (a, b, c) => {
      const line = formats.csv.line({ a, b, c });
      expect(formats.csv.read(line, ["a", "b", "c"])).toEqual({ a, b, c });
      expect(formats.csv.read(line, ["a", "b"])).toBeUndefined();
    }),
  );
});

describe.each(["jsonl", "csv"] as const)("%s", (name: FormatName) => {
  const format = formats[name];
  const file = (of: string) => join(directory, `${of}.${name}`);
  const write = async (path: string, rows: readonly object[], resume = false) => {
    const opened = await openExport(path, format, { columns, resume });
    await opened.write(rows as Record<string, unknown>[]);
    await opened.close();
    return opened.last?.id;
  };

  test("a file that was cut off anywhere goes on behind its last whole line", async () => {
    const whole = file("whole");
    await write(whole, ["a", "b", "c"].map(row));
    const bytes = await readFile(whole);
    for (let length = 0; length <= bytes.length; length++) {
      const path = file("cut");
      await writeFile(path, bytes.subarray(0, length));
      const last = await write(path, [], true);
      const left = ["a", "b", "c"].slice(last === undefined ? 0 : ["a", "b", "c"].indexOf(String(last)) + 1);
      await write(path, left.map(row), true);
      expect((await readFile(path)).equals(bytes)).toBe(true);
    }
  });

  test("a file that is there is not written over, and one of something else is refused", async () => {
    const path = file("there");
    await write(path, [row("a")]);
    await expect(write(path, [row("b")])).rejects.toThrow(/is there already/);
    await writeFile(path, "something else\n");
    await expect(write(path, [row("b")], true)).rejects.toThrow(/not written by this command/);
    expect(await readFile(path, "utf8")).toBe("something else\n");
  });
});

test("an export is its user's alone", async () => {
  const path = join(directory, "private.csv");
  const file = await openExport(path, formats.csv, { columns, resume: false });
  await file.close();
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});
