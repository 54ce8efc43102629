import type { PageProps } from "../../../app/page-props.ts";
import { people } from "../../../contract/clients.ts";
import { Answer } from "../../../parts/calls/answer.tsx";
import { useQuery } from "../../../parts/calls/use-query.ts";
import { Facts } from "../../../parts/figures/facts.tsx";
import { Name } from "../../../parts/figures/name.tsx";
import { Time } from "../../../parts/figures/time.tsx";
import { Page } from "../../../parts/frame/page.tsx";
import { describeRole } from "../../../parts/people/roles.ts";
import { AcceptInvitation } from "./accept.tsx";

/** Where the link of an invitation leads: what it gives, and the way in. */
export default function InvitationPage({ id }: PageProps) {
  const query = useQuery((signal) => people.getInvitation({ token: id }, { signal }), [id]);
  return (
    <Page title="Invitation" lead="An invitation into an account. You keep the ones that you have.">
      <Answer query={query}>
        {({ accountName, role, inviterName, expiresAt }) => (
          <>
            <Facts
              facts={[
                { name: "Account", value: accountName === "" ? "one without a name" : <Name text={accountName} /> },
                { name: "Your role", value: describeRole(role) },
                {
                  name: "Invited by",
                  value: inviterName === "" ? "somebody without a name" : <Name text={inviterName} />,
                },
                { name: "Until", value: <Time at={expiresAt} /> },
              ]}
            />
            <AcceptInvitation token={id} />
          </>
        )}
      </Answer>
    </Page>
  );
}
