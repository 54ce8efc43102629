import { ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import { afterEach, expect } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { toDuration } from "#lib/time/duration.ts";
import { registration, type ServiceRegistration } from "#src/wire/grpc/server/registration.ts";
import type { ScriptedService } from "../scripted-service.ts";
import type { OpenRoute, Route } from "../transports.ts";

const opened: Route[] = [];

// For every file that calls transportTo: a route ends with its test.
afterEach(async () => {
  for (const route of opened.splice(0)) {
    await route.close();
  }
});

/** A way of its own to these services, until the test ends. */
export async function transportTo(open: OpenRoute, services: ServiceRegistration[], interceptors: Interceptor[] = []) {
  const route = await open(services, interceptors);
  opened.push(route);
  return route.transport;
}

/** A client of a service behind such a way. */
export async function clientOf(open: OpenRoute, service: ScriptedService, interceptors: Interceptor[] = []) {
  return createClient(
    InferenceService,
    await transportTo(open, [registration(InferenceService, service)], interceptors),
  );
}

/** The error of a call that has to fail. */
export async function errorOf(call: Promise<unknown>): Promise<ConnectError> {
  const error = await call.then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(ConnectError);
  return error as ConnectError;
}

/** Reads a stream to its end. `received` has what came before an error, too. */
export async function drain(messages: AsyncIterable<unknown>, received: unknown[] = []): Promise<unknown[]> {
  for await (const message of messages) {
    received.push(message);
  }
  return received;
}

/** A refusal with everything that a detail may have. */
export const rateLimited = () =>
  failure(Reason.RATE_LIMITED, "Slow down: 60 requests a minute.", {
    parameter: "messages[0].text",
    bound: { case: "requestRate", value: { requestsPerMinute: 60 } },
    retryAfter: toDuration(1500),
  });
