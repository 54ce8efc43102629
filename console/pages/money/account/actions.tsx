import { useState } from "preact/hooks";
import type { Account } from "#gen/tollgate/accounts/v1/account_pb.js";
import { say } from "../../../app/said.tsx";
import { mayBill } from "../../../app/session.ts";
import { accounts } from "../../../contract/clients.ts";
import { ActionButton } from "../../../parts/forms/action-button.tsx";
import { Freeze } from "./freeze.tsx";
import { EditLimits } from "./limits.tsx";
import { MoneyForm } from "./money-form.tsx";

interface Props {
  readonly account: Account;
  readonly onChanged: () => void;
}

type Open = "top-up" | "grant" | "refund" | "freeze" | "limits" | undefined;

/** The operator's actions on an account. */
export function AccountActions({ account, onChanged }: Props) {
  const [open, setOpen] = useState<Open>(undefined);
  if (!mayBill.value) {
    return null;
  }
  const close = () => setOpen(undefined);
  const done = () => {
    close();
    onChanged();
  };
  const unfreeze = async (): Promise<void> => {
    await accounts.unfreezeAccount({ accountId: account.id });
    onChanged();
    say("The account is served again.");
  };
  return (
    <>
      {open === undefined && (
        <>
          {account.frozen ? (
            <ActionButton act={unfreeze}>Unfreeze</ActionButton>
          ) : (
            <button type="button" onClick={() => setOpen("freeze")}>
              Freeze
            </button>
          )}
          <button type="button" onClick={() => setOpen("limits")}>
            Set limits
          </button>
          <button type="button" onClick={() => setOpen("refund")}>
            Refund
          </button>
          <button type="button" onClick={() => setOpen("grant")}>
            Grant
          </button>
          <button type="button" class="primary" onClick={() => setOpen("top-up")}>
            Top up
          </button>
        </>
      )}
      {(open === "top-up" || open === "grant" || open === "refund") && (
        <MoneyForm kind={open} accountId={account.id} onClose={close} onDone={done} />
      )}
      {open === "limits" && <EditLimits account={account} onClose={close} onDone={done} />}
      {open === "freeze" && <Freeze accountId={account.id} onClose={close} onDone={done} />}
    </>
  );
}
