import { expect, test } from "@jest/globals";
import { toRelyingParty } from "#src/identity/people/passkeys/relying-party.ts";

test.each([
  ["https://console.example.com", "console.example.com", "https://console.example.com"],
  ["https://example.com:8443/path", "example.com", "https://example.com:8443"],
  ["http://127.0.0.1:8081", "localhost", "http://localhost:8081"],
  ["https://[::1]:8081", "localhost", "https://localhost:8081"],
  ["http://localhost", "localhost", "http://localhost"],
])("passkeys at %s are for %s, and for pages of %s alone", (address, id, origin) => {
  const party = toRelyingParty(address);
  expect(party?.id).toBe(id);
  expect(party?.isOrigin(origin)).toBe(true);
  for (const other of [`${origin}1`, `${origin}.evil.net`, "http://localhost:9", "https://other.example.com", ""]) {
    expect(party?.isOrigin(other)).toBe(false);
  }
});

test("a port that the system chooses is any port of this machine", () => {
  const party = toRelyingParty("http://127.0.0.1:0");
  expect(["http://localhost:1", "http://localhost:40000"].map((one) => party?.isOrigin(one))).toEqual([true, true]);
  const others = ["http://localhost", "http://localhost:1.evil.net", "https://localhost:1", "http://127.0.0.1:1"];
  expect(others.map((one) => party?.isOrigin(one))).toEqual([false, false, false, false]);
});

test.each(["http://example.com", "https://10.0.0.1", "https://[fd00::1]", "", "console"])(
  "there are none at %p",
  (address) => {
    expect(toRelyingParty(address)).toBeUndefined();
  },
);
