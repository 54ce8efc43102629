import { useState } from "preact/hooks";
import type { GetPersonResponse } from "#gen/tollgate/people/v1/people_requests_pb.js";
import { say } from "../../../app/said.tsx";
import { isAccountOwner } from "../../../app/session.ts";
import { people } from "../../../contract/clients.ts";
import { useQuery } from "../../../parts/calls/use-query.ts";
import { ActionForm } from "../../../parts/forms/action-form.tsx";
import { Section } from "../../../parts/frame/page.tsx";

/** What the events are called. */
const titles: Readonly<Record<string, string>> = {
  "balance.low": "the balance is low",
  "balance.exhausted": "the balance is used up",
  "account.topped_up": "a payment came in",
  "auto_top_up.declined": "an automatic payment was declined",
  "key.limit": "a key has spent 80 %, or all, of its budget",
  "key.expires_soon": "a key ends soon",
  "account.frozen": "the account is frozen",
};

/** What the person gets mail about. Nothing where the service sends none. */
export function OwnMails() {
  const { data } = useQuery((signal) => people.getPerson({}, { signal }), []);
  if (data === undefined || data.mailedEvents.length === 0) {
    return null;
  }
  return (
    <Section title="Your mail">
      {data.person?.emailVerified ? (
        <Choice {...data} />
      ) : (
        <p class="muted">No sign-in of yours has told an e-mail address that was seen to be yours: you get none.</p>
      )}
    </Section>
  );
}

function Choice({ person, mailedEvents: offered }: GetPersonResponse) {
  const [chosen, setChosen] = useState(person?.mails?.events ?? (isAccountOwner.value ? offered : []));
  const toggle = (event: string) => () =>
    setChosen(chosen.includes(event) ? chosen.filter((one) => one !== event) : [...chosen, event]);
  const send = async (): Promise<void> => {
    await people.updatePerson({ mails: { events: [...chosen] } });
    say("Your choice is kept.");
  };
  return (
    <ActionForm verb="Save" send={send}>
      <fieldset class="field options">
        <legend class="field-label">Write to {person?.email} when</legend>
        <div class="options-list whole">
          {offered.map((event) => (
            <label key={event} class="check">
              <input type="checkbox" checked={chosen.includes(event)} onChange={toggle(event)} />
              {titles[event] ?? event}
            </label>
          ))}
        </div>
      </fieldset>
    </ActionForm>
  );
}
