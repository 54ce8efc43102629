import { expect, test } from "@jest/globals";
import { Counter, Gauge, Registry } from "prom-client";
import { Door } from "#lib/door/door.ts";
import type { Shortage } from "#lib/overload/monitor.ts";
import { startAdminServer } from "#src/telemetry/admin-server.ts";
import { ManualClock } from "../support/clocks/manual-clock.ts";

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

test("metrics are read ten times a second at most, however many ask", async () => {
  const registry = new Registry();
  let reads = 0;
  new Gauge({
    name: "tollgate_test_reads",
    help: "Counts how often it is read.",
    registers: [registry],
    collect() {
      reads += 1;
      this.set(reads);
    },
  });
  const clock = new ManualClock();
  const door = new Door({ listener: "admin", clock });
  const server = await startAdminServer("127.0.0.1:0", registry, { ready: true }, undefined, door);
  try {
    const get = async () => (await fetch(`http://${server.address}/metrics`)).text();
    const answers = await Promise.all(Array.from({ length: 8 }, get));
    expect(new Set(answers)).toEqual(new Set([expect.stringContaining("tollgate_test_reads 1")]));
    clock.advance(99);
    expect(await get()).toContain("tollgate_test_reads 1");
    clock.advance(1);
    expect(await get()).toContain("tollgate_test_reads 2");
  } finally {
    await server.close();
  }
});
