import { createContextValues, type UnaryRequest } from "@connectrpc/connect";
import { expect, test } from "@jest/globals";
import { configSchema } from "../../src/config/schema.ts";
import { peerKey } from "../../src/grpc/server/peer.ts";
import { clientAddressOf, facadesOf } from "../../src/interceptors/client-address.ts";

const listen = (more: object) => configSchema.parse({ listen: more }).listen;
const tls = { cert: "c", key: "k" };
const [plain, named, certified, uncertified] = [
  listen({}),
  listen({ trusted_facades: ["10.0.0.0/24"] }),
  listen({ tls: { ...tls, client_ca: "ca" } }),
  listen({ tls }),
];

test.each([
  ["in process", plain, undefined, "203.0.113.7", "203.0.113.7"],
  ["in process, unnamed", plain, undefined, null, "in process"],
  ["this machine", plain, "127.0.0.1", "203.0.113.7", "203.0.113.7"],
  ["this machine over IPv6", plain, "::1", "2001:db8::7", "2001:db8::7"],
  ["this machine on a dual socket", plain, "::ffff:127.0.0.1", "203.0.113.7", "203.0.113.7"],
  ["this machine, unnamed", plain, "127.0.0.1", null, "127.0.0.1"],
  ["another machine", plain, "10.0.0.5", "203.0.113.7", "10.0.0.5"],
  ["another machine that is trusted", named, "10.0.0.5", "203.0.113.7", "203.0.113.7"],
  ["a neighbour of it", named, "10.0.1.5", "203.0.113.7", "10.0.1.5"],
  ["whoever has a certificate", certified, "192.0.2.9", "203.0.113.7", "203.0.113.7"],
  ["whoever needs none", uncertified, "192.0.2.9", "203.0.113.7", "192.0.2.9"],
  ["this machine with what is no address", plain, "127.0.0.1", "me; drop table", "127.0.0.1"],
  ["this machine with a list", plain, "127.0.0.1", "203.0.113.7, 203.0.113.8", "127.0.0.1"],
  ["this machine with nothing", plain, "127.0.0.1", "", "127.0.0.1"],
])("a call from %s", (_, listening, peer, header, expected) => {
  const request = {
    contextValues: createContextValues().set(peerKey, peer),
    header: new Headers(header === null ? {} : { "x-tollgate-client-address": header }),
  } as UnaryRequest;
  expect(clientAddressOf(request, facadesOf(listening))).toBe(expected);
});
