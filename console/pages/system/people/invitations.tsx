import { useState } from "preact/hooks";
import type { Invitation } from "#gen/tollgate/people/v1/person_pb.js";
import { people } from "../../../contract/clients.ts";
import { Answer, Empty } from "../../../parts/calls/answer.tsx";
import { useQuery } from "../../../parts/calls/use-query.ts";
import { Table } from "../../../parts/figures/table.tsx";
import { Time } from "../../../parts/figures/time.tsx";
import { ActionButton } from "../../../parts/forms/action-button.tsx";
import { Section } from "../../../parts/frame/page.tsx";
import { roleNames } from "../../../parts/people/roles.ts";
import { Invite } from "./invite.tsx";

/** The open invitations into the account. */
export function Invitations() {
  const [isInviting, setInviting] = useState(false);
  const query = useQuery(async (signal) => (await people.listInvitations({}, { signal })).invitations, []);
  const revoke = async ({ id }: Invitation): Promise<void> => {
    await people.revokeInvitation({ invitationId: id });
    query.reload();
  };
  return (
    <Section
      title="Invitations"
      actions={
        <button type="button" onClick={() => setInviting(true)}>
          Invite
        </button>
      }
    >
      <Answer query={query}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="Nobody is invited">An invitation is a link that works once, for seven days.</Empty>
          ) : (
            <Table
              caption="Open invitations"
              rows={rows}
              keyOf={(invitation) => invitation.id}
              columns={[
                { name: "For", isHeader: true, show: ({ email }) => email || "whoever has the link" },
                { name: "Role", show: ({ role }) => roleNames[role] },
                { name: "Until", isNumber: true, isOptional: true, show: ({ expiresAt }) => <Time at={expiresAt} /> },
                {
                  name: "Actions",
                  isNameHidden: true,
                  isNumber: true,
                  show: (invitation) => (
                    <ActionButton isSmall act={() => revoke(invitation)}>
                      Revoke
                    </ActionButton>
                  ),
                },
              ]}
            />
          )
        }
      </Answer>
      {isInviting && <Invite onClose={() => setInviting(false)} onInvited={query.reload} />}
    </Section>
  );
}
