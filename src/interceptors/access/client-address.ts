import { isIP } from "node:net";
import { inNetworks } from "../../../lib/net/networks.ts";
import { clientAddressHeader } from "../../../lib/rpc/call-headers.ts";
import type { CallHead } from "../../grpc/server/gate.ts";
import { peerKey } from "../../grpc/server/peer.ts";

/** Tells whether a peer, by its address, is believed about the addresses of its clients. */
export type TrustsPeer = (peer: string) => boolean;

const thisMachine = ["127.0.0.0/8", "::1"];

/** Facades on this machine are believed, and those in the networks. */
export function trustFacades(networks: readonly string[]): TrustsPeer {
  return inNetworks([...thisMachine, ...networks]);
}

/** Where callers have to show certificates, everybody who could connect is believed. */
export const trustCertified: TrustsPeer = () => true;

/** The address of a call: the client's where its peer is trusted to forward it, else the peer's own. */
export function readClientAddress({ contextValues, header }: Omit<CallHead, "method">, trusts: TrustsPeer): string {
  const peer = contextValues.get(peerKey);
  const named = header.get(clientAddressHeader);
  const isBelieved = named !== null && isIP(named) !== 0 && (peer === undefined || trusts(peer));
  return isBelieved ? named : (peer ?? "in process");
}
