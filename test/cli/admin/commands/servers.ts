import { expect, test } from "@jest/globals";
import { json, refusal, testModel } from "../administered.ts";

/** The commands of servers. */
export function testServers(): void {
  test("servers are listed, drained and resumed", async () => {
    const servers = await json("servers", "list");
    const server = servers.find((one: { model: string }) => one.model === testModel);
    expect(server).toMatchObject({
      url: expect.stringMatching(/^http:/),
      engine: "simulator",
      state: "healthy",
      breaker: "closed",
    });
    expect(server).toMatchObject({ in_flight: 0, capacity: 256 });
    expect(await json("servers", "drain", server.id)).toMatchObject({ id: server.id, state: "draining" });
    expect(await json("servers", "resume", server.id)).toMatchObject({ id: server.id, state: "healthy" });
    await refusal("servers", "drain", "nowhere");
  });
}
