import type { PageProps } from "../../../app/page-props.ts";
import { Page } from "../../../parts/frame/page.tsx";
import { UseInvitation } from "../../../parts/people/use-invitation.tsx";

/** Where the link of an invitation leads. */
export default function InvitationPage({ id }: PageProps) {
  return (
    <Page title="Invitation" lead="You are invited into an account. You keep the ones that you have.">
      <UseInvitation token={id} />
    </Page>
  );
}
