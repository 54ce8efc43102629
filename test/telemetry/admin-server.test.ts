import { expect, test } from "@jest/globals";
import { Counter, Registry } from "prom-client";
import type { Shortage } from "#lib/overload/monitor.ts";
import { startAdminServer } from "#src/telemetry/admin-server.ts";

test("serves metrics and health, and says which address is taken", async () => {
  const registry = new Registry();
  new Counter({ name: "tollgate_test_total", help: "Counts.", registers: [registry] }).inc();
  const overload: { shortage: Shortage | undefined } = { shortage: undefined };
  const readiness = { ready: false, overload };
  const server = await startAdminServer("127.0.0.1:0", registry, readiness);
  try {
    const get = async (path: string) => {
      const response = await fetch(`http://${server.address}${path}`);
      return [response.status, await response.text()];
    };
    expect(await get("/livez")).toEqual([200, "ok\n"]);
    expect(await get("/readyz")).toEqual([503, "not ready\n"]);
    readiness.ready = true;
    expect(await get("/readyz")).toEqual([200, "ready\n"]);
    overload.shortage = "memory";
    expect(await get("/readyz")).toEqual([200, "ready, overloaded: memory\n"]);
    Object.assign(readiness, { findFault: () => "no file" });
    expect(await get("/readyz")).toEqual([503, "not ready: no file, overloaded: memory\n"]);
    expect((await get("/metrics"))[1]).toContain("tollgate_test_total 1");
    expect((await get("/other"))[0]).toBe(404);
    await expect(startAdminServer(server.address, registry, readiness)).rejects.toThrow(
      `Cannot listen on ${server.address}`,
    );
  } finally {
    await server.close();
  }
});
