import { expect, test } from "@jest/globals";
import { reachable } from "#lib/net/address.ts";

test.each([
  ["0.0.0.0:8080", "127.0.0.1:8080"],
  ["[::]:8080", "[::1]:8080"],
  ["http://0.0.0.0:8080", "http://127.0.0.1:8080"],
  ["https://[::]:8443", "https://[::1]:8443"],
  ["10.0.0.0:8080", "10.0.0.0:8080"],
])("what listens on %s is reached at %s", (listening, reached) => {
  expect(reachable(listening)).toBe(reached);
});
