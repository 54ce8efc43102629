import type { FilterQuery, ObjectQuery } from "@mikro-orm/core";
import { validate as isUuid } from "uuid";
import type { PageStart } from "#lib/rpc/pages.ts";
import { ApiKey } from "#src/storage/entities/api-key.ts";
import type { Storage } from "#src/storage/storage.ts";
import type { StoredDigest } from "../../digests/digest-filter.ts";
import { isLive } from "./key-rules.ts";
import { readUseKey } from "./use-key.ts";

/** Digests in one page. */
export const digestPage = 10_000;

/** Digests of the keys that a filter selects, in the order of ids. */
export async function digestsOf({ orm }: Storage, where: FilterQuery<ApiKey>, limit?: number): Promise<StoredDigest[]> {
  const em = orm.em.fork();
  return em.find(ApiKey, where, {
    fields: ["id", "digest"],
    orderBy: { id: "asc" },
    disableIdentityMap: true,
    ...(limit !== undefined && { limit }),
  });
}

/** The number of live keys by the version of their digest's pepper. */
export async function countByPepper({ orm }: Storage, now: Date): Promise<ReadonlyMap<number, number>> {
  const counts = await orm.em
    .fork()
    .execute<{ pepper: number; live: string | number }[]>(
      `select pepper_version as pepper, count(*) as live from api_key one where ${isLive("one")} group by pepper_version`,
      [now],
    );
  return new Map(counts.map(({ pepper, live }) => [Number(pepper), Number(live)]));
}

const byUse = { lastUsedAt: "desc", id: "desc" } as const;

function usedBefore(last: ReturnType<typeof readUseKey> | undefined): ObjectQuery<ApiKey> {
  const { usedAt, id } = last ?? {};
  return usedAt === undefined || id === undefined
    ? { lastUsedAt: { $ne: null } }
    : { $or: [{ lastUsedAt: { $lt: usedAt } }, { lastUsedAt: usedAt, id: { $lt: id } }] };
}

/** The keys of all accounts, ended ones included: last used first, then those never used, newest first. */
export async function keysByUse(
  { orm }: Storage,
  { after, limit }: PageStart,
  withoutRevoked: boolean,
): Promise<ApiKey[]> {
  const em = orm.em.fork();
  const last = after === undefined ? undefined : readUseKey(after);
  const isUsed = last === undefined || last.usedAt !== undefined;
  const live = withoutRevoked ? { revokedAt: null } : {};
  const used = isUsed ? await em.find(ApiKey, { ...usedBefore(last), ...live }, { orderBy: byUse, limit }) : [];
  const never = { lastUsedAt: null, ...live, ...(last !== undefined && !isUsed && { id: { $lt: last.id } }) };
  const rest = limit - used.length;
  return rest === 0 ? used : [...used, ...(await em.find(ApiKey, never, { orderBy: { id: "desc" }, limit: rest }))];
}

/** An account's keys, expired ones included: those that are not revoked, then revoked ones, each newest first. */
export async function newestKeys(
  { orm }: Storage,
  accountId: string,
  { after, limit }: PageStart,
  withoutRevoked: boolean,
): Promise<ApiKey[]> {
  const em = orm.em.fork();
  const last = after === undefined ? undefined : readAgeKey(after);
  const older = last && { id: { $lt: last.id } };
  const find = (where: ObjectQuery<ApiKey>, most: number) =>
    em.find(ApiKey, { accountId, ...where }, { orderBy: { id: "desc" }, limit: most });
  const live = last?.isRevoked ? [] : await find({ revokedAt: null, ...older }, limit);
  const rest = limit - live.length;
  return rest === 0 || withoutRevoked
    ? live
    : [...live, ...(await find({ revokedAt: { $ne: null }, ...(last?.isRevoked && older) }, rest))];
}

/** The key after which a list by age continues that has revoked keys last: on which side of them it is, and its id. */
export function toAgeKey({ id, revokedAt }: Pick<ApiKey, "id" | "revokedAt">): string {
  return `${revokedAt ? "revoked" : "live"} ${id}`;
}

/** Whether a text is such a key. */
export function isAgeKey(text: string): boolean {
  const [side = "", id = "", ...rest] = text.split(" ");
  return ["live", "revoked"].includes(side) && isUuid(id) && rest.length === 0;
}

function readAgeKey(text: string): { readonly isRevoked: boolean; readonly id: string } {
  const [side, id = ""] = text.split(" ");
  return { isRevoked: side === "revoked", id };
}
