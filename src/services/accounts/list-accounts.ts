import type { ServiceImpl } from "@connectrpc/connect";
import { validate as isUuid } from "uuid";
import { AccountOrder, AccountState } from "#gen/tollgate/accounts/v1/account_requests_pb.js";
import type { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { invalid } from "#lib/ids/validate-id.ts";
import { readPage } from "#lib/rpc/pages.ts";
import { type AccountFilter, isListKey, toListKey } from "#src/identity/accounts/accounts.ts";
import { isUseKey, toUseKey } from "#src/identity/accounts/keys/use-key.ts";
import type { Account } from "#src/storage/entities/account.ts";
import type { Dependencies } from "./dependencies.ts";
import { accountMessage } from "./messages.ts";

const stateNames: Readonly<Record<AccountState, AccountFilter["state"]>> = {
  [AccountState.UNSPECIFIED]: undefined,
  [AccountState.FROZEN]: "frozen",
  [AccountState.IN_DEBT]: "inDebt",
  [AccountState.LOW]: "low",
};

const toId = ({ id }: { readonly id: string }) => id;

type Methods = Pick<ServiceImpl<typeof AccountsService>, "listAccounts">;

/** Lists of accounts: by age, by name, in a state, by last use. */
export function createAccountLists({ accounts, funds }: Pick<Dependencies, "accounts" | "funds">): Methods {
  /** The accounts of some ids, in their order. */
  const inOrder = async (ids: readonly string[]) => {
    const found = new Map(
      (await accounts.list({ after: undefined, limit: ids.length }, { ids })).map((one) => [one.id, one]),
    );
    return ids.flatMap((id) => found.get(id) ?? []);
  };
  return {
    async listAccounts(request) {
      const { name, accountIds, order } = request;
      const state = stateNames[request.state];
      refuseBoth([
        ["their ids", accountIds.length > 0 && state === undefined, "account_ids"],
        ["a name", name !== "", "name"],
        ["a state", state !== undefined, "state"],
        ["an order", order !== AccountOrder.UNSPECIFIED, "order"],
      ]);
      const ids = accountIds.filter((id) => isUuid(id));
      if (ids.length < accountIds.length && ids.length === 0) {
        return {};
      }
      const read = async (): Promise<{ entries: readonly Account[]; nextPageToken: string }> => {
        if (order === AccountOrder.LAST_USE) {
          const uses = await readPage(
            "accounts by use",
            request,
            (start) => accounts.listByUse(start),
            toUseKey,
            isUseKey,
          );
          return { entries: await inOrder(uses.entries.map(toId)), nextPageToken: uses.nextPageToken };
        }
        return name === ""
          ? readPage(`accounts ${state ?? ""}`, request, (start) => accounts.list(start, { ids, state }), toId, isUuid)
          : readPage(`accounts by ${name}`, request, (start) => accounts.listByName(name, start), toListKey, isListKey);
      };
      const { entries, nextPageToken } = await read();
      const shown = entries.map(toId);
      const [uses, statements] = await Promise.all([
        accounts.lastUses(shown),
        request.withoutMoney ? undefined : funds.statements(shown),
      ]);
      const messages = entries.flatMap((account) => {
        const statement = statements === undefined ? withoutMoney(account) : statements.get(account.id);
        return statement === undefined ? [] : [accountMessage(account, statement, uses.get(account.id))];
      });
      return { accounts: messages, nextPageToken };
    },
  };
}

/** Throws INVALID_ARGUMENT for two ways to look for accounts at once. */
function refuseBoth(ways: readonly (readonly [words: string, isAsked: boolean, parameter: string])[]): void {
  const [first, second] = ways.filter(([, isAsked]) => isAsked);
  if (first !== undefined && second !== undefined) {
    throw invalid(second[2], `Accounts are looked for by ${first[0]} or by ${second[0]}, not by both.`);
  }
}

/** An account without its money, for lists of names. */
const withoutMoney = (account: Account) => ({
  createdAt: account.createdAt.getTime(),
  paidTotal: account.paidTotal,
  freeOnly: false,
  balance: 0n,
  held: 0n,
  debt: account.debt,
  lots: [],
});
