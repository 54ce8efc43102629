import { accounts } from "../../contract/clients.ts";
import { isId } from "../../format/ids.ts";

/** What keys are known by, by their ids: the name with what is seen of the secret. A key that cannot be asked for has none. */
export async function loadKeyNames(ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const asked = [...new Set(ids)].filter(isId);
  const found = await Promise.allSettled(asked.map((keyId) => accounts.getKey({ keyId }, { signal })));
  return new Map(
    found.flatMap((one, index) => {
      const key = one.status === "fulfilled" ? one.value.key : undefined;
      return key === undefined ? [] : [[asked[index] as string, `${key.name} ${key.prefix}…${key.last4}`.trim()]];
    }),
  );
}
