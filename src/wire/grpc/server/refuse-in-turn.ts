import type { Http2Session } from "node:http2";
import type { Door } from "#lib/door/door.ts";
import { Standing } from "./standing.ts";

/** A connection of gRPC. */
export type Connection = Pick<Http2Session, "destroy" | "socket">;

const standings = new WeakMap<Connection, Standing>();

/** What became of a connection's calls. Undefined: of one that is gone. */
export function standingOf(connection: Connection | undefined, { refused }: Pick<Door, "refused">): Standing {
  const cut = () => {
    refused("credentials");
    connection?.destroy();
  };
  const standing = (connection && standings.get(connection)) ?? new Standing(cut);
  if (connection !== undefined) {
    standings.set(connection, standing);
  }
  return standing;
}

/** A call that is refused. */
interface Refused {
  readonly connection: Connection | undefined;
  /** The address that has turns. Undefined: a trusted peer calls, whose clients have had theirs at its own door. */
  readonly client: string | undefined;
  onClose(listener: () => void): void;
  /** Tells the client. */
  answer(): void;
}

/** Answers a refused call in its turn. A client that does not wait for it keeps its place among its network's connections. */
export function refuseInTurn({ connection, client, onClose, answer }: Refused, door: Door): void {
  const standing = standingOf(connection, door);
  standing.refused();
  const waitMs = client === undefined ? 0 : door.refusals.take(client, 1);
  if (client === undefined || waitMs === 0) {
    answer();
    return;
  }
  door.refused("refusals");
  standing.waits();
  const endAt = door.clock.monotonic() + waitMs;
  let isWaiting = true;
  const forget = door.clock.after(waitMs, () => {
    isWaiting = false;
    standing.waited();
    answer();
  });
  onClose(() => {
    if (isWaiting) {
      forget();
      standing.waited();
      door.connections.keepPlace(client, endAt - door.clock.monotonic());
    }
  });
}
