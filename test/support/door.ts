import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** A proxy in front of a server that a test can shut. */
export interface Door {
  readonly url: string;
  /** Cuts every connection and refuses new ones. */
  shut(): Promise<void>;
  /** Accepts connections and never answers, like a server that hangs. */
  hang(): void;
  /** Carries nothing on existing connections, not even their end, as when a host vanishes. New connections work. */
  forsake(): void;
  /**
   * Cuts the next connection over which a client sends this text: before the server gets it, or once the server has
   * done it and answers. Resolves when that has happened.
   */
  lose(text: string, what: "request" | "reply"): Promise<void>;
  open(): Promise<void>;
}

/** Two connected sockets that carry bytes to each other. */
interface Passage {
  readonly ends: readonly [Socket, Socket];
  forsaken: boolean;
  /** If set, the server's next answer cuts it. */
  loses: (() => void) | undefined;
}

/** What is to be lost, and what to call then. */
interface Trap {
  readonly text: string;
  readonly what: "request" | "reply";
  readonly sprung: () => void;
}

/** Starts a proxy between clients and a server, whose URL has its port. */
export async function startDoor(serverUrl: string): Promise<Door> {
  const target = new URL(serverUrl);
  const passages = new Set<Passage>();
  let hanging = false;
  let port = 0;
  let server: Server | undefined;
  let trap: Trap | undefined;
  const cut = () => {
    for (const { ends } of passages) {
      for (const end of ends) {
        end.destroy();
      }
    }
    passages.clear();
  };
  const cutOne = (passage: Passage, lost: () => void) => {
    for (const end of passage.ends) {
      end.destroy();
    }
    lost();
  };
  /** Whether these bytes go no further. */
  const loses = (passage: Passage, data: Buffer | string, outwards: boolean): boolean => {
    if (!outwards) {
      if (passage.loses !== undefined) {
        cutOne(passage, passage.loses);
      }
      return passage.loses !== undefined;
    }
    if (trap === undefined || !data.includes(trap.text)) {
      return false;
    }
    const { what, sprung } = trap;
    trap = undefined;
    if (what === "reply") {
      passage.loses = sprung;
    } else {
      cutOne(passage, sprung);
    }
    return what === "request";
  };
  const enter = (inside: Socket) => {
    const outside = connect(Number(target.port), target.hostname);
    const passage: Passage = { ends: [inside, outside], forsaken: false, loses: undefined };
    passages.add(passage);
    for (const [from, to] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      from.on("data", (data) => {
        if (!hanging && !passage.forsaken && !loses(passage, data, from === inside)) {
          to.write(data);
        }
      });
      from.on("error", () => {});
      from.on("close", () => {
        if (passage.forsaken) {
          return;
        }
        passages.delete(passage);
        to.destroy();
      });
    }
  };
  const door: Door = {
    get url() {
      const url = new URL(serverUrl);
      url.hostname = "127.0.0.1";
      url.port = String(port);
      return url.href;
    },
    async shut() {
      cut();
      await new Promise((resolve) => server?.close(resolve));
    },
    hang() {
      hanging = true;
    },
    forsake() {
      for (const passage of passages) {
        passage.forsaken = true;
      }
    },
    lose(text, what) {
      return new Promise((sprung) => {
        trap = { text, what, sprung };
      });
    },
    async open() {
      if (hanging) {
        cut();
      }
      hanging = false;
      if (server?.listening) {
        return;
      }
      const listening = createServer(enter);
      server = listening;
      await new Promise<void>((resolve) => listening.listen(port, "127.0.0.1", resolve));
      port = (listening.address() as AddressInfo).port;
    },
  };
  await door.open();
  return door;
}
