import { expect, test } from "@jest/globals";
import { systemRandom } from "#lib/ids/random.ts";
import { newSessionToken, toCookie } from "#src/identity/sessions/session-token.ts";
import { readCredential } from "#src/wire/interceptors/access/credential.ts";

const token = newSessionToken(systemRandom);
const cookie = toCookie(token, "an operator's token");

function read(authorization: string): string {
  try {
    return readCredential(new Headers({ authorization }));
  } catch (error) {
    return (error as Error).message;
  }
}

test.each([
  ["a key", "Bearer tg-key", "tg-key"],
  ["a session's token", `bearer ${token}`, token],
  ["the cookie that a console sends", `Session ${cookie}`, cookie],
])("%s is read", (_, authorization, credential) => {
  expect(read(authorization)).toBe(credential);
});

test.each([
  ["a cookie as a bearer", `Bearer ${cookie}`, /cookie is for the console alone/],
  ["a token as a cookie", `Session ${token}`, /cookie is for the console alone/],
  ["a key as a cookie", "Session tg-key", /cookie is for the console alone/],
  ["another scheme", "Basic dTpw", /No API key/],
])("%s is refused", (_, authorization, message) => {
  expect(read(authorization)).toMatch(message);
});
