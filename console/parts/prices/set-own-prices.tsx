import { useState } from "preact/hooks";
import type { AccountPrice } from "#gen/tollgate/accounts/v1/own_prices_pb.js";
import { say } from "../../app/said.tsx";
import { accounts } from "../../contract/clients.ts";
import { ActionForm } from "../forms/action-form.tsx";
import { Dialog } from "../forms/dialog.tsx";
import { Field } from "../forms/field.tsx";
import { FixedFields } from "./fixed-fields.tsx";
import { Preview } from "./preview.tsx";
import { areGeneral, describeTerms, general, readTerms, type Terms, type TermTexts, toTexts } from "./terms.ts";

interface Props {
  readonly accountId: string;
  /** The own prices that are set. */
  readonly terms: Terms;
  /** The served models. */
  readonly prices: readonly AccountPrice[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Sets an account's own prices, in whole, after a preview of what its next payment would lock in. */
export function SetOwnPrices({ accountId, terms, prices, onClose, onDone }: Props) {
  const [texts, setTexts] = useState(() => toTexts(terms));
  const typed = tryToRead(texts);
  const send = async (): Promise<void> => {
    const ownPrices = readTerms(texts);
    if (areGeneral(ownPrices)) {
      throw new Error('Own prices have a discount or a fixed price. "General prices" on the page ends them.');
    }
    await accounts.setAccountPrices({ accountId, ownPrices });
    onDone();
    say(`Own prices are set: payments lock in ${describeTerms(ownPrices)} from now on.`);
  };
  return (
    <Dialog title="Own prices" onClose={onClose}>
      <ActionForm verb="Set own prices" send={send} onCancel={onClose}>
        <Field
          label="Discount in per cent"
          name="discount"
          value={texts.discount}
          onInput={(discount) => setTexts({ ...texts, discount })}
          isNumber
          hasFocus
          placeholder="none"
          hint="Taken off every general price, such as 15 or 12.5."
        />
        <FixedFields fixed={texts.fixed} prices={prices} onChange={(fixed) => setTexts({ ...texts, fixed })} />
        {typed && <Preview accountId={accountId} terms={typed} />}
      </ActionForm>
    </Dialog>
  );
}

/** Undefined: something is typed that is no price or no per cent, which sending it tells. */
function tryToRead(texts: TermTexts): Terms | undefined {
  try {
    return readTerms(texts);
  } catch {
    return undefined;
  }
}

/** Ends an account's own prices, after a preview of the general ones. */
export function EndOwnPrices({ accountId, onClose, onDone }: Pick<Props, "accountId" | "onClose" | "onDone">) {
  const send = async (): Promise<void> => {
    await accounts.setAccountPrices({ accountId, ownPrices: general });
    onDone();
    say("Own prices have ended: payments lock in the general prices from now on.");
  };
  return (
    <Dialog title="General prices" onClose={onClose}>
      <ActionForm verb="End own prices" send={send} onCancel={onClose}>
        <Preview accountId={accountId} terms={general} />
      </ActionForm>
    </Dialog>
  );
}
