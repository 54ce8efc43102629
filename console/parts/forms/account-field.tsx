import { useId } from "preact/hooks";
import type { Account } from "#gen/tollgate/accounts/v1/account_pb.js";
import { accounts } from "../../contract/clients.ts";
import { isId } from "../../format/ids.ts";
import { useQuery } from "../calls/use-query.ts";
import { Name } from "../figures/name.tsx";

interface Props {
  readonly label: string;
  /** Account.id. */
  readonly value: string;
  readonly onInput: (accountId: string) => void;
}

const suggested = 20;

/** A field for an account's id. It suggests accounts whose name begins with the typed text. */
export function AccountField({ label, value, onInput }: Props) {
  const id = useId();
  const typed = value.trim();
  const { data = [] } = useQuery((signal) => suggest(typed, signal), [], undefined, typed);
  const chosen = data.find((account) => account.id === typed);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        name="account"
        class="code"
        list={`${id}-accounts`}
        value={value}
        autocomplete="off"
        spellcheck={false}
        aria-describedby={`${id}-hint`}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <datalist id={`${id}-accounts`}>
        {data.map((account) => (
          <option key={account.id} value={account.id}>
            {account.name || account.id}
          </option>
        ))}
      </datalist>
      <p id={`${id}-hint`} class="hint">
        {chosen?.name ? (
          <strong>
            <Name text={chosen.name} />
          </strong>
        ) : (
          "The account's id; type how its name begins to find it."
        )}
      </p>
    </div>
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
