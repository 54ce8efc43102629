import { isAccountOwner, isWithoutAccount, session } from "../../../app/session.ts";
import { Page } from "../../../parts/frame/page.tsx";
import { AccountFacts } from "./account-facts.tsx";
import { EnterInvitation } from "./enter-invitation.tsx";
import { Invitations } from "./invitations.tsx";
import { Members } from "./members.tsx";
import { OwnAccounts } from "./own-accounts.tsx";
import { OwnMails } from "./own-mails.tsx";
import { Passkeys } from "./passkeys.tsx";

/** The account of the person who is signed in, and its people. */
export default function PeoplePage() {
  if (isWithoutAccount.value) {
    return (
      <Page title="People" lead="You have no account here yet: somebody who has one has to invite you.">
        <EnterInvitation />
      </Page>
    );
  }
  return (
    <Page title="People" lead="Your account, and who has a place in it.">
      <AccountFacts />
      <Members />
      {isAccountOwner.value && <Invitations />}
      <OwnAccounts />
      {session.value?.personId !== "" && (
        <>
          <OwnMails />
          <Passkeys />
        </>
      )}
    </Page>
  );
}
