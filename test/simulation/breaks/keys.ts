import { Accounts } from "#src/identity/accounts/accounts.ts";
import { ApiKeys } from "#src/identity/accounts/keys/api-keys.ts";
import { type Break, method } from "./break.ts";

/** Keys are rotated and revoked, and accounts are frozen, beside requests that come for long enough. */
const keys = { hasKeys: true, trafficMs: 60, requests: 400, faultsMs: 2000 };

const findKey = ApiKeys.prototype.find;
const findAccount = Accounts.prototype.find;

/** Guarantees of who is let in. */
export const keyBreaks: readonly Break[] = [
  {
    name: "a revoked key is found as one that lives",
    judge: "keys",
    seed: 3,
    only: [],
    settings: keys,
    apply: method(ApiKeys, "find", async function (this: ApiKeys, ...digests: Parameters<typeof findKey>) {
      const key = await findKey.apply(this, digests);
      return key && Object.assign(key, { revokedAt: null });
    }),
  },
  {
    name: "a frozen account is found as any other",
    judge: "keys",
    only: [],
    settings: keys,
    apply: method(Accounts, "find", async function (this: Accounts, id: string) {
      const account = await findAccount.call(this, id);
      return account && Object.assign(account, { frozenAt: null });
    }),
  },
];
