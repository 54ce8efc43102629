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
  const peer = contextValues.get(peerKey);
  const named = header.get(clientAddressHeader);
  const isBelieved = named !== null && isIP(named) !== 0 && (peer === undefined || trusts(peer));
  return isBelieved ? named : (peer ?? "in process");
}
