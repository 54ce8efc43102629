import { connect } from "node:net";
import { connect as h2 } from "node:http2";
import { startTarget } from "./test/attack/target.ts";
const service = await startTarget();
const { addresses } = service.target;
const seconds = 4;
async function turn(name: string, attack: (until: number) => Promise<number>) {
  const before = await service.measure();
  const until = performance.now() + seconds * 1000;
  const a = attack(until);
  const times: number[] = []; let bad = 0; const seen: Record<string, number> = {}; const asked: Promise<void>[] = [];
  while (performance.now() < until) {
    const t = performance.now();
    asked.push(service.honest().then((s) => { times.push(performance.now() - t); if (s !== 200) bad++; seen[s] = (seen[s] ?? 0) + 1; }));
    await new Promise((d) => setTimeout(d, 50));
  }
  const n = await a; await Promise.all(asked);
  const after = await service.measure();
  times.sort((x, y) => x - y);
  console.log(name.padEnd(28), "answers", n, "cpu", Math.round(100 * (after.cpuSeconds - before.cpuSeconds) / seconds) + "%", "MiB", Math.round((after.residentBytes - before.residentBytes) / 2 ** 20), "p50", Math.round(times[times.length >> 1]!), "p99", Math.round(times.at(-1)!), "bad", bad, "of", times.length, JSON.stringify(seen));
}
const flood = (to: string, path: string, host = "t", extra = "") => async (until: number) => {
  let bytes = 0, answers = 0;
  const [h, port] = to.split(":");
  const unit = `GET ${path} HTTP/1.1\r\nhost: ${host}\r\n${extra}\r\n`;
  const sockets = Array.from({ length: 64 }, () => {
    const s = connect({ host: h, port: Number(port), localAddress: "127.9.40.1" });
    s.on("error", () => {});
    let left = 64; 
    s.on("data", (b) => { bytes += b.length; const k = b.toString("latin1").split("HTTP/1.1 ").length - 1; answers += k; left -= k; if (left <= 16 && performance.now() < until) { s.write(unit.repeat(64 - Math.max(0, left))); left = 64; } });
    s.write(unit.repeat(64));
    return s;
  });
  await new Promise((d) => setTimeout(d, until - performance.now()));
  for (const s of sockets) s.destroy();
  return answers;
};
const grpc = (path: string, message: Buffer) => async (until: number) => {
  let answers = 0; const [h, port] = addresses.grpc.split(":");
  await Promise.all(Array.from({ length: 8 }, async () => {
    const s = h2(`http://${addresses.grpc}`, { createConnection: () => connect({ host: h!, port: Number(port), localAddress: "127.9.41.1" }) });
    s.on("error", () => {});
    const one = () => new Promise<void>((d) => { if (s.destroyed) return d(); const c = s.request({ ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" }); c.on("error", () => {}).once("close", () => { answers++; d(); }); c.resume().end(message); });
    await Promise.all(Array.from({ length: 50 }, async () => { while (performance.now() < until && !s.destroyed) await one(); }));
    s.destroy();
  }));
  return answers;
};
for (let i = 0; i < 50; i++) await service.honest();
const which = process.argv.slice(2);
const all: [string, (u: number) => Promise<number>][] = [
  ["quiet", async (u) => { await new Promise((d) => setTimeout(d, u - performance.now())); return 0; }],
  ["public /", flood(addresses.http, "/")],
  ["public / html", flood(addresses.http, "/", "t", "accept: text/html\r\n")],
  ["public /favicon.ico", flood(addresses.http, "/favicon.ico")],
  ["public /openapi.json", flood(addresses.http, "/openapi.json")],
  ["public /robots.txt", flood(addresses.http, "/robots.txt")],
  ["public /livez", flood(addresses.http, "/livez")],
  ["public /status", flood(addresses.http, "/status", "t", "accept: text/html\r\n")],
  ["public /v1/models", flood(addresses.http, "/v1/models")],
  ["console /sign-in", flood(addresses.console, "/sign-in")],
  ["console /sign-in/options", flood(addresses.console, "/sign-in/options", "t", "sec-fetch-site: same-origin\r\n")],
  ["console /", flood(addresses.console, "/", "t", "accept: text/html\r\n")],
  ["console /overview (303)", flood(addresses.console, "/overview")],
  ["payments GET", flood(addresses.webhooks, "/webhooks/stripe")],
  ["grpc health", grpc("/grpc.health.v1.Health/Check", Buffer.alloc(5))],
  ["grpc reflection", grpc("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", Buffer.from([0, 0, 0, 0, 3, 0x3a, 1, 0x2a]))],
];
for (const [n, f] of all) if (which.length === 0 || which.some((w) => n.includes(w))) await turn(n, f);
await service[Symbol.asyncDispose]();
