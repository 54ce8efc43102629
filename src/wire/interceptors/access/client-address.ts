import { isIP } from "node:net";
import { inNetworks } from "#lib/net/networks.ts";
import { clientAddressHeader } from "#lib/rpc/call-headers.ts";
import type { CallHead } from "../../grpc/server/gate.ts";
import { peerKey } from "../../grpc/server/peer.ts";

/** Whether a peer, given by its address, is trusted to report its clients' addresses. */
export type TrustsPeer = (peer: string) => boolean;

const thisMachine = ["127.0.0.0/8", "::1"];

/** Trusts facades on this machine and in the given networks. */
export function trustFacades(networks: readonly string[]): TrustsPeer {
  return inNetworks([...thisMachine, ...networks]);
}

/** Trusts everybody: where callers have to show certificates, everybody who could connect is trusted. */
export const trustCertified: TrustsPeer = () => true;

/** The address of a call: the client's where its peer is trusted to forward it, otherwise the peer's own. */
export function readClientAddress({ contextValues, header }: Omit<CallHead, "method">, trusts: TrustsPeer): string {
  const named = header.get(clientAddressHeader);
  const isBelieved = named !== null && isIP(named) !== 0 && isForwarder(contextValues, trusts);
  return isBelieved ? named : (contextValues.get(peerKey) ?? "in process");
}

/** Whether a call's peer is trusted to forward others' requests. */
export function isForwarder(contextValues: CallHead["contextValues"], trusts: TrustsPeer): boolean {
  const peer = contextValues.get(peerKey);
  return peer === undefined || trusts(peer);
}
