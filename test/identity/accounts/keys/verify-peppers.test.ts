import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { verifyPeppers } from "#src/identity/accounts/keys/verify-peppers.ts";
import { Setting } from "#src/storage/entities/setting.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { databases, dialects } from "../../../money/databases.ts";

const first = { version: 1, secret: "first" };
const second = { version: 2, secret: "second" };

const newDatabase = databases();

describe.each(dialects)("%s", (dialect) => {
  let storage: Storage;
  beforeAll(async () => {
    storage = await openStorage(await newDatabase(dialect));
  }, 60_000);
  afterAll(() => storage.close());

  test("a pepper is the same at every start, under its version", async () => {
    await Promise.all([verifyPeppers(storage, [first]), verifyPeppers(storage, [first])]);
    await verifyPeppers(storage, [second, first]);
    await verifyPeppers(storage, [second]);
    const wrong = [{ version: 2, secret: "first" }];
    await expect(verifyPeppers(storage, wrong)).rejects.toThrow(
      /not the one that this database knows as version 2: .*3:/,
    );
    await verifyPeppers(storage, [first, second]);
    const stored = JSON.stringify(await storage.orm.em.fork().findAll(Setting));
    expect(stored).toContain("key-pepper-2");
    expect(stored).not.toMatch(/first|second/);
  });
});
