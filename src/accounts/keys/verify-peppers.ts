import { createHmac } from "node:crypto";
import type { Pepper } from "../../config/secrets.ts";
import { Setting } from "../../storage/entities/setting.ts";
import type { Storage } from "../../storage/orm.ts";

/**
 * Holds each pepper against the one that the database knows under its version, and makes it known when there is
 * none. Throws for another one: under it no key would be known any more, and none could say why.
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
