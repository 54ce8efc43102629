import type { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Writable } from "node:stream";
import { toNetwork } from "../net/network.ts";
import { sendRest } from "../net/send-whole.ts";
import type { Door } from "./door.ts";

/** A wait for the turn of a client's network. */
export interface Wait {
  readonly ms: number;
  readonly client: string;
  /** The other end of its connection, which a client that does not wait keeps among its network's. */
  readonly peer: string;
}

/** What goes on with a connection once the answer that it holds back is written. */
const next = new WeakMap<Socket, (() => void)[]>();

/** Calls `act` once a connection holds back no answer: it is written, or the client has left. At once where it holds none. */
export function whenWritten(socket: Socket, act: () => void): void {
  const acts = next.get(socket);
  if (acts === undefined) {
    act();
  } else {
    acts.push(act);
  }
}

/**
 * Holds an answer back as its bytes alone. Node.js takes its request for answered and forgets it: of thousands that wait, as
 * long as a flood lasts, each would otherwise keep its request, its response and all that hears of their ends.
 */
export function holdBack(response: ServerResponse, socket: Socket, end: () => void, wait: Wait, door: Door): void {
  const pieces = finishUnsent(response, socket, end);
  next.set(socket, []);
  door.holding += 1;
  const goOn = () => {
    const acts = next.get(socket) ?? [];
    next.delete(socket);
    door.holding -= 1;
    for (const act of acts) {
      act();
    }
  };
  const send = () => {
    sendRest(socket, pieces, toNetwork(wait.client), door.unread);
    goOn();
  };
  inTurn(socket, wait, door, send, goOn);
}

/** Acts in a client's turn, or calls `left` where it does not wait. It keeps its place until its turn then. */
export function inTurn(
  ends: EventEmitter,
  { ms, peer }: Wait,
  { clock, connections }: Door,
  act: () => void,
  left = () => {},
): void {
  const endAt = clock.monotonic() + ms;
  const leave = () => {
    forget();
    connections.keepPlace(peer, endAt - clock.monotonic());
    left();
  };
  const forget = clock.after(ms, () => {
    ends.off("close", leave);
    act();
  });
  ends.once("close", leave);
}

/** Finishes a response without sending it. Returns its bytes. */
function finishUnsent(response: ServerResponse, socket: Socket, end: () => void): readonly Buffer[] {
  const sink = new Sink();
  const standIn = sink as unknown as Socket;
  response.detachSocket(socket);
  response.assignSocket(standIn);
  end();
  response.detachSocket(standIn);
  response.assignSocket(socket); // from which Node.js detaches it when it is finished
  return sink.pieces;
}

/** Takes at once all that is written to it. */
class Sink extends Writable {
  readonly pieces: Buffer[] = [];

  override _write(piece: Buffer, _encoding: string, done: () => void): void {
    this.pieces.push(piece);
    done();
  }
}
