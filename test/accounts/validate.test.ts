import { describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { detailOf } from "../../lib/errors/detail.ts";
import { requireName, requireReference } from "../../src/accounts/validate.ts";

describe.each([
  ["name", requireName],
  ["reference", requireReference],
])("a %s", (parameter, require) => {
  test.each(["nul\0", "\0", "lone \ud800", "\udc00 first"])("is refused as a bad argument: %j", (text) => {
    let error: unknown;
    try {
      require(text);
    } catch (thrown) {
      error = thrown;
    }
    expect(detailOf(error)).toMatchObject({ reason: Reason.INVALID_ARGUMENT, parameter });
  });

  test.each(["plain", "zwölf 🦊", "line\nend"])("is kept: %j", (text) => {
    expect(require(text)).toBe(text);
  });
});
