import type { HandlerContext } from "@connectrpc/connect";
import { requireId } from "#lib/ids/validate-id.ts";
import type { Accounts } from "#src/identity/accounts/accounts.ts";
import type { Account } from "#src/storage/entities/account.ts";
import { readPrincipal, visibleAccount } from "#src/wire/interceptors/access/principal.ts";

/**
 * An account that the caller may see. Its name is shown to operators, whose label it may be, and to its people. Throws
 * ACCOUNT_NOT_FOUND, PERMISSION_DENIED.
 */
export async function readVisible(
  accounts: Pick<Accounts, "get">,
  accountId: string,
  context: HandlerContext,
): Promise<Account> {
  const account = await accounts.get(requireId(visibleAccount(context, accountId), "account"));
  const principal = readPrincipal(context);
  return principal.kind === "operator" || principal.personId !== undefined ? account : { ...account, name: "" };
}
