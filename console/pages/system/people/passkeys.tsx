import { useState } from "preact/hooks";
import type { Passkey } from "#gen/tollgate/people/v1/person_pb.js";
import { people } from "../../../contract/clients.ts";
import { Answer, Empty } from "../../../parts/calls/answer.tsx";
import { useQuery } from "../../../parts/calls/use-query.ts";
import { Clip } from "../../../parts/figures/clip.tsx";
import { Table } from "../../../parts/figures/table.tsx";
import { Time } from "../../../parts/figures/time.tsx";
import { ActionButton } from "../../../parts/forms/action-button.tsx";
import { ActionForm } from "../../../parts/forms/action-form.tsx";
import { Dialog } from "../../../parts/forms/dialog.tsx";
import { Field } from "../../../parts/forms/field.tsx";
import { Section } from "../../../parts/frame/page.tsx";
import { knowsPasskeys, makePasskey } from "../../../parts/people/passkeys.ts";

/** The passkeys of the person who is signed in. */
export function Passkeys() {
  const [isAdding, setAdding] = useState(false);
  const query = useQuery(async (signal) => (await people.listPasskeys({}, { signal })).passkeys, []);
  const added = () => {
    setAdding(false);
    query.reload();
  };
  const remove = async ({ id }: Passkey): Promise<void> => {
    await people.removePasskey({ passkeyId: id });
    query.reload();
  };
  const add = knowsPasskeys && (
    <button type="button" onClick={() => setAdding(true)}>
      Add a passkey
    </button>
  );
  return (
    <Section title="Your passkeys" actions={add}>
      <Answer query={query}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="You have none">With a passkey you sign in by your device alone.</Empty>
          ) : (
            <Table
              caption="Your passkeys"
              rows={rows}
              keyOf={({ id }) => id}
              columns={[
                { name: "Name", isHeader: true, show: ({ name }) => <Clip text={name} /> },
                { name: "Made", isNumber: true, isOptional: true, show: ({ createdAt }) => <Time at={createdAt} /> },
                {
                  name: "Last used",
                  isNumber: true,
                  show: ({ usedAt }) => (usedAt === undefined ? "never" : <Time at={usedAt} />),
                },
                {
                  name: "Actions",
                  isNameHidden: true,
                  isNumber: true,
                  show: (passkey) => (
                    <ActionButton isSmall act={() => remove(passkey)}>
                      Remove
                    </ActionButton>
                  ),
                },
              ]}
            />
          )
        }
      </Answer>
      {isAdding && <AddPasskey onClose={() => setAdding(false)} onDone={added} />}
    </Section>
  );
}

function AddPasskey({ onClose, onDone }: { readonly onClose: () => void; readonly onDone: () => void }) {
  const [name, setName] = useState("");
  const send = async (): Promise<void> => {
    const { optionsJson, pending } = await people.beginPasskey({ name: name.trim() });
    const credentialJson = await makePasskey(JSON.parse(optionsJson) as object);
    await people.finishPasskey({ credentialJson, pending });
    onDone();
  };
  return (
    <Dialog title="Add a passkey" onClose={onClose}>
      <ActionForm verb="Add" send={send} onCancel={onClose}>
        <Field
          label="Name"
          name="name"
          value={name}
          onInput={setName}
          maxLength={200}
          placeholder="laptop"
          hint="So that you know it again."
          hasFocus
        />
      </ActionForm>
    </Dialog>
  );
}
