import { useState } from "preact/hooks";
import { MemberRole } from "#gen/tollgate/access/v1/access_pb.js";
import { people } from "../../../contract/clients.ts";
import { Copyable } from "../../../parts/figures/copy.tsx";
import { ActionForm } from "../../../parts/forms/action-form.tsx";
import { Dialog } from "../../../parts/forms/dialog.tsx";
import { Field, Select } from "../../../parts/forms/field.tsx";
import { roleOptions } from "../../../parts/people/roles.ts";

interface Props {
  readonly onClose: () => void;
  readonly onInvited: () => void;
}

/** Invites somebody and shows the link once. */
export function Invite({ onClose, onInvited }: Props) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState(String(MemberRole.DEVELOPER));
  const [token, setToken] = useState("");
  const send = async (): Promise<void> => {
    setToken((await people.createInvitation({ role: Number(role), email: email.trim() })).token);
    onInvited();
  };
  return (
    <Dialog title={token === "" ? "Invite" : "The invitation"} onClose={onClose} isKept={token !== ""}>
      {token === "" ? (
        <ActionForm verb="Invite" send={send} onCancel={onClose}>
          <Select label="Role" name="role" value={role} options={roleOptions} onChange={setRole} />
          <Field
            label="E-mail address"
            name="email"
            value={email}
            onInput={setEmail}
            isRequired={false}
            hint="Only a person with this verified address may use it."
          />
        </ActionForm>
      ) : (
        <div class="stack">
          <p>Send this link. It is shown now and never again, and works once.</p>
          <Copyable text={`${location.origin}/invitation/${token}`} what="the invitation" />
          <div class="form-foot">
            <button type="button" class="primary" onClick={onClose}>
              Done
            </button>
          </div>
        </div>
      )}
    </Dialog>
  );
}
