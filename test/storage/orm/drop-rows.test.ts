import { expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Event } from "#src/storage/entities/event.ts";
import { dropRows } from "#src/storage/orm/drop-rows.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { databases, dialects } from "../../money/databases.ts";

const newDatabase = databases();

test.each(dialects)("%s removes however many rows there are, and no others", async (dialect) => {
  const storage = await openStorage(await newDatabase(dialect));
  const em = storage.orm.em.fork();
  const event = (type: string) => ({ id: v7(), type, accountId: null, body: "", at: new Date(), spread: true });
  for (const type of ["old", "old", "old", "new"]) {
    await em.insertMany(
      Event,
      Array.from({ length: 750 }, () => event(type)),
    );
  }
  await dropRows(storage, Event, { type: "old" });
  await dropRows(storage, Event, { type: "none" });
  expect([await em.count(Event, { type: "old" }), await em.count(Event, {})]).toEqual([0, 750]);
  await storage.close();
});
