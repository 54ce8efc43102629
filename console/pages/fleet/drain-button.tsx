import { useState } from "preact/hooks";
import { type Server, ServerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import { catalogue } from "../../contract/clients.ts";
import { toMessage } from "../../contract/failure.ts";

interface Props {
  readonly server: Server;
  readonly onChanged: () => void;
}

/** Takes a server out of the choice, or puts it back; both can be undone at once, so neither asks. */
export function DrainButton({ server, onChanged }: Props) {
  const [error, setError] = useState<unknown>(undefined);
  const isDraining = server.state === ServerState.DRAINING;
  const change = async (): Promise<void> => {
    setError(undefined);
    try {
      await (isDraining
        ? catalogue.resumeServer({ serverId: server.id })
        : catalogue.drainServer({ serverId: server.id }));
    } catch (failure) {
      setError(failure);
    }
    onChanged();
  };
  return (
    <div class="actions">
      <button type="button" class="small-button" onClick={() => void change()}>
        {isDraining ? "Resume" : "Drain"}
      </button>
      {error !== undefined && (
        <span class="small" role="alert">
          {toMessage(error)}
        </span>
      )}
    </div>
  );
}
