import { createHmac } from "node:crypto";
import type { Pepper } from "#lib/ids/pepper.ts";
import { Setting } from "#src/storage/entities/setting.ts";
import type { Storage } from "#src/storage/storage.ts";

/**
 * Compares each pepper with the one that the database knows under its version, and stores it when there is none. Throws
 * for a different one: with it no key would be recognized any more, and no error could tell why.
 */
export async function verifyPeppers(storage: Storage, peppers: readonly Pepper[]): Promise<void> {
  const em = storage.orm.em.fork();
  for (const pepper of peppers) {
    const name = `key-pepper-${pepper.version}`;
    const value = createHmac("sha256", pepper.secret).update(name).digest("hex");
    await em.upsert(Setting, { name, value }, { onConflictAction: "ignore" });
    const known = await em.findOneOrFail(Setting, { name }, { refresh: true });
    if (known.value !== value) {
      throw new Error(
        `the key pepper is not the one that this database knows as version ${pepper.version}: give that one, or the new one as ${pepper.version + 1}:PEPPER beside it`,
      );
    }
  }
}
