import type { Member } from "#gen/tollgate/people/v1/person_pb.js";
import { people } from "../../../contract/clients.ts";
import { countOf } from "../../../format/numbers.ts";
import { Answer, Empty } from "../../../parts/calls/answer.tsx";
import { MoreRows, usePages } from "../../../parts/calls/more-rows.tsx";
import { Clip } from "../../../parts/figures/clip.tsx";
import { Table } from "../../../parts/figures/table.tsx";
import { Time } from "../../../parts/figures/time.tsx";
import { Section } from "../../../parts/frame/page.tsx";
import { roleNames } from "../../../parts/people/roles.ts";

/** The people who have a place in an account. Its owners change them on their own page. */
export function People({ accountId }: { readonly accountId: string }) {
  const pages = usePages<Member>(
    async (pageToken, signal) => {
      const answer = await people.listMembers({ accountId, pageToken, pageSize: 100 }, { signal });
      return { rows: answer.members, next: answer.nextPageToken };
    },
    [accountId],
  );
  return (
    <Section title="People">
      <Answer query={pages}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="Nobody has a place in it">
              <code>tollgate accounts invite {accountId}</code> makes a link that gives somebody one.
            </Empty>
          ) : (
            <Table
              caption="People"
              rows={rows}
              keyOf={({ personId }) => personId}
              columns={[
                {
                  name: "Name",
                  isHeader: true,
                  show: (member) => <Clip text={member.name || member.email || member.personId} />,
                },
                { name: "E-mail", show: ({ email }) => <Clip text={email} /> },
                { name: "Role", show: ({ role }) => roleNames[role] },
                { name: "Since", isNumber: true, isOptional: true, show: ({ createdAt }) => <Time at={createdAt} /> },
              ]}
            />
          )
        }
      </Answer>
      <MoreRows pages={pages} describe={(count) => countOf(count, "member")} />
    </Section>
  );
}
