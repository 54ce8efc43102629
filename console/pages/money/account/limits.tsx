import { useState } from "preact/hooks";
import type { Account } from "#gen/tollgate/accounts/v1/account_pb.js";
import { ServiceClass } from "#gen/tollgate/inference/v1/service_class_pb.js";
import { formatUsd } from "../../../../lib/money/money.ts";
import { say } from "../../../app/said.tsx";
import { accounts } from "../../../contract/clients.ts";
import { countOf } from "../../../format/numbers.ts";
import { Amount } from "../../../parts/figures/amount.tsx";
import { ActionForm } from "../../../parts/forms/action-form.tsx";
import { Dialog } from "../../../parts/forms/dialog.tsx";
import { Field, Select } from "../../../parts/forms/field.tsx";
import { readUsd, readWhole } from "../../../parts/forms/typed.ts";

const classes = [
  { value: String(ServiceClass.UNSPECIFIED), text: "standard" },
  { value: String(ServiceClass.PRIORITY), text: "priority: goes first" },
  { value: String(ServiceClass.FLEX), text: "flex: goes last" },
];

/** The account's own limits beside its money. Shown where it has any. */
export function Limits({ account }: { readonly account: Account }) {
  const { maxInFlight, lowBalancePicoUsd, creditLinePicoUsd, serviceClass, email } = account;
  const named = classes.find(({ value }) => value === toClass(serviceClass) && value !== classes[0]?.value);
  const isUsual = maxInFlight === undefined && lowBalancePicoUsd === undefined && creditLinePicoUsd === 0n;
  if (isUsual && named === undefined && email === "") {
    return null;
  }
  return (
    <p class="muted">
      Limits of its own:{maxInFlight !== undefined && ` at most ${countOf(maxInFlight, "request")} at once.`}
      {lowBalancePicoUsd !== undefined && (
        <>
          {" The balance is low below "}
          <Amount pico={lowBalancePicoUsd} />.
        </>
      )}
      {creditLinePicoUsd > 0n && (
        <>
          {" It may owe "}
          <Amount pico={creditLinePicoUsd} name="credit-line" />.
        </>
      )}
      {named !== undefined && ` Class ${named.text}.`}
      {email !== "" && ` Mail goes to ${email}.`}
    </p>
  );
}

interface Props {
  readonly account: Account;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Changes an account's limits. Emptied fields remove their limits; untouched fields stay as they are. */
export function EditLimits({ account, onClose, onDone }: Props) {
  const [before] = useState(() => toTexts(account));
  const [inFlight, setInFlight] = useState(before.inFlight);
  const [low, setLow] = useState(before.low);
  const [credit, setCredit] = useState(before.credit);
  const [serviceClass, setServiceClass] = useState(before.serviceClass);
  const [email, setEmail] = useState(before.email);
  const send = async (): Promise<void> => {
    const maxInFlight = readWhole(inFlight, "Requests at once");
    const lowBalancePicoUsd = readUsd(low, "The low balance");
    const creditLinePicoUsd = readUsd(credit, "The credit line");
    const changed = Object.entries({
      max_in_flight: inFlight !== before.inFlight,
      low_balance_pico_usd: low !== before.low,
      credit_line_pico_usd: credit !== before.credit,
      service_class: serviceClass !== before.serviceClass,
      email: email !== before.email,
    });
    const paths = changed.flatMap(([path, is]) => (is ? [path] : []));
    if (paths.length > 0) {
      await accounts.updateAccount({
        accountId: account.id,
        ...(maxInFlight === undefined ? {} : { maxInFlight }),
        ...(lowBalancePicoUsd === undefined ? {} : { lowBalancePicoUsd }),
        ...(creditLinePicoUsd === undefined ? {} : { creditLinePicoUsd }),
        email: email.trim(),
        serviceClass: Number(serviceClass) as ServiceClass,
        updateMask: { paths },
      });
    }
    onDone();
    say("The limits are saved.");
  };
  return (
    <Dialog title="Limits of the account" onClose={onClose}>
      <ActionForm verb="Save" send={send} onCancel={onClose}>
        <Field
          label="Requests at once"
          name="in-flight"
          value={inFlight}
          onInput={setInFlight}
          isNumber
          hasFocus
          placeholder="as its tier"
        />
        <Field
          label="Low balance"
          name="low-balance"
          value={low}
          onInput={setLow}
          unit="$"
          isNumber
          placeholder="by its last top-up"
          hint="Below it an event tells that the account is to be topped up."
        />
        <Field
          label="Credit line"
          name="credit-line"
          value={credit}
          onInput={setCredit}
          unit="$"
          isNumber
          placeholder="none: it is prepaid"
          hint="The most that it may owe. What it buys next pays that first."
        />
        <Select
          label="Class"
          name="class"
          value={serviceClass}
          options={classes}
          onChange={setServiceClass}
          hint="Where requests wait for a server, and the highest that they may have."
        />
        <Field
          label="E-mail"
          name="email"
          value={email}
          onInput={setEmail}
          placeholder="none"
          hint="Where mail of the account goes, such as of a low balance."
        />
      </ActionForm>
    </Dialog>
  );
}

function toTexts({ maxInFlight, lowBalancePicoUsd, creditLinePicoUsd, serviceClass, email }: Account) {
  return {
    inFlight: maxInFlight === undefined ? "" : String(maxInFlight),
    low: lowBalancePicoUsd === undefined ? "" : formatUsd(lowBalancePicoUsd),
    credit: creditLinePicoUsd === 0n ? "" : formatUsd(creditLinePicoUsd),
    serviceClass: toClass(serviceClass),
    email,
  };
}

/** The form's value for a class. Standard is the class of an account that was given none. */
function toClass(serviceClass: ServiceClass): string {
  return String(serviceClass === ServiceClass.STANDARD ? ServiceClass.UNSPECIFIED : serviceClass);
}
