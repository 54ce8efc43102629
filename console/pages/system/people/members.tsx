import { useState } from "preact/hooks";
import type { Member } from "#gen/tollgate/people/v1/person_pb.js";
import { isAccountOwner, session } from "../../../app/session.ts";
import { people } from "../../../contract/clients.ts";
import { countOf } from "../../../format/numbers.ts";
import { Answer } from "../../../parts/calls/answer.tsx";
import { MoreRows, usePages } from "../../../parts/calls/more-rows.tsx";
import { Clip } from "../../../parts/figures/clip.tsx";
import { Table } from "../../../parts/figures/table.tsx";
import { Time } from "../../../parts/figures/time.tsx";
import { Section } from "../../../parts/frame/page.tsx";
import { roleNames } from "../../../parts/people/roles.ts";
import { ChangeMember } from "./change-member.tsx";

/** The people of the account. */
export function Members() {
  const [version, setVersion] = useState(0);
  const [open, setOpen] = useState<Member | undefined>(undefined);
  const pages = usePages<Member>(
    async (pageToken, signal) => {
      const answer = await people.listMembers({ pageToken, pageSize: 100 }, { signal });
      return { rows: answer.members, next: answer.nextPageToken };
    },
    [],
    version,
  );
  const done = () => {
    setOpen(undefined);
    setVersion((before) => before + 1);
  };
  const actions = {
    name: "Actions",
    isNameHidden: true,
    isNumber: true,
    show: (member: Member) => (
      <button
        type="button"
        class="small-button"
        aria-label={`Change ${member.name || member.email || member.personId}`}
        onClick={() => setOpen(member)}
      >
        Change
      </button>
    ),
  };
  return (
    <Section title="Members">
      <Answer query={pages}>
        {(rows) => (
          <Table
            caption="Members"
            rows={rows}
            keyOf={(member) => member.personId}
            columns={[
              { name: "Name", isHeader: true, show: (member) => <Name member={member} /> },
              { name: "E-mail", isOptional: true, show: (member) => <Clip text={member.email} /> },
              { name: "Role", show: (member) => roleNames[member.role] },
              { name: "Since", isNumber: true, isOptional: true, show: (member) => <Time at={member.createdAt} /> },
              ...(isAccountOwner.value ? [actions] : []),
            ]}
          />
        )}
      </Answer>
      <MoreRows pages={pages} describe={(count) => countOf(count, "member")} />
      {open && <ChangeMember member={open} onClose={() => setOpen(undefined)} onDone={done} />}
    </Section>
  );
}

function Name({ member }: { readonly member: Member }) {
  const isSelf = member.personId === session.value?.personId;
  return (
    <>
      <Clip text={member.name || member.email || member.personId} isShort />
      {isSelf && <span class="muted"> (you)</span>}
    </>
  );
}
