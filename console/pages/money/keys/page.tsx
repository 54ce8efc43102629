import { query, setQuery } from "../../../app/router.ts";
import { isCustomer } from "../../../app/session.ts";
import { AccountField } from "../../../parts/forms/account-field.tsx";
import { Page } from "../../../parts/frame/page.tsx";
import { Keys } from "../../../parts/keys/keys.tsx";

/** The keys of the account in the address. */
export default function KeysPage() {
  const accountId = query.value.get("account") ?? "";
  if (isCustomer.value) {
    return (
      <Page title="Keys" lead="The keys of your account.">
        <Keys accountId="" />
      </Page>
    );
  }
  return (
    <Page title="Keys" lead="Programs send a key with each request. Its limits hold over all replicas together.">
      <div class="filter">
        <AccountField label="Keys of" value={accountId} onInput={(account) => setQuery({ account })} />
      </div>
      <Keys accountId={accountId.trim()} />
    </Page>
  );
}
