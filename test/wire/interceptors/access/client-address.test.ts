import { createContextValues, type UnaryRequest } from "@connectrpc/connect";
import { expect, test } from "@jest/globals";
import { peerKey } from "#src/wire/grpc/server/peer.ts";
import { readClientAddress, trustCertified, trustFacades } from "#src/wire/interceptors/access/client-address.ts";

const [unnamed, named] = [trustFacades([]), trustFacades(["10.0.0.0/24"])];

test.each([
  ["in process", unnamed, undefined, "203.0.113.7", "203.0.113.7"],
  ["in process, unnamed", unnamed, undefined, null, "in process"],
  ["this machine", unnamed, "127.0.0.1", "203.0.113.7", "203.0.113.7"],
  ["this machine over IPv6", unnamed, "::1", "2001:db8::7", "2001:db8::7"],
  ["this machine on a dual socket", unnamed, "::ffff:127.0.0.1", "203.0.113.7", "203.0.113.7"],
  ["this machine, unnamed", unnamed, "127.0.0.1", null, "127.0.0.1"],
  ["another machine", unnamed, "10.0.0.5", "203.0.113.7", "10.0.0.5"],
  ["another machine that is trusted", named, "10.0.0.5", "203.0.113.7", "203.0.113.7"],
  ["a neighbour of it", named, "10.0.1.5", "203.0.113.7", "10.0.1.5"],
  ["whoever has a certificate", trustCertified, "192.0.2.9", "203.0.113.7", "203.0.113.7"],
  ["another machine, none of which is trusted", unnamed, "192.0.2.9", "203.0.113.7", "192.0.2.9"],
  ["this machine with what is no address", unnamed, "127.0.0.1", "me; drop table", "127.0.0.1"],
  ["this machine with a list", unnamed, "127.0.0.1", "203.0.113.7, 203.0.113.8", "127.0.0.1"],
  ["this machine with nothing", unnamed, "127.0.0.1", "", "127.0.0.1"],
])("a call from %s", (_, trusts, peer, header, expected) => {
  const request = {
    contextValues: createContextValues().set(peerKey, peer),
    header: new Headers(header === null ? {} : { "x-tollgate-client-address": header }),
  } as UnaryRequest;
  expect(readClientAddress(request, trusts)).toBe(expected);
});
