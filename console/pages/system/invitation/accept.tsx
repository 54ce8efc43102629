import { navigate } from "../../../app/router.ts";
import { switchAccount } from "../../../app/session.ts";
import { people } from "../../../contract/clients.ts";
import { ActionForm } from "../../../parts/forms/action-form.tsx";

/** Uses an invitation and opens its account. */
export function AcceptInvitation({ token }: { readonly token: string }) {
  const send = async (): Promise<void> => {
    const { accountId } = await people.acceptInvitation({ token });
    await switchAccount(accountId);
    navigate("/overview");
  };
  return <ActionForm verb="Accept the invitation" send={send} />;
}
