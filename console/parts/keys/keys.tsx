import { useState } from "preact/hooks";
import type { ApiKey } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import { isCustomer, mayChangeKeys } from "../../app/session.ts";
import { accounts } from "../../contract/clients.ts";
import { isId } from "../../format/ids.ts";
import { countOf } from "../../format/numbers.ts";
import { loadAccountNames } from "../account/account-names.ts";
import { Answer, Empty } from "../calls/answer.tsx";
import { MoreRows, usePages } from "../calls/more-rows.tsx";
import { Section } from "../frame/page.tsx";
import { CreateKey } from "./create-key.tsx";
import { KeyTable } from "./key-table.tsx";

interface Props {
  /** The account. Empty: that of the customer who is signed in; for operators, all. */
  readonly accountId: string;
}

/** A key and, among those of several accounts, the account's name. */
interface Row {
  readonly apiKey: ApiKey;
  readonly account: string;
}

/** The keys of an account, or of all with the last used first, and the actions on them. */
export function Keys({ accountId }: Props) {
  const [isCreating, setCreating] = useState(false);
  const [version, setVersion] = useState(0);
  const isWhole = accountId === "" || isId(accountId);
  const isAll = accountId === "" && !isCustomer.value;
  const changed = () => setVersion((before) => before + 1);
  const pages = usePages<Row>(
    async (pageToken, signal) => {
      if (!isWhole) {
        return { rows: [], next: "" };
      }
      const asked = { accountId, newestFirst: true, pageToken, pageSize: 100 };
      const { keys, nextPageToken } = await accounts.listKeys(asked, { signal });
      const names = await loadAccountNames(isAll ? keys.map((key) => key.accountId) : [], signal);
      const rows = keys.map((apiKey) => ({ apiKey, account: names.get(apiKey.accountId) ?? "" }));
      return { rows, next: nextPageToken };
    },
    [accountId],
    version,
  );
  return (
    <Section
      title="Keys"
      actions={
        mayChangeKeys.value &&
        !isCreating && (
          <button type="button" onClick={() => setCreating(true)}>
            Create key
          </button>
        )
      }
    >
      <Answer query={pages}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="There is no key yet">A key is what programs send; its secret is shown once.</Empty>
          ) : (
            <KeyTable
              rows={rows.map(({ apiKey }) => apiKey)}
              onChanged={changed}
              {...(isAll && { accounts: new Map(rows.map(({ apiKey, account }) => [apiKey.accountId, account])) })}
            />
          )
        }
      </Answer>
      <MoreRows pages={pages} describe={(count) => countOf(count, "key")} />
      {isCreating && <CreateKey accountId={accountId} onClose={() => setCreating(false)} onCreated={changed} />}
    </Section>
  );
}
