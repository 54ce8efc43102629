import type { Message } from "@bufbuild/protobuf";
import type { StreamRequest, UnaryRequest } from "@connectrpc/connect";
import { toNetwork } from "#lib/net/network.ts";
import { refusedStatusHeader } from "#lib/rpc/call-headers.ts";
import { OneMessage } from "../../grpc/messages/request-messages.ts";
import { isForwarder, readClientAddress, type TrustsPeer } from "../access/client-address.ts";
import { principalKey, refusedKey } from "../access/principal.ts";

/** Whose call it was and what it asked for, as far as it is known: what somebody looks for who asks why it failed. */
export interface CallerFacts {
  /** The account that would have paid. */
  readonly account?: string;
  readonly operator?: string;
  /** The id of the API key that was right, or was until it ended. */
  readonly keyId?: string;
  /** The last four characters of an API key. */
  readonly key?: string;
  /** A served model: any other name is a caller's text, which no log gets. */
  readonly model?: string;
  /** The network of the client's address. */
  readonly address: string;
}

/** What is needed to read them. */
export interface Known {
  /** Whether a peer is believed where its clients are. */
  readonly trusts: TrustsPeer;
  readonly isServed: (model: string) => boolean;
}

/** Reads the facts of a call. */
export function readCallerFacts(request: UnaryRequest | StreamRequest, { trusts, isServed }: Known): CallerFacts {
  const principal = request.contextValues.get(principalKey) ?? request.contextValues.get(refusedKey);
  const key = lastFour(request.header.get("authorization"));
  const model = readModel(request);
  return {
    ...(principal?.kind === "caller" && principal.accountId !== "" && { account: principal.accountId }),
    ...(principal?.kind === "caller" && principal.keyId !== "" && { keyId: principal.keyId }),
    ...(principal?.kind === "operator" && { operator: principal.name }),
    ...(key !== undefined && { key }),
    ...(isServed(model) && { model }),
    address: toNetwork(readClientAddress(request, trusts)),
  };
}

/** Only of what has the shape of a key: a configured token may be short. */
function lastFour(authorization: string | null): string | undefined {
  return /^Bearer [a-z0-9]{1,12}[-_][0-9A-Za-z]{45}([0-9A-Za-z]{4})$/.exec(authorization ?? "")?.[1];
}

/** What a call asks, where it is one message. */
export function readAsked({ message }: UnaryRequest | StreamRequest): Message | AsyncIterable<Message> {
  return message instanceof OneMessage ? message.message : message;
}

/** The model that a call asks for, as its caller wrote it. Empty: none. */
export function readModel(request: UnaryRequest | StreamRequest): string {
  const asked = readAsked(request);
  return "model" in asked && typeof asked.model === "string" ? asked.model : "";
}

/** The status with which a facade has refused the request that a call tells of. 0: it tells of none. */
export function readRefused(request: UnaryRequest | StreamRequest): number {
  const asked = readAsked(request);
  return "refusedStatus" in asked && typeof asked.refusedStatus === "number" ? asked.refusedStatus : 0;
}

/** The same by a call's head, which a facade is believed: of a call that is refused there is no message. */
export function readRefusedOnHead({ header, contextValues }: UnaryRequest | StreamRequest, trusts: TrustsPeer): number {
  const told = header.get(refusedStatusHeader) ?? "";
  return /^[45]\d\d$/.test(told) && isForwarder(contextValues, trusts) ? Number(told) : 0;
}
