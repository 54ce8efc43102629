import { createContextValues } from "@connectrpc/connect";
import { expect, test } from "@jest/globals";
import { peerKey } from "#src/wire/grpc/server/peer.ts";
import { trustFacades } from "#src/wire/interceptors/access/client-address.ts";
import { readCredential } from "#src/wire/interceptors/access/credential.ts";

const session = `tgse_${"a".repeat(49)}`;
const trusts = trustFacades(["10.0.0.0/8"]);

function read(authorization: string, peer: string | undefined): string {
  const contextValues = createContextValues().set(peerKey, peer);
  try {
    return readCredential({ header: new Headers({ authorization }), contextValues }, trusts);
  } catch (error) {
    return (error as Error).message;
  }
}

test.each([
  ["this process", undefined],
  ["this machine", "127.0.0.1"],
  ["a trusted facade", "10.1.2.3"],
])("a session comes from the console, in %s", (_, peer) => {
  expect(read(`Session ${session}`, peer)).toBe(session);
});

test.each([
  ["as a bearer in this process, where a public surface hands it on", `Bearer ${session}`, undefined],
  ["as a bearer from anywhere", `bearer ${session}`, "127.0.0.1"],
])("a session is refused %s", (_, authorization, peer) => {
  expect(read(authorization, peer)).toMatch(/A session is for the console alone/);
});

test("a session is refused from a facade that nobody named", () => {
  expect(read(`Session ${session}`, "192.0.2.1")).toMatch(/trusted facades alone/);
});

test("nothing but a session goes by that scheme", () => {
  expect(read("Session tg-key", undefined)).toMatch(/A session is for the console alone/);
  expect(read("Bearer tg-key", "192.0.2.1")).toBe("tg-key");
  expect(read("Basic dTpw", "192.0.2.1")).toMatch(/No API key/);
});
