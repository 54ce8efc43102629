import { useState } from "preact/hooks";
import type { Account } from "#gen/tollgate/accounts/v1/account_pb.js";
import { say } from "../../../app/said.tsx";
import { isAccountOwner, session } from "../../../app/session.ts";
import { accounts } from "../../../contract/clients.ts";
import { Answer } from "../../../parts/calls/answer.tsx";
import { useQuery } from "../../../parts/calls/use-query.ts";
import { Copyable } from "../../../parts/figures/copy.tsx";
import { ActionForm } from "../../../parts/forms/action-form.tsx";
import { Dialog } from "../../../parts/forms/dialog.tsx";
import { Field } from "../../../parts/forms/field.tsx";
import { Section } from "../../../parts/frame/page.tsx";
import { CloseAccount } from "./close-account.tsx";
import { LeaveAccount } from "./leave-account.tsx";
import { LowBalance } from "./low-balance.tsx";

type Open = "name" | "low balance" | "close" | "leave" | undefined;

/** The account's name and id, its low balance, its end, and the way out of it. */
export function AccountFacts() {
  const [open, setOpen] = useState<Open>(undefined);
  const query = useQuery(async (signal) => (await accounts.getAccount({}, { signal })).account as Account, []);
  const close = () => setOpen(undefined);
  const done = () => {
    close();
    query.reload();
  };
  return (
    <Section
      title="Account"
      actions={
        <>
          {isAccountOwner.value && (
            <>
              <button type="button" onClick={() => setOpen("name")}>
                Rename
              </button>
              <button type="button" onClick={() => setOpen("low balance")}>
                Low balance
              </button>
              <button type="button" onClick={() => setOpen("close")}>
                Close account
              </button>
            </>
          )}
          {session.value?.personId !== "" && (
            <button type="button" onClick={() => setOpen("leave")}>
              Leave account
            </button>
          )}
        </>
      }
    >
      <Answer query={query}>
        {(account) => (
          <>
            {account.name !== "" && <Copyable text={account.name} what="the account's name" />}
            <Copyable text={account.id} what="the account's id" />
            {open === "name" && <Rename name={account.name} onClose={close} onDone={done} />}
            {open === "low balance" && <LowBalance account={account} onClose={close} onDone={done} />}
            {open === "close" && <CloseAccount onClose={close} />}
            {open === "leave" && <LeaveAccount onClose={close} />}
          </>
        )}
      </Answer>
    </Section>
  );
}

interface Props {
  readonly name: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function Rename({ name, onClose, onDone }: Props) {
  const [typed, setTyped] = useState(name);
  const send = async (): Promise<void> => {
    await accounts.updateAccount({ name: typed.trim() });
    onDone();
    say("The account is renamed.");
  };
  return (
    <Dialog title="Rename the account" onClose={onClose}>
      <ActionForm verb="Rename" send={send} onCancel={onClose}>
        <Field label="Name" name="name" value={typed} onInput={setTyped} maxLength={200} hasFocus />
      </ActionForm>
    </Dialog>
  );
}
