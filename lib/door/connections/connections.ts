import type { Socket } from "node:net";
import type { Clock } from "../../time/clock.ts";
import { type Linked, LinkedList } from "../../workarounds/linked-list.ts";
import type { BoundName } from "../bounds.ts";
import { NetworkCounts } from "../counts/network-counts.ts";
import { Arrivals } from "./arrivals.ts";
import { type ConnectionLimits, mostOf, type Networks, toNetworks } from "./limits.ts";

/** The part of the places beyond which idle connections give way. */
const crowdedPart = 0.9;
/** Milliseconds after which a connection counts as idle: a newer one is about to ask. */
const idleMs = 1000;

/** The ends of a connection, as a socket of TCP or TLS tells them. */
export type Ends = Pick<Socket, "remoteAddress" | "remotePort">;

/** One connection's place. */
interface Place extends Linked<Place> {
  readonly socket: Socket;
  /** Undefined: a trusted proxy's, which keeps its connections for its clients. */
  readonly networks: Networks | undefined;
  /** Something has come, so it is not cut off for silence. */
  stopWaiting(): void;
  /** Gives the place back. */
  leave(): void;
  running: number;
  idleSince: number;
}

/**
 * The places of a listener's connections. A connection beyond the limits is closed as soon as it arrives, unless an
 * idle one can give way: of its own network where that has too many, and otherwise of the network that holds most.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #clock: Clock;
  readonly #isTrusted: (address: string) => boolean;
  readonly #refused: (bound: BoundName) => void;
  readonly #places = new Map<string, Place>();
  readonly #known = new WeakMap<Ends, Place>();
  readonly #narrow = new NetworkCounts();
  readonly #wide = new NetworkCounts();
  readonly #arrivals: Arrivals;
  /** Connections without a running request, by their wider network as long as it has any; idle for longest first. */
  readonly #idle = new Map<string, LinkedList<Place>>();

  constructor(
    limits: ConnectionLimits,
    clock: Clock,
    isTrusted: (address: string) => boolean,
    refused: (bound: BoundName) => void,
  ) {
    this.#limits = limits;
    this.#clock = clock;
    this.#arrivals = new Arrivals(limits, clock);
    this.#isTrusted = isTrusted;
    this.#refused = refused;
  }

  /** The connections that are open. */
  get size(): number {
    return this.#places.size;
  }

  /** Takes a new connection in, or closes it. */
  enter(socket: Socket): void {
    const { remoteAddress: address } = socket;
    if (address === undefined) {
      return void socket.destroy();
    }
    const networks = this.#isTrusted(address) ? undefined : toNetworks(address);
    if (networks !== undefined && !this.#arrivals.enter(networks)) {
      return void this.#refuse(socket, "connection_rate");
    }
    if (networks !== undefined && !this.#count(networks)) {
      return void this.#refuse(socket, "connections_per_address");
    }
    if (this.#places.size >= this.#limits.connections * crowdedPart) {
      this.#makeRoom(); // for one that is let in: no other connection gives way for a refused one
    }
    if (this.#places.size >= this.#limits.connections) {
      if (networks !== undefined) {
        this.#leave(networks);
      }
      return void this.#refuse(socket, "connections");
    }
    this.#add(socket, `${address} ${socket.remotePort}`, networks);
  }

  /** A request runs over a connection. */
  begin(ends: Ends): void {
    const place = this.#find(ends);
    if (place !== undefined && place.running++ === 0) {
      place.stopWaiting();
      this.#forgetIdle(place);
    }
  }

  /** A request of a connection is over. */
  end(ends: Ends): void {
    const place = this.#find(ends);
    if (place !== undefined && --place.running === 0 && !place.socket.destroyed) {
      this.#addIdle(place);
    }
  }

  /** Counts a client that has left as connected for so many milliseconds more. */
  keepPlace(address: string, ms: number): void {
    if (this.#isTrusted(address)) {
      return;
    }
    const networks = toNetworks(address);
    this.#narrow.add(networks.own, Number.POSITIVE_INFINITY);
    this.#wide.add(networks.wider, Number.POSITIVE_INFINITY);
    this.#clock.after(ms, () => this.#leave(networks));
  }

  /** Closes connections over which nothing has come, since a stopping server would wait for them. */
  endSilent(): void {
    for (const { socket } of this.#places.values()) {
      if (socket.bytesRead === 0) {
        socket.destroy();
      }
    }
  }

  /** Closes all of them. */
  endAll(): void {
    for (const { socket } of this.#places.values()) {
      socket.destroy();
    }
  }

  #refuse(socket: Socket, bound: BoundName): void {
    this.#refused(bound);
    socket.destroy();
  }

  /** Counts a connection for its networks, where an idle one of theirs may give way. False: they have too many. */
  #count(networks: Networks): boolean {
    const { own, wider } = networks;
    const { most, mostWider } = mostOf(networks, this.#limits);
    if (!this.#narrow.add(own, most) && !(this.#closeIdle(wider, own) && this.#narrow.add(own, most))) {
      return false;
    }
    if (this.#wide.add(wider, mostWider) || (this.#closeIdle(wider) && this.#wide.add(wider, mostWider))) {
      return true;
    }
    this.#narrow.remove(own);
    return false;
  }

  #add(socket: Socket, key: string, networks: Networks | undefined): void {
    const stopWaiting = this.#clock.after(this.#limits.firstBytesMs, () => {
      if (socket.bytesRead === 0) {
        this.#refuse(socket, "silent");
      }
    });
    const place: Place = {
      socket,
      networks,
      stopWaiting,
      running: 0,
      idleSince: 0,
      list: undefined,
      earlier: undefined,
      later: undefined,
      leave: () => {
        if (this.#places.get(key) !== place) {
          return;
        }
        this.#places.delete(key);
        this.#forgetIdle(place);
        stopWaiting();
        if (networks !== undefined) {
          this.#leave(networks);
        }
      },
    };
    this.#places.set(key, place);
    this.#known.set(socket, place);
    socket.once("close", place.leave);
    this.#addIdle(place);
  }

  #leave({ own, wider }: Networks): void {
    this.#narrow.remove(own);
    if (!this.#wide.remove(wider)) {
      this.#idle.delete(wider);
    }
  }

  /** The place of a connection, by its socket or by TLS's socket around it. */
  #find(ends: Ends): Place | undefined {
    let known = this.#known.get(ends);
    if (known === undefined) {
      known = this.#places.get(`${ends.remoteAddress} ${ends.remotePort}`);
      known && this.#known.set(ends, known);
    }
    return known;
  }

  #addIdle(place: Place): void {
    if (place.networks === undefined) {
      return;
    }
    const { wider } = place.networks;
    place.idleSince = this.#clock.monotonic();
    let others = this.#idle.get(wider);
    if (others === undefined) {
      others = new LinkedList();
      this.#idle.set(wider, others);
    }
    others.add(place);
  }

  #forgetIdle(place: Place): void {
    this.#idle.get(place.networks?.wider ?? "")?.delete(place);
  }

  /** Closes an idle connection of the network that has most of them. */
  #makeRoom(): void {
    let [largest, most] = ["", 0];
    for (const [wider, { size }] of this.#idle) {
      if (size > most) {
        [largest, most] = [wider, size];
      }
    }
    this.#closeIdle(largest);
  }

  /**
   * Closes the connection of a wider network, or of one network in it, that is idle for longest. False: none is idle
   * for long enough.
   */
  #closeIdle(wider: string, own?: string): boolean {
    for (let place = this.#idle.get(wider)?.first; place !== undefined; place = place.later) {
      if (this.#clock.monotonic() - place.idleSince < idleMs) {
        return false;
      }
      if (own === undefined || place.networks?.own === own) {
        place.leave();
        this.#refuse(place.socket, "idle");
        return true;
      }
    }
    return false;
  }
}
