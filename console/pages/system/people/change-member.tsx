import { useState } from "preact/hooks";
import type { Member } from "#gen/tollgate/people/v1/person_pb.js";
import { people } from "../../../contract/clients.ts";
import { Name } from "../../../parts/figures/name.tsx";
import { ActionButton } from "../../../parts/forms/action-button.tsx";
import { ActionForm } from "../../../parts/forms/action-form.tsx";
import { Dialog } from "../../../parts/forms/dialog.tsx";
import { Select } from "../../../parts/forms/field.tsx";
import { roleOptions } from "../../../parts/people/roles.ts";

interface Props {
  readonly member: Member;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Gives a member another role, or takes the person out of the account. */
export function ChangeMember({ member: { personId, name, email, role }, onClose, onDone }: Props) {
  const [wanted, setWanted] = useState(String(role));
  const send = async (): Promise<void> => {
    await people.setMemberRole({ personId, role: Number(wanted) });
    onDone();
  };
  const remove = async (): Promise<void> => {
    await people.removeMember({ personId });
    onDone();
  };
  return (
    <Dialog
      title={
        <>
          Change <Name text={name || email || "the member"} />
        </>
      }
      onClose={onClose}
    >
      <ActionForm verb="Change role" send={send} onCancel={onClose}>
        <Select label="Role" name="role" value={wanted} options={roleOptions} onChange={setWanted} />
        <p class="small muted">
          Who is removed loses sessions and management keys within ten seconds; other keys stay with the account.
        </p>
        <ActionButton act={remove}>Remove from the account</ActionButton>
      </ActionForm>
    </Dialog>
  );
}
