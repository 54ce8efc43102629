import { createContextValues } from "@connectrpc/connect";
import { expect, test } from "@jest/globals";
import { systemRandom } from "#lib/ids/random.ts";
import { requestIdKey } from "#src/wire/grpc/call-id.ts";
import { nameRequest } from "#src/wire/interceptors/request-id.ts";

const name = (given: string) => {
  const values = createContextValues();
  return { id: nameRequest(given, systemRandom, values), known: values.get(requestIdKey) };
};

test.each(["a", "req_0-aZ", "x".repeat(64)])("takes a caller's own id %s", (given) => {
  expect(name(given)).toEqual({ id: given, known: given });
});

test("makes an id when none is given", () => {
  const { id, known } = name("");
  expect(id).toMatch(/^req_[0-9a-f]{12}7[0-9a-f]{19}$/);
  expect(known).toBe(id);
});
