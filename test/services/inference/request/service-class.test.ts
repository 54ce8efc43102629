import { expect, test } from "@jest/globals";
import { ServiceClass as Wired } from "#gen/tollgate/inference/v1/service_class_pb.js";
import type { ServiceClass } from "#lib/limits/service-class.ts";
import { settleServiceClass } from "#src/services/inference/request/service-class.ts";

test.each<[Wired, ServiceClass | undefined, ServiceClass | undefined, ServiceClass]>([
  [Wired.UNSPECIFIED, undefined, undefined, "standard"],
  [Wired.PRIORITY, undefined, undefined, "standard"],
  [Wired.FLEX, undefined, undefined, "flex"],
  [Wired.UNSPECIFIED, undefined, "priority", "priority"],
  [Wired.STANDARD, undefined, "priority", "standard"],
  [Wired.PRIORITY, "standard", "priority", "standard"],
  [Wired.UNSPECIFIED, "flex", "priority", "flex"],
  [Wired.PRIORITY, "priority", undefined, "standard"],
  [Wired.PRIORITY, "priority", "priority", "priority"],
  [Wired.STANDARD, undefined, "flex", "flex"],
  [9 as Wired, undefined, undefined, "standard"],
])("a request for %s with a key of %s of an account of %s runs as %s", (wanted, key, account, expected) => {
  const caller = { ...(key && { serviceClass: key }), ...(account && { accountServiceClass: account }) };
  expect(settleServiceClass(wanted, caller)).toBe(expected);
});
