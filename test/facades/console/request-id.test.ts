import { expect, test } from "@jest/globals";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { systemClock } from "#lib/time/clock.ts";
import { createDirectTransport } from "#src/wire/grpc/direct/direct-transport.ts";
import { startConnectServer } from "#src/wire/grpc/server/http/connect-server.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { observeCalls } from "#src/wire/interceptors/observation/observe.ts";
import { forwardServices } from "../../../facades/console/calls/forward.ts";
import { pathOf } from "./console-service.ts";

test("a page's call has one id: in its answer, and where the core logs it", async () => {
  const ids: string[] = [];
  const accounts = {
    getAccount() {
      throw failure(Reason.ACCOUNT_NOT_FOUND, "No such account.");
    },
  };
  const core = createDirectTransport(
    [registration(AccountsService, accounts)],
    [observeCalls(systemClock, [({ requestId }) => void ids.push(requestId)])],
  );
  const services = forwardServices(core);
  const console = await startConnectServer({ address: "127.0.0.1:0", services, interceptors: [] });
  try {
    const response = await fetch(`http://${console.address}${pathOf(AccountsService.method.getAccount)}`, {
      method: "POST",
      headers: { "content-type": "application/json", "connect-protocol-version": "1" },
      body: "{}",
    });
    expect(response.status).toBe(404);
    expect(ids).toEqual([expect.stringMatching(/^req_[0-9a-f]{32}$/)]);
    expect(response.headers.get("x-request-id")).toBe(ids[0]);
  } finally {
    await console.stop(0);
  }
});
