import { Code, createContextValues } from "@connectrpc/connect";
import { describe, expect, test } from "@jest/globals";
import { principalKey, readCaller, readPrincipal, visibleAccount } from "#src/wire/interceptors/access/principal.ts";
import type { Principal } from "#src/wire/principal.ts";
import { caller, operator } from "./fake-authenticator.ts";

describe("principals", () => {
  const stranger: Principal = { kind: "caller", accountId: "", keyId: "", personId: "person" };
  const context = (principal?: Principal) => ({ values: createContextValues().set(principalKey, principal) });

  test("are what the interceptor found", () => {
    expect(readPrincipal(context(operator))).toBe(operator);
    expect(readCaller(context(caller))).toBe(caller);
  });

  test.each([
    ["nobody", () => readPrincipal(context())],
    ["nobody who pays", () => readCaller(context())],
    ["the operator, who does not pay", () => readCaller(context(operator))],
    ["a caller of another account", () => visibleAccount(context(caller), "another")],
    ["a person without an account, who would see all", () => visibleAccount(context(stranger), "")],
  ])("that are %s are PERMISSION_DENIED", (_what, ask) => {
    expect(ask).toThrow(expect.objectContaining({ code: Code.PermissionDenied }));
  });
});
