import { mayChangeKeys } from "../../../../app/session.ts";
import { accounts } from "../../../../contract/clients.ts";
import { useRequestId } from "../../../../contract/request-id.ts";
import { Answer } from "../../../../parts/calls/answer.tsx";
import { Copyable } from "../../../../parts/figures/copy.tsx";
import { ActionButton } from "../../../../parts/forms/action-button.tsx";
import { Dialog } from "../../../../parts/forms/dialog.tsx";
import { Secret } from "../../../../parts/keys/secret.tsx";
import { toCurl } from "../../../../parts/requests/curl.ts";
import { useGenerators } from "../../../../parts/requests/use-generators.ts";

interface Props {
  /** Empty: none was made yet, or it is shown at the moment. */
  readonly secret: string;
  readonly onMade: (secret: string) => void;
}

/** Makes a key, and tells how to send a request with it. */
export function FirstKey({ secret, onMade }: Props) {
  const requestId = useRequestId();
  const make = async (): Promise<void> => onMade((await accounts.createKey({ name: "first key", requestId })).secret);
  return (
    <li class="card">
      <h2>A key and a request</h2>
      {secret !== "" ? (
        <Command secret={secret} />
      ) : mayChangeKeys.value ? (
        <p>
          <ActionButton act={make}>Create a key</ActionButton>
        </p>
      ) : (
        <p class="muted">A developer or an owner of the account makes keys.</p>
      )}
    </li>
  );
}

/** Shows the key and a command with it until the reader is done with them, whatever comes meanwhile. */
export function NewKey({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) {
  return (
    <Dialog title="The new key" onClose={onClose} isKept>
      <Secret secret={secret} onClose={onClose}>
        <Command secret={secret} />
      </Secret>
    </Dialog>
  );
}

function Command({ secret }: { readonly secret: string }) {
  const models = useGenerators();
  return (
    <Answer query={models}>
      {([model = ""]) => (
        <>
          <p>For a request, run this in a terminal.</p>
          <Copyable text={toCurl(secret, model, "In two sentences: why is the sky blue?")} what="the command" />
        </>
      )}
    </Answer>
  );
}
