import { expect, test } from "@jest/globals";
import { readName } from "#src/identity/sessions/oidc/name.ts";

test.each([
  ["a change of the writing direction", "Ada\u202eecalevoL\u2066", "AdaecalevoL"],
  ["line ends and controls", "Ada\n\u2028\u0007Lovelace", "AdaLovelace"],
  ["half a character", "Ada\ud800", "Ada"],
  ["many letters", "x".repeat(300), "x".repeat(200)],
  ["a picture that is cut", `${"x".repeat(199)}🦊`, "x".repeat(199)],
])("%s is no part of what a provider calls a person", (_, name, kept) => {
  expect(readName({ sub: "1", name } as never)).toBe(kept);
});

test("a person without a name is called by the address, or else by the subject", () => {
  expect(readName({ sub: "1", name: " ", email: "ada@example.com" } as never)).toBe("ada@example.com");
  expect(readName({ sub: "1", name: "\u200b\u202e", email: "ada@example.com" } as never)).toBe("ada@example.com");
  expect(readName({ sub: "1" } as never)).toBe("1");
});
