import type { Account } from "#gen/tollgate/accounts/v1/account_pb.js";
import { accounts } from "../../contract/clients.ts";
import { isId } from "../../format/ids.ts";
import { IdField } from "./id-field.tsx";

interface Props {
  readonly label: string;
  /** Account.id. */
  readonly value: string;
  readonly onInput: (accountId: string) => void;
}

const suggested = 20;

/** A field for an account's id. It suggests accounts whose name begins with the typed text. */
export function AccountField(props: Props) {
  return (
    <IdField
      {...props}
      name="account"
      suggest={suggest}
      hint="The account's id; type how its name begins to find it."
    />
  );
}

/** The account of a typed id, or the accounts whose name begins with the text. */
async function suggest(typed: string, signal: AbortSignal): Promise<readonly Account[]> {
  if (!isId(typed)) {
    const request = { name: typed, pageSize: suggested, withoutMoney: true };
    return (await accounts.listAccounts(request, { signal })).accounts;
  }
  const { account } = await accounts.getAccount({ accountId: typed }, { signal });
  return account === undefined ? [] : [account];
}
