import { useState } from "preact/hooks";
import { formatUsd, parseUsd } from "../../../../lib/money/money.ts";
import { say } from "../../../app/said.tsx";
import { accounts } from "../../../contract/clients.ts";
import { Amount } from "../../../parts/figures/amount.tsx";
import { ActionForm } from "../../../parts/forms/action-form.tsx";
import { Dialog } from "../../../parts/forms/dialog.tsx";
import { Field } from "../../../parts/forms/field.tsx";
import { requireUsd } from "../../../parts/forms/typed.ts";

interface Kind {
  readonly verb: string;
  /** What was done, followed by the amount. */
  readonly done: string;
  readonly what: string;
  readonly send: (request: { accountId: string; amountPicoUsd: bigint; reference: string }) => Promise<unknown>;
}

const kinds: Readonly<Record<"top-up" | "grant" | "refund", Kind>> = {
  "top-up": {
    verb: "Top up",
    done: "Paid in",
    what: "A payment that came in. It adds a credit that keeps today's prices for as long as it lasts.",
    send: (request) => accounts.topUp(request),
  },
  grant: {
    verb: "Grant",
    done: "Granted",
    what: "Money that you give away. It is spent before paid money and cannot be refunded.",
    send: (request) => accounts.grant(request),
  },
  refund: {
    verb: "Refund",
    done: "Refunded",
    what: "Pays unspent paid money back, newest payment first.",
    send: (request) => accounts.refund(request),
  },
};

interface Props {
  readonly kind: keyof typeof kinds;
  readonly accountId: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Moves money. Its reference makes sending it twice harmless. */
export function MoneyForm({ kind, accountId, onClose, onDone }: Props) {
  const [amount, setAmount] = useState("");
  const [reference, setReference] = useState("");
  const { verb, done, what, send } = kinds[kind];
  const pico = parseUsd(amount.trim());
  const submit = async (): Promise<void> => {
    const amountPicoUsd = requireUsd(amount, "The amount");
    if (reference.trim() === "") {
      throw new Error("The reference is missing: the payment's own name, such as the number of its invoice.");
    }
    await send({ accountId, amountPicoUsd, reference: reference.trim() });
    onDone();
    say(`${done}: ${formatUsd(amountPicoUsd)} USD.`);
  };
  return (
    <Dialog title={verb} onClose={onClose}>
      <ActionForm verb={verb} send={submit} onCancel={onClose}>
        <p class="muted">{what}</p>
        <Field
          label="Amount"
          name="amount"
          value={amount}
          onInput={setAmount}
          unit="$"
          isNumber
          hasFocus
          hint={pico === undefined ? "USD, to twelve decimals." : <ExactAmount pico={pico} />}
        />
        <Field
          label="Reference"
          name="reference"
          value={reference}
          onInput={setReference}
          maxLength={200}
          hint="The payment's own name. Sent twice with the same one, money moves once."
        />
      </ActionForm>
    </Dialog>
  );
}

function ExactAmount({ pico }: { readonly pico: bigint }) {
  return (
    <>
      Exactly <Amount pico={pico} />
    </>
  );
}
