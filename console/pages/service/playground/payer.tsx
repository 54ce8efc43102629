import { useRef, useState } from "preact/hooks";
import { isCustomer, isMember, makeSessionKey, mayBill, mayChangeKeys, session } from "../../../app/session.ts";
import { AccountField } from "../../../parts/forms/account-field.tsx";
import { Field } from "../../../parts/forms/field.tsx";

/** Who pays for the requests of a page. */
export interface Payer {
  /** The account that an operator chose. */
  readonly accountId: string;
  readonly setAccountId: (accountId: string) => void;
  /** The key that was typed, by somebody for whom none can be made. */
  readonly typed: string;
  readonly setTyped: (key: string) => void;
  /** The key to send: one that ends with the session where it can be made. Throws an error that says what is missing. */
  readonly getKey: () => Promise<string>;
}

/** Whether a key can be made for the session: of a member's own account, or of one that an operator chooses. */
const mayMakeKey = () => mayChangeKeys.value && (isMember.value || mayBill.value);

export function usePayer(): Payer {
  const [accountId, setAccountId] = useState(session.value?.demoAccountId ?? "");
  const [typed, setTyped] = useState("");
  const made = useRef(new Map<string, string>());
  const getKey = async (): Promise<string> => {
    if (!mayMakeKey()) {
      if (typed.trim() === "") {
        throw new Error("An API key is missing: whoever it belongs to pays for the request.");
      }
      return typed.trim();
    }
    const payer = isMember.value ? (session.value?.accountId ?? "") : accountId.trim();
    if (payer === "") {
      throw new Error("Choose the account that pays.");
    }
    const key = made.current.get(payer) ?? (await makeSessionKey(payer));
    made.current.set(payer, key);
    return key;
  };
  return { accountId, setAccountId, typed, setTyped, getKey };
}

/** Says who pays, or asks for it. Nobody for whom a key can be made is asked for a secret. */
export function PayerField({ payer }: { readonly payer: Payer }) {
  if (isMember.value && mayMakeKey()) {
    return <p class="hint">Your account pays, with a key that ends with your session.</p>;
  }
  if (mayMakeKey()) {
    return <AccountField label="Who pays" value={payer.accountId} onInput={payer.setAccountId} />;
  }
  const isKeyHolder = isCustomer.value && !isMember.value;
  return (
    <Field
      label="API key"
      name="api-key"
      type="password"
      value={payer.typed}
      onInput={payer.setTyped}
      isCode
      placeholder="tg-…"
      {...(isKeyHolder && { autocomplete: "current-password" })}
      hint={
        isKeyHolder
          ? "The one that you signed in with, or another. Your session reads and cannot spend, and the key is kept nowhere: this page forgets it, too."
          : "Your role makes no keys. One that is typed here stays in this page."
      }
    />
  );
}
