import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "@jest/globals";
import { ErrorDetailSchema, Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { toOutcome } from "#src/services/status/availability/outcome.ts";
import { errorOf } from "../../../../facades/chat/errors.ts";

/** Reasons that no request for output ends with: they are of other methods, and would be a bug here. */
const ofOthers =
  /^(ACCOUNT_NOT|INVITATION_|KEY_|LAST_|MEMBER_|PASSKEY_|PAYMENT_|REFUND_|SERVER_NOT|OPERATOR_|WEBHOOK_)/;
const reasons = Object.values(Reason).filter((one): one is Reason => typeof one === "number");

test.each(reasons.filter((reason) => !ofOthers.test(Reason[reason])))(
  "reason %s counts as the status does that clients get",
  (reason) => {
    const detail = { desc: ErrorDetailSchema, value: { reason } };
    const { status } = errorOf(new ConnectError("", Code.Unknown, undefined, [detail]));
    const counts = [401, 402, 404].includes(status) ? "refused" : status >= 500 ? "failed" : undefined;
    expect(toOutcome(Code.Unknown, reason)).toBe(counts);
  },
);

test("a client that leaves does not count, a bug does", () => {
  expect(toOutcome(Code.Canceled, undefined)).toBeUndefined();
  expect(toOutcome(Code.Internal, undefined)).toBe("failed");
  expect(toOutcome(undefined, undefined)).toBe("served");
});
