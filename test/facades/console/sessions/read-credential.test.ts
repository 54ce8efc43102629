import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { expect, test } from "@jest/globals";
import { readCredential, readFields } from "../../../../facades/console/sessions/read-credential.ts";

/** A body without an end, which counts what is read of it. */
function endless() {
  let bytes = 0;
  const piece = Buffer.alloc(1024, " ");
  const body = Readable.from(
    (function* () {
      for (;;) {
        bytes += piece.length;
        yield piece;
      }
    })(),
    { highWaterMark: 1 },
  );
  const request = Object.assign(body, {
    headers: { "content-type": "application/json" },
  }) as unknown as IncomingMessage;
  return { request, read: () => bytes };
}

test("of what signs somebody in as much is read as that needs", async () => {
  const credential = endless();
  expect(await readCredential(credential.request)).toBeUndefined();
  expect(credential.read()).toBeLessThanOrEqual(4096 + 2 * 1024);
  const passkey = endless();
  expect(await readFields(passkey.request, ["credentialJson"])).toBeUndefined();
  expect(passkey.read()).toBeLessThanOrEqual(32_768 + 2 * 1024);
});
