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

/** A call that waits for a turn of its client's network. */
export interface Waiting {
  readonly connection: Connection | undefined;
  /** The address that has turns. Undefined: a trusted peer calls, whose clients have had theirs at its own door. */
  readonly client: string | undefined;
  onClose(listener: () => void): void;
  /** Goes on with it. */
  act(): void;
}

/** Answers a refused call in its turn. */
export function refuseInTurn(call: Waiting, door: Door): void {
  standingOf(call.connection, door).refused();
  inTurn("refusals", call, door);
}

/** Goes on with a call in its turn. A client that does not wait for it keeps its place among its network's connections. */
export function inTurn(
  bound: "refusals" | "uncounted",
  { connection, client, onClose, act }: Waiting,
  door: Door,
): void {
  const waitMs = client === undefined ? 0 : door[bound].take(client, 1);
  if (client === undefined || waitMs === 0) {
    act();
    return;
  }
  door.refused(bound);
  const standing = standingOf(connection, door);
  standing.waits();
  const endAt = door.clock.monotonic() + waitMs;
  let isWaiting = true;
  const forget = door.clock.after(waitMs, () => {
    isWaiting = false;
    standing.waited();
    act();
  });
  onClose(() => {
    if (isWaiting) {
      forget();
      standing.waited();
      door.connections.keepPlace(client, endAt - door.clock.monotonic());
    }
  });
}
