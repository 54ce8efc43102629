import type { Interceptor } from "@connectrpc/connect";
import { describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { ScriptedService, texts } from "../scripted-service.ts";
import { routes } from "../transports.ts";
import { clientOf, drain, errorOf, rateLimited } from "./calls.ts";

// What every way to a service promises, whatever carries the call.

describe.each(routes)("%s: interceptors", (_name, open) => {
  test("run around the call, the first one outermost, and may change it", async () => {
    const order: string[] = [];
    const named =
      (name: string): Interceptor =>
      (next) =>
      async (request) => {
        order.push(`${name} in`);
        const header = new Headers(request.header);
        header.append("x-through", name);
        const response = await next({ ...request, header });
        order.push(`${name} out`);
        return { ...response };
      };
    const seen: (string | null)[] = [];
    const service = new ScriptedService({
      countTokens(context) {
        seen.push(context.requestHeader.get("x-through"));
        return 1;
      },
      generate(context) {
        seen.push(context.requestHeader.get("x-through"));
        return texts(["a"]);
      },
    });
    const client = await clientOf(open, service, [named("outer"), named("inner")]);
    await client.countTokens({});
    await drain(client.generate({}));
    const once = ["outer in", "inner in", "inner out", "outer out"];
    expect(order).toEqual([...once, ...once]);
    expect(seen).toEqual(["outer, inner", "outer, inner"]);
  });

  test("can refuse the call", async () => {
    const refuse: Interceptor = () => async () => {
      throw rateLimited();
    };
    const service = new ScriptedService({});
    const client = await clientOf(open, service, [refuse]);
    expect(readDetail(await errorOf(client.countTokens({})))?.reason).toBe(Reason.RATE_LIMITED);
    expect(readDetail(await errorOf(drain(client.generate({}))))?.reason).toBe(Reason.RATE_LIMITED);
    expect(service.started).toBe(0);
  });
});
