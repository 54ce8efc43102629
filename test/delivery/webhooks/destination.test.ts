import { expect, test } from "@jest/globals";
import { parseDestination } from "#src/delivery/webhooks/destination.ts";
import { createSend } from "#src/delivery/webhooks/send.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { Receiver } from "./receiver.ts";

test.each([
  ["https://example.com/events", true],
  ["http://127.0.0.1:9000/", false],
  ["http://localhost:9000/", false],
  ["http://[::1]:9000/", false],
  ["http://example.com/", false],
  ["ftp://example.com/", false],
  ["https://user:secret@example.com/", false],
  ["https://10.0.0.1/", false],
  ["https://169.254.169.254/latest", false],
  ["https://192.168.1.1/", false],
  ["https://[fd00::1]/", false],
  ["https://[::ffff:10.0.0.1]/", false],
  ["https://0x7f.1/", false], // another spelling of 127.0.0.1
  ["http://10.0.0.1/", false],
  ["https://[64:ff9b::a00:1]/", false],
  ["https://[2002:a00:1::]/", false],
  ["https://0.0.0.0/", false],
  ["https://100.64.0.1/", false],
  ["https://8.8.8.8/", true],
  ["https://[2606:4700::1]/", true],
  ["nowhere", false],
  [`https://example.com/${"x".repeat(3000)}`, false],
])("%s is judged by its form and its address", (url, isTaken) => {
  expect(typeof parseDestination(url, []) === "object").toBe(isTaken);
});

test("an address of this machine is taken when its network is allowed, by http too", () => {
  expect(typeof parseDestination("http://127.0.0.1:9000/", ["127.0.0.0/8"])).toBe("object");
  expect(typeof parseDestination("http://localhost:9000/", ["127.0.0.1/32"])).toBe("object");
  expect(typeof parseDestination("http://[::1]:9000/", ["127.0.0.0/8"])).toBe("string");
});

test("a private address is taken when its network is allowed, and by https alone", () => {
  expect(typeof parseDestination("https://10.1.2.3/", ["10.0.0.0/8"])).toBe("object");
  expect(typeof parseDestination("http://10.1.2.3/", ["10.0.0.0/8"])).toBe("string");
});

test.each([["10.0.0.1"], ["127.0.0.1"], ["::1"], ["::ffff:127.0.0.1"], ["169.254.169.254"]])(
  "a public name that stands for %s is not connected to",
  async (address) => {
    const send = createSend({ allow: [], lookup: async () => [address], clock: new ManualClock() });
    expect(await send("https://rebound.example/", {}, "{}")).toEqual({
      ok: false,
      error: expect.stringMatching(/no address/),
    });
  },
);

test("the address that was judged is the one that is connected to", async () => {
  await using receiver = await Receiver.start();
  const answers = [["127.0.0.1"], ["10.0.0.1"]];
  let asked = 0;
  const send = createSend({
    allow: ["127.0.0.0/8"],
    lookup: async () => answers[asked++] ?? [],
    clock: new ManualClock(),
  });
  const url = receiver.url.replace("127.0.0.1", "localhost");
  expect(await send(url, {}, "{}")).toEqual({ ok: true, status: 204, error: "" });
  expect(asked).toBe(1);
  expect((await send(url, {}, "{}")).ok).toBe(false); // looked up anew, and judged anew
});
