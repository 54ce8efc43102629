import { describe, expect, test } from "@jest/globals";
import { readLastProof } from "#src/compose/core/books/last-proof.ts";
import { Event } from "#src/storage/entities/event.ts";
import { openStorage } from "#src/storage/orm.ts";
import { databases, dialects } from "../../../money/databases.ts";

const newDatabase = databases();

describe.each(dialects)("%s", (dialect) => {
  test("a core that starts knows the last proof of the books, by whichever core", async () => {
    const storage = await openStorage(await newDatabase(dialect));
    try {
      expect(await readLastProof(storage)).toBeUndefined();
      const em = storage.orm.em.fork();
      for (const [at, type] of ["books.proved", "books.failed", "account.topped_up"].entries()) {
        const id = `00000000-0000-4000-8000-00000000000${at}`;
        em.create(Event, { id, type, accountId: null, body: "{}", at: new Date(1_000_000 + at), spread: true });
      }
      await em.flush();
      expect(await readLastProof(storage)).toEqual({ at: 1_000_001, ok: false });
    } finally {
      await storage.close();
    }
  });
});
