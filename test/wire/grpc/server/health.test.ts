import { Code, type ConnectError, createClient } from "@connectrpc/connect";
import { afterEach, describe, expect, test } from "@jest/globals";
import { Health, HealthCheckResponse_ServingStatus as Status } from "#gen/grpc/health/v1/health_pb.js";
import { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { createHealth } from "#src/wire/grpc/server/health.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { type Route, routes } from "../transports.ts";

const opened: Route[] = [];
afterEach(async () => {
  for (const route of opened.splice(0)) {
    await route.close();
  }
});

describe.each(routes)("health over %s", (_name, open) => {
  async function start() {
    const services = [registration(CatalogueService, {})];
    const health = createHealth(services);
    const route = await open([...services, health.registration], []);
    opened.push(route);
    return { health, client: createClient(Health, route.transport) };
  }

  test.each(["", "tollgate.catalogue.v1.CatalogueService", "grpc.health.v1.Health"])(
    "of %p is told",
    async (service) => {
      const { health, client } = await start();
      expect((await client.check({ service })).status).toBe(Status.SERVING);
      health.setServing(false);
      expect((await client.check({ service })).status).toBe(Status.NOT_SERVING);
      health.setServing(true);
      expect((await client.check({ service })).status).toBe(Status.SERVING);
    },
  );

  test("of all services is told at once", async () => {
    const { health, client } = await start();
    health.setServing(false);
    const { statuses } = await client.list({});
    const names = ["", "grpc.health.v1.Health", "tollgate.catalogue.v1.CatalogueService"];
    expect(Object.entries(statuses).map(([name, { status }]) => [name, status])).toEqual(
      expect.arrayContaining(names.map((name) => [name, Status.NOT_SERVING])),
    );
  });

  test("of an unknown service is an error", async () => {
    const { client } = await start();
    const error = await client.check({ service: "unknown.v1.Service" }).catch((reason: unknown) => reason);
    expect((error as ConnectError).code).toBe(Code.NotFound);
  });

  test("is told again at each change, until the server drains", async () => {
    const { health, client } = await start();
    const told: Status[] = [];
    for await (const { status } of client.watch({ service: "" })) {
      told.push(status);
      if (told.length === 1) {
        health.setServing(false);
      }
      if (told.length === 2) {
        health.setServing(true);
      }
      if (told.length === 3) {
        health.drain();
      }
    }
    expect(told).toEqual([Status.SERVING, Status.NOT_SERVING, Status.SERVING, Status.NOT_SERVING]);
    health.setServing(true);
    expect((await client.check({})).status).toBe(Status.NOT_SERVING);
  });

  test("of an unknown service can be watched, in case it comes", async () => {
    const { health, client } = await start();
    const told: Status[] = [];
    for await (const { status } of client.watch({ service: "unknown.v1.Service" })) {
      told.push(status);
      health.drain();
    }
    expect(told).toEqual([Status.SERVICE_UNKNOWN]);
  });
});
