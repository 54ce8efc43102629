import { type Server, ServerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import { say } from "../../../app/said.tsx";
import { catalogue } from "../../../contract/clients.ts";
import { ActionButton } from "../../../parts/forms/action-button.tsx";

interface Props {
  readonly server: Server;
  readonly onChanged: () => void;
}

/** Drains or resumes a server. Either can be undone at once, so neither asks for confirmation. */
export function DrainButton({ server, onChanged }: Props) {
  const isDraining = server.state === ServerState.DRAINING;
  const change = async (): Promise<void> => {
    const which = { serverId: server.id };
    await (isDraining ? catalogue.resumeServer(which) : catalogue.drainServer(which)).finally(onChanged);
    say(isDraining ? "The server gets requests again." : "The server gets no new requests.");
  };
  return (
    <div class="actions">
      <ActionButton act={change} isSmall>
        {isDraining ? "Resume" : "Drain"}
      </ActionButton>
    </div>
  );
}
