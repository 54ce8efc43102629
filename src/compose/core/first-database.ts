import { systemRandom } from "../../../lib/ids/random.ts";
import type { Logger } from "../../../lib/logger.ts";
import { verifyPeppers } from "../../accounts/keys/verify-peppers.ts";
import type { Secrets } from "../../config/secrets.ts";
import { openLater } from "../../storage/availability/late-storage.ts";
import { probeServer } from "../../storage/availability/probe.ts";
import { isUnreachable } from "../../storage/availability/unreachable.ts";
import { openStorage, type Storage } from "../../storage/orm.ts";
import { claimFirst } from "../../storage/shard-mark.ts";
import { ServiceName } from "../shards/service-name.ts";

/** The database of `storage.url`. */
export interface FirstDatabase {
  /** While the database is away, calls fail as for one that cannot be reached. */
  readonly storage: Storage;
  readonly serviceName: ServiceName;
  /** Undefined: the database is there. */
  readonly away: AwayFirst | undefined;
}

/** A first database that could not be reached at the start, while others may serve their accounts. */
export interface AwayFirst {
  /** Why it could not be reached. */
  readonly error: unknown;
  /** Tries again. Rejects, in words, while it is away, and for a database that must not be used. */
  reach(): Promise<void>;
}

/**
 * Opens the first database. If there are further databases, the core starts even when the first one is away. Throws, in
 * words, for a database that must not be used, and when the only one is away.
 */
export async function openFirst(secrets: Secrets, logger: Logger): Promise<FirstDatabase> {
  const count = 1 + secrets.shardUrls.length;
  const serviceName = new ServiceName();
  const warn = (found: string) => logger.warn({ found }, "the database server is dangerous");
  const claim = async (storage: Storage) =>
    serviceName.adopt(await claimFirst(storage, count, systemRandom.uuid, serviceName.known));
  try {
    await (count > 1 && probeServer(secrets.storageUrl));
    const storage = await openStorage(secrets.storageUrl, undefined, warn);
    await claim(storage).catch(async (error: unknown) => {
      await storage.close();
      throw error;
    });
    return { storage, serviceName, away: undefined };
  } catch (error) {
    if (count === 1 || !isUnreachable(error)) {
      throw error;
    }
    const { storage, letIn } = await openLater(secrets.storageUrl, warn);
    const judge = async (own: Storage) => {
      await claim(own);
      await verifyPeppers(own, secrets.peppers);
    };
    return { storage, serviceName, away: { error, reach: () => letIn(judge) } };
  }
}
