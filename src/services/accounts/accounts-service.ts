import type { ServiceImpl } from "@connectrpc/connect";
import { MemberRole } from "#gen/tollgate/access/v1/access_pb.js";
import type { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { readCaller } from "#src/wire/interceptors/access/principal.ts";
import { createAccountMethods } from "./account-methods.ts";
import type { Dependencies } from "./dependencies.ts";
import { createKeyMethods } from "./key-methods.ts";
import { createAccountLists } from "./list-accounts.ts";
import { createMoneyMethods } from "./money-methods.ts";

/** Accounts, their incoming money, and their keys. */
export function createAccountsService(deps: Dependencies): ServiceImpl<typeof AccountsService> {
  return {
    ...createAccountMethods(deps),
    ...createAccountLists(deps),
    ...createMoneyMethods(deps),
    ...createKeyMethods(deps),

    async identifyCaller(_, context) {
      const { accountId, memberRole = MemberRole.UNSPECIFIED } = readCaller(context);
      return { accountId, memberRole };
    },
  };
}
