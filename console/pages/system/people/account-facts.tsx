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

/** The account's name and id, its end, and the way out of it. */
export function AccountFacts() {
  const [isRenaming, setRenaming] = useState(false);
  const [isClosing, setClosing] = useState(false);
  const [isLeaving, setLeaving] = useState(false);
  const query = useQuery(async (signal) => (await accounts.getAccount({}, { signal })).account as Account, []);
  const renamed = () => {
    setRenaming(false);
    query.reload();
  };
  return (
    <Section
      title="Account"
      actions={
        <>
          {isAccountOwner.value && (
            <>
              <button type="button" onClick={() => setRenaming(true)}>
                Rename
              </button>
              <button type="button" onClick={() => setClosing(true)}>
                Close account
              </button>
            </>
          )}
          {session.value?.personId !== "" && (
            <button type="button" onClick={() => setLeaving(true)}>
              Leave account
            </button>
          )}
        </>
      }
    >
      <Answer query={query}>
        {({ id, name }) => (
          <>
            {name !== "" && <Copyable text={name} what="the account's name" />}
            <Copyable text={id} what="the account's id" />
            {isRenaming && <Rename name={name} onClose={() => setRenaming(false)} onDone={renamed} />}
            {isClosing && <CloseAccount onClose={() => setClosing(false)} />}
            {isLeaving && <LeaveAccount onClose={() => setLeaving(false)} />}
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
