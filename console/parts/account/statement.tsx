import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useState } from "preact/hooks";
import { say } from "../../app/said.tsx";
import { metering } from "../../contract/clients.ts";
import { saveFile } from "../files/save-file.ts";
import { ActionForm } from "../forms/action-form.tsx";
import { Dialog } from "../forms/dialog.tsx";
import { Field } from "../forms/field.tsx";

/** The dialog that saves a statement of the account. */
export function StatementButton({ accountId }: { readonly accountId: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Statement
      </button>
      {isOpen && <StatementForm accountId={accountId} onClose={() => setOpen(false)} />}
    </>
  );
}

/** Asks for the days, the last month unless changed, and saves the file as it was sent: it has to stay exact. */
function StatementForm({ accountId, onClose }: { readonly accountId: string; readonly onClose: () => void }) {
  const [from, setFrom] = useState(() => monthBefore(1));
  const [to, setTo] = useState(() => monthBefore(0));
  const save = async (): Promise<void> => {
    const days = [readDay(from), readDay(to)] as const;
    const parts: string[] = [];
    for await (const { lines } of metering.streamStatement({ accountId, from: days[0], to: days[1] })) {
      parts.push(lines.map((line) => `${line}\n`).join(""));
    }
    saveFile(`statement-${from.trim()}-${to.trim()}.jsonl`, "application/jsonl", parts);
    onClose();
    say("The statement is saved.");
  };
  return (
    <Dialog title="Statement" onClose={onClose}>
      <ActionForm verb="Save" send={save} onCancel={onClose}>
        <p class="muted">
          Every movement of this account's money, with what proves it: <code>tollgate verify FILE</code> needs no
          service.
        </p>
        <Field label="From" name="from" value={from} onInput={setFrom} hasFocus hint="The first day, in UTC." />
        <Field label="To" name="to" value={to} onInput={setTo} hint="The day after the last one; at most today." />
      </ActionForm>
    </Dialog>
  );
}

/** The first day of the UTC month so many months ago. */
function monthBefore(months: number): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1)).toISOString().slice(0, 10);
}

function readDay(text: string) {
  const ms = Date.parse(`${text.trim()}T00:00:00Z`);
  if (Number.isNaN(ms)) {
    throw new Error("A day is written as 2026-01-31.");
  }
  return timestampFromMs(ms);
}
