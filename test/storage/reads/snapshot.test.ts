import { describe, expect, test } from "@jest/globals";
import { Setting } from "#src/storage/entities/setting.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { pieceSize, type Row } from "#src/storage/reads/snapshot.ts";
import { databases, dialects } from "../../money/databases.ts";
import { pause } from "../../support/pause.ts";

const newDatabase = databases();
const settings = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => ({ name: String(from + at).padStart(6, "0"), value: "é\n'" }));

describe.each(dialects)("%s", (dialect) => {
  test("reads one moment in pieces, whatever is written meanwhile", async () => {
    const storage = await openStorage(await newDatabase(dialect));
    await storage.orm.em.fork().insertMany(Setting, settings(0, 2.5 * pieceSize));
    const snapshot = await storage.snapshot();
    const pieces: (readonly Row[])[] = [];
    for await (const piece of snapshot.rows("select name, value from setting where name < ? order by name", [
      "999999",
    ])) {
      if (pieces.length === 0) {
        await storage.orm.em.fork().insertMany(Setting, settings(5000, 10));
      }
      pieces.push(piece);
    }
    expect(pieces.map((piece) => piece.length)).toEqual([pieceSize, pieceSize, pieceSize / 2]);
    expect(pieces[2]?.at(-1)).toEqual({ name: "000249", value: "é\n'" });
    const counted = [];
    for await (const [row] of snapshot.rows("select count(*) as count from setting")) {
      counted.push(Number(row?.count));
    }
    expect(counted).toEqual([2.5 * pieceSize]);
    await snapshot.close();
    await storage.close();
  });

  test("a reader may stop early, and a wrong query is an error", async () => {
    const storage = await openStorage(await newDatabase(dialect));
    await storage.orm.em.fork().insertMany(Setting, settings(0, 1500));
    const snapshot = await storage.snapshot();
    for await (const piece of snapshot.rows("select name from setting order by name")) {
      expect(piece).toHaveLength(pieceSize);
      break;
    }
    const counts = [];
    for await (const [row] of snapshot.rows("select count(*) as count from setting")) {
      counts.push(Number(row?.count));
    }
    expect(counts).toEqual([1500]);
    await expect(snapshot.rows("select name from nowhere").next()).rejects.toThrow("nowhere");
    await snapshot.close();
    await storage.close();
  });

  test("a fifth reader waits until one of four is done", async () => {
    const storage = await openStorage(await newDatabase(dialect));
    const open = await Promise.all([1, 2, 3, 4].map(() => storage.snapshot()));
    let fifth = false;
    const waiting = storage.snapshot().then((snapshot) => {
      fifth = true;
      return snapshot;
    });
    await pause(50, "it may not come yet");
    expect(fifth).toBe(false);
    await open[0]?.close();
    await (await waiting).close();
    for (const snapshot of open.slice(1)) {
      await snapshot.close();
    }
    await storage.close();
  });
});
