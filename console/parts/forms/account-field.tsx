import { useId } from "preact/hooks";
import { accounts } from "../../contract/clients.ts";
import { useQuery } from "../calls/use-query.ts";

interface Props {
  readonly label: string;
  /** Account.id. */
  readonly value: string;
  readonly onInput: (accountId: string) => void;
}

const suggested = 1000;

/** Takes an account's id, and suggests the first accounts by their names. */
export function AccountField({ label, value, onInput }: Props) {
  const id = useId();
  const { data = [] } = useQuery(
    async (signal) => (await accounts.listAccounts({ pageSize: suggested, withoutMoney: true }, { signal })).accounts,
    [],
  );
  const chosen = data.find((account) => account.id === value.trim());
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
        {chosen?.name || "The account's id; type a part of its name to find it."}
      </p>
    </div>
  );
}
