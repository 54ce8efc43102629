import { ConnectError, createContextValues } from "@connectrpc/connect";
import type * as grpc from "@grpc/grpc-js";
import { Health } from "#gen/grpc/health/v1/health_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { BoundName } from "#lib/door/bounds.ts";
import type { Door } from "#lib/door/door.ts";
import { failure } from "#lib/errors/failure.ts";
import { answeredIdHeader } from "#lib/rpc/call-headers.ts";
import { heardKey, nameCall, requestIdKey } from "../call-id.ts";
import type { ServedMethod } from "../invoke.ts";
import { maxInflating } from "../messages/limits.ts";
import { toHeaders } from "../messages/metadata.ts";
import { Slots } from "../messages/slots.ts";
import { toConnectError, toStatus } from "../messages/status.ts";
import { withReason } from "../messages/with-reason.ts";
import { hasUnreadableDeadline } from "../workarounds/deadlines.ts";
import {
  addToAnswer,
  closeRequest,
  findConnection,
  limitInflating,
  listenBefore,
  onAnswer,
  onClose,
  onRequestBytes,
  readInPieces,
} from "../workarounds/server-call.ts";
import { type CallHead, type Gate, listenerKey, refuse, tooManyCalls } from "./gate.ts";
import { inTurn, refuseInTurn, standingOf, type Waiting } from "./in-turn.ts";
import { peerKey } from "./peer.ts";
import type { Receiving, Reception } from "./receiving.ts";
import { WatchedAnswer } from "./watched-answer.ts";

const unreadableDeadline = "grpc-timeout must be 1 to 8 digits and a unit: H, M, S, m, u or n.";

const heads = new WeakMap<grpc.Metadata, CallHead>();

/** The head of an admitted call, found by the metadata that its handler gets. */
export function readHead(metadata: grpc.Metadata): Pick<CallHead, "header" | "contextValues"> {
  return heads.get(metadata) ?? { header: toHeaders(metadata), contextValues: createContextValues() };
}

/** Admits calls by their headers, and only then reads their messages, within bounds of memory and time. */
export function guardCalls(served: ReadonlyMap<string, ServedMethod>, bounds: Bounds): grpc.ServerInterceptor {
  const slots = new Slots(maxInflating);
  const guard = (method: ServedMethod, call: Call) => {
    limitInflating(call, slots);
    if (method.spec.kind === "bidi_streaming") {
      readInPieces(call);
    }
    listenBefore(call, (listener) => new GuardedCall(call, listener, method, bounds));
  };
  return ({ path }, call) => {
    const method = served.get(path);
    if (method !== undefined) {
      guard(method, call);
    }
    return call as ReturnType<grpc.ServerInterceptor>;
  };
}

/** The bounds of calls. */
interface Bounds {
  readonly gate: Gate;
  readonly receiving: Receiving;
  readonly door: Door;
}

type Call = grpc.ServerInterceptingCallInterface;
type Listener = Parameters<Call["start"]>[0];

class GuardedCall implements Listener {
  readonly #call: Call;
  readonly #listener: Listener;
  readonly #served: ServedMethod;
  readonly #bounds: Bounds;
  #reception: Reception | undefined;
  #isOver = false;

  constructor(call: Call, listener: Listener, served: ServedMethod, bounds: Bounds) {
    this.#call = call;
    this.#listener = listener;
    this.#served = served;
    this.#bounds = bounds;
  }

  onReceiveMetadata(metadata: grpc.Metadata): void {
    const { method } = this.#served.spec;
    const contextValues = createContextValues()
      .set(peerKey, readAddress(this.#call.getPeer()))
      .set(listenerKey, this.#bounds.door.name);
    const head = { method, header: toHeaders(metadata), contextValues };
    nameCall(head.header, contextValues);
    addToAnswer(
      this.#call,
      answeredIdHeader,
      () => contextValues.get(requestIdKey),
      (status) => (contextValues.get(heardKey) ? status : this.#refuseUnheard(head, status)),
    );
    Promise.resolve(this.#bounds.gate.admit(head)).then(
      (payer) => {
        const enter = () => this.#enter(metadata, head, payer);
        if (method.parent.typeName === Health.typeName) {
          inTurn("uncounted", this.#waiting(head, enter), this.#bounds.door);
        } else {
          enter();
        }
      },
      (error: unknown) => this.#refuseInTurn(head, ConnectError.from(error)),
    );
  }

  /** Begins to read the messages of an admitted call. */
  #enter(metadata: grpc.Metadata, head: CallHead, payer: string): void {
    this.#noteAdmission();
    if (this.#isOver) {
      return;
    }
    if (hasUnreadableDeadline(this.#call)) {
      return void this.#refuseInTurn(head, failure(Reason.INVALID_ARGUMENT, unreadableDeadline));
    }
    const leave = this.#bounds.door.begin(payer);
    if (leave === undefined) {
      return void this.#refuseInTurn(head, tooManyCalls());
    }
    onClose(this.#call, leave);
    heads.set(metadata, head);
    const isStream = this.#served.spec.kind === "bidi_streaming";
    const reception = this.#bounds.receiving.begin(payer, (reason, bound) => this.#cut(head, reason, bound), isStream);
    this.#reception = reception;
    this.#watchAnswer(payer);
    onRequestBytes(this.#call, (bytes) => reception.take(bytes));
    this.#listener.onReceiveMetadata(metadata);
  }

  #refuseInTurn(head: CallHead, reason: ConnectError): void {
    refuseInTurn(
      this.#waiting(head, () => void this.#refuse(head, reason)),
      this.#bounds.door,
    );
  }

  #waiting(head: CallHead, act: () => void): Waiting {
    const call = this.#call;
    const peer = readAddress(call.getPeer());
    const client = this.#bounds.gate.clientOf?.(head) ?? peer;
    return {
      connection: findConnection(call),
      client: client === peer ? peer : undefined,
      onClose: (listener) => onClose(call, listener),
      act,
    };
  }

  #cut(head: CallHead, reason: ConnectError, bound: BoundName): void {
    this.#bounds.door.refused(bound);
    void this.#refuse(head, reason);
  }

  /** Watches the answer until the stream is closed: a client may leave all of it unread. */
  #watchAnswer(payer: string): void {
    const { unread } = this.#bounds.door;
    const isWhole = this.#served.spec.kind === "unary";
    const call = this.#call;
    let answer: WatchedAnswer | undefined;
    onAnswer(call, {
      wrote(stream) {
        if (answer !== undefined) {
          return answer.wrote();
        }
        const watched = new WatchedAnswer(payer, isWhole ? stream.waiting : 0, stream);
        answer = watched;
        unread.add(watched);
        onClose(call, () => unread.delete(watched));
      },
      took: () => answer?.took(),
      ended: () => answer?.end(),
    });
  }

  onReceiveMessage(message: unknown): void {
    this.#reception?.next();
    this.#listener.onReceiveMessage(message);
  }

  onReceiveHalfClose(): void {
    this.#reception?.end();
    this.#listener.onReceiveHalfClose();
  }

  onCancel(): void {
    this.#isOver = true;
    this.#reception?.end();
    this.#listener.onCancel();
  }

  #noteAdmission(): void {
    const { door } = this.#bounds;
    const { connections } = door;
    const connection = findConnection(this.#call);
    const standing = standingOf(connection, door);
    const ends = connection?.socket;
    standing.admitted();
    if (ends !== undefined) {
      connections.begin(ends);
    }
    onClose(this.#call, () => {
      standing.left();
      if (ends !== undefined) {
        connections.end(ends);
      }
    });
  }

  async #refuse(head: CallHead, reason: ConnectError): Promise<void> {
    if (this.#isOver) {
      return;
    }
    this.#isOver = true;
    this.#reception?.end();
    this.#call.sendStatus(toStatus(await this.#tell(head, reason)));
    closeRequest(this.#call);
  }

  /** Tells the interceptors of what grpc-js refuses before they hear of it, such as a message that is too large. Returns what to answer. */
  #refuseUnheard(head: CallHead, status: grpc.StatusObject): grpc.StatusObject {
    const reason = withReason(toConnectError(status));
    void this.#tell(head, reason);
    return toStatus(reason);
  }

  /** Tells the interceptors of a refusal. */
  #tell(head: CallHead, reason: ConnectError): Promise<unknown> {
    const { interceptors, url, spec } = this.#served;
    const { signal } = new AbortController();
    return refuse(interceptors, { ...head, method: spec.method as never, url, signal }, reason);
  }
}

function readAddress(peer: string): string {
  return peer.replace(/:\d+$/, "");
}
