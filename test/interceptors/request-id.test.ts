import { createContextValues } from "@connectrpc/connect";
import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { detailOf } from "../../lib/errors/detail.ts";
import { systemRandom } from "../../lib/ids/random.ts";
import { requestIdKey } from "../../src/interceptors/observe.ts";
import { nameRequest } from "../../src/interceptors/request-id.ts";

const name = (given: string) => {
  const values = createContextValues();
  return { id: nameRequest(given, systemRandom, values), known: values.get(requestIdKey) };
};

test.each(["a", "req_0-aZ", "x".repeat(64)])("takes a caller's own id %s", (given) => {
  expect(name(given)).toEqual({ id: given, known: given });
});

test("makes an id when none is given", () => {
  const { id, known } = name("");
  expect(id).toMatch(/^req_[0-9a-f]{32}$/);
  expect(known).toBe(id);
});

test.each(["a b", "x".repeat(65), "nul\0", "lone \ud800", "é", "line\n", "a\r\nx-injected: 1", " a", "１"])(
  "refuses the id %j",
  (given) => {
    let error: unknown;
    try {
      name(given);
    } catch (thrown) {
      error = thrown;
    }
    expect(detailOf(error)).toMatchObject({ reason: Reason.INVALID_ARGUMENT, parameter: "request_id" });
  },
);
